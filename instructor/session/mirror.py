"""A copy of a pair's files that is brought up to date, instead of made anew, before each look.

Students' code runs in the copy and may change it. The system's own times of change, which no
program can set, tell what is still as it was laid down; the rest is laid down again.
"""

import errno
import functools
import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.compiled import compiled, compiled_name
from instructor.intake.landing import MAX_FILE_BYTES, MAX_FILES, Snapshot
from instructor.intake.walk import walk
from instructor.sandbox.quota import clear_away
from instructor.submission import course_files
from lab.workshop import Workshop

# No quick evidence reads them.
WITHOUT = frozenset({"notebooks"})
Mark = list[int]


@dataclass(frozen=True)
class Laid:
    """One file: how its source and its copy looked when it was laid down, and its digest."""

    source: Mark
    copy: Mark
    digest: str


class Mirror:
    """A pair's files as they were at the last look, with the course's own over them."""

    def __init__(self, root: Path, laid: Mapping[str, Any], compiled: Path) -> None:
        """Take up a mirror; ``laid`` is what ``to_json`` gave, or nothing.

        ``compiled`` is a folder of this process's for the course's own code.
        """
        self.root = root
        self._compiled = compiled
        self._laid = {name: Laid(**row) for name, row in laid.items()}

    def to_json(self) -> dict[str, Any]:
        """Give what is laid down as plain JSON values."""
        return {name: asdict(row) for name, row in self._laid.items()}

    def update(self, folder: Path, workshop: Workshop) -> None:
        """Bring the mirror up to date with a folder."""
        self._bring(sources(folder, course_sources(workshop, self._compiled)))

    def _bring(self, wanted: Mapping[str, Path]) -> None:
        try:
            self._lay(wanted)
        except OSError:
            # Something of a student's stands in the way.
            self._laid = {}
            self._make_room()
            self._lay(wanted)

    def _make_room(self) -> None:
        """Begin anew beside what stands there, then delete that, however long it takes."""
        aside = Path(tempfile.mkdtemp(dir=self.root.parent))
        try:
            if not self.root.is_symlink():
                # A folder that nobody may write to cannot be moved to another one.
                self.root.chmod(0o700)
            self.root.rename(aside / "old")
        except FileNotFoundError:
            pass
        finally:
            clear_away(aside)

    @property
    def digest(self) -> str:
        """Digest all files, by their names and contents."""
        return _digest(f"{name}\0{row.digest}" for name, row in sorted(self._laid.items()))

    def digest_of(self, name: str) -> str:
        """Digest one file, or the names in a folder (which ends in a slash); "" for no file."""
        if not name.endswith("/"):
            return self._laid[name].digest if name in self._laid else ""
        below = name.removeprefix("./")
        parts = {n.removeprefix(below).split("/")[0] for n in self._laid if n.startswith(below)}
        return _digest(sorted(parts))

    def _lay(self, wanted: Mapping[str, Path]) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        folders = {parent.as_posix() for name in wanted for parent in Path(name).parents}
        _clear(self.root, "", wanted, folders)
        laid = {}
        for name, path in wanted.items():
            row = self._laid.get(name)
            try:
                source = _mark(path.lstat())
                if not row or row.source != source or _mark_of(self.root / name) != row.copy:
                    row = self._copy(path, source, self.root / name)
            except OSError:
                if not path.exists():
                    continue  # it went away while we looked
                raise
            if row:
                laid[name] = row
        self._laid = laid

    @staticmethod
    def _copy(path: Path, source: Mark, copy: Path) -> Laid | None:
        data = _read(path)
        copy.unlink(missing_ok=True)
        if data is None:
            return None
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        os.utime(copy, ns=(source[0], source[0]))
        return Laid(source, _mark(copy.lstat()), hashlib.sha256(data).hexdigest())


def sources(folder: Path, course: Mapping[str, Path]) -> dict[str, Path]:
    """List where each file comes from: the pair's folder, within limits, or the course."""
    taken = {name for name in course if name.endswith(".py")}
    above = {parent.as_posix() for name in taken for parent in Path(name).parents}
    found: dict[str, Path] = {}
    counted = Snapshot(folder)
    for name, path, size, problem in walk(folder, opens=_opens):
        if counted.files > MAX_FILES:
            break
        if problem or not counted.has_room(name, size):
            continue
        counted.count(size)
        parents = {parent.as_posix() for parent in Path(name).parents}
        # A folder lab/x/ would be imported in the place of lab/x.py.
        hidden = parents & (taken | {file.removesuffix(".py") for file in taken})
        if name not in above and not hidden:
            found[name] = path
    return found | dict(course)


def _opens(name: str) -> bool:
    return name not in WITHOUT and ("/" in name or not name.startswith("."))


def course_sources(workshop: Workshop, place: Path) -> dict[str, Path]:
    """List the course's own code, and what Python makes of it: no run has to do that again."""
    return _compiled(tuple(course_files(workshop)), place)


@functools.cache
def _compiled(files: tuple[str, ...], place: Path) -> dict[str, Path]:
    found = {file: COURSE / file for file in files}
    for file in files:
        if file.endswith(".py"):
            found[compiled_name(file)] = target = place / compiled_name(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(compiled(file))
    return found


def _clear(folder: Path, above: str, wanted: Mapping[str, Path], folders: set[str]) -> None:
    """Take away all but wanted files and their folders; no link stays, and none is followed."""
    for entry in list(os.scandir(folder)):
        name = f"{above}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and name in folders:
            _clear(Path(entry.path), f"{name}/", wanted, folders)
        elif is_folder:
            clear_away(Path(entry.path))
            if os.path.lexists(entry.path):
                raise OSError(errno.ENOTEMPTY, "It cannot be taken away", entry.path)
        elif entry.is_symlink() or name not in wanted:
            Path(entry.path).unlink()


def _read(path: Path) -> bytes | None:
    """Read an ordinary file; None for anything else, and for one that has become too large."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return None
        data = file.read(MAX_FILE_BYTES + 1)
    return data if len(data) <= MAX_FILE_BYTES else None


def _mark(info: os.stat_result) -> Mark:
    return [info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino]


def _mark_of(path: Path) -> Mark | None:
    try:
        return _mark(path.lstat())
    except OSError:
        return None


def _digest(parts: Any) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
