"""Find what students handed in, and take a snapshot of it that is safe to work on."""

import functools
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from instructor import CourseError
from instructor.compiled import compiled, compiled_name, source
from instructor.conflicts import conflict_line
from instructor.intake.landing import ROOMS, Remark, Snapshot
from instructor.intake.walk import TEXTS, Found, walk
from instructor.release import COMMON
from lab.workshop import Workshop

# pytest and Python read these before any test; grading reads none of them.
NOT_READ = frozenset(
    {"conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "sitecustomize.py", "usercustomize.py"}
)


def find_submissions(folder: Path, workshops: list[Workshop]) -> dict[str, Path]:
    """Map names to folders and zips: one for each in a class, or the one that is given itself.

    A zip has the name of its stem, or its whole name where the stem is another's.
    """
    if folder.is_file() and is_zip(folder):
        return {_readable(folder.stem): folder}
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder. Give the folder that holds the submissions.")
    if any(holds(folder, workshop) for workshop in workshops):
        return {_readable(folder.resolve().name): folder}
    paths = [path for path in sorted(folder.iterdir()) if _is_submission(path)]
    if not paths:
        raise CourseError(
            f"{folder} holds no submission. Expected: one folder or zip for each pair, "
            f"or one folder with {', '.join(ROOMS)} in it."
        )
    stems = Counter(name for path in paths for name in {path.name, _stem(path)})
    return {_readable(_stem(p) if stems[_stem(p)] == 1 else p.name): p for p in paths}


def is_zip(path: Path) -> bool:
    """Tell whether a file calls itself a zip."""
    return path.suffix.lower() == ".zip"


def _stem(path: Path) -> str:
    return path.stem if is_zip(path) and path.is_file() else path.name


def _is_submission(path: Path) -> bool:
    if path.name.startswith(".") or path.is_symlink():
        return False
    return path.is_dir() or (is_zip(path) and path.is_file())


def _readable(name: str) -> str:
    """Write a folder's name as text, also where it is no UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def holds(folder: Path, workshop: Workshop) -> bool:
    """Tell whether a folder has anything of a workshop; one that cannot be read has nothing."""
    own = (f"notebooks/{workshop.id}", f"fixtures/{workshop.id}", workshop.gate.file)
    try:
        return any((folder / path).exists() for path in own)
    except OSError:
        return False


def skipped(folder: Path) -> list[str]:
    """Name what lies in a class's folder and is neither folder nor zip: a link, a stray file."""
    entries = (path for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    return [path.name for path in entries if not _is_submission(path)]


def take_snapshot(source: Path, target: Path, workshops: list[Workshop]) -> Snapshot:
    """Copy a submission's ordinary files, lay the course's own files over it, remark the rest."""
    snapshot = Snapshot(target)
    target.mkdir(parents=True)
    _copy(walk(source), snapshot)
    snapshot.remarks += _remarks(snapshot.path)
    for workshop in workshops:
        _restore(workshop, snapshot)
    return snapshot


def copy_git_data(source: Path, target: Path) -> bool:
    """Copy the data of a submission's repository, and nothing that configures git; False for none.

    Only ordinary files of ``HEAD``, refs and objects, within the limits of a snapshot.
    """
    git = source / ".git"
    if git.is_symlink() or not (git / "HEAD").is_file():
        return False
    copied = Snapshot(target)
    for name in ("objects", "refs"):
        (target / name).mkdir(parents=True)
    for name in ("HEAD", "packed-refs"):
        if (git / name).is_file() and not (git / name).is_symlink():
            _copy([Found(name, git / name, (git / name).stat().st_size)], copied)
    for name in ("refs", "objects"):
        if (git / name).is_dir() and not (git / name).is_symlink():
            _copy(walk(git / name, f"{name}/"), copied)
    # Where else objects may be found is a path on the machine of whoever wrote it.
    (target / "objects" / "info" / "alternates").unlink(missing_ok=True)
    return True


def course_files(workshop: Workshop) -> Iterator[str]:
    """List the code that a workspace gets and a student has no reason to change."""
    yield from (file for file in COMMON if file.startswith("lab/"))
    yield from (file for file in workshop.given if file.startswith(("lab/", "tests/")))


def _copy(found: Iterable[Found], snapshot: Snapshot) -> None:
    for name, path, size, problem in found:
        if problem:
            snapshot.leave_out(name, problem)
        elif snapshot.has_room(name, size):
            copy = snapshot.path / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(path, copy, follow_symlinks=False)
            except OSError as error:
                snapshot.leave_out(name, f"cannot be read ({error.strerror})")
                continue
            snapshot.count(size)


def _remarks(root: Path) -> Iterator[Remark]:
    """Yield what will surprise the pair: hidden modules, settings that are not read, odd text."""
    for path in sorted(root.iterdir()):
        package = (path / "__init__.py").is_file()
        name = path.stem if path.suffix == ".py" else path.name if package else ""
        if name in _importable() - {*ROOMS, "instructor"}:
            yield Remark(
                "hides-a-module",
                f"{path.name} takes the place of Python's own or an installed module {name!r}.",
                f"Rename {path.name}: every import of {name} on your machine finds it first.",
            )
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.name in NOT_READ:
            yield Remark(
                "not-read",
                f"{name!r} was not read: grading takes no settings from a submission.",
                "Nothing, if your tests pass without it.",
            )
        if path.suffix in TEXTS and path.is_file():
            yield from _odd_text(path, name)


@functools.cache
def _importable() -> frozenset[str]:
    """List the modules that a file in a submission's root could take the place of."""
    return frozenset(sys.stdlib_module_names) | frozenset(packages_distributions())


def _odd_text(path: Path, name: str) -> Iterator[Remark]:
    data = path.read_bytes()
    if line := conflict_line(data.decode(errors="replace")):
        yield Remark(
            "merge-conflict",
            f"{name!r} holds a merge conflict that nobody has settled, at line {line}.",
            "Keep what is right of the two versions, and delete the lines with <<<, === and >>>.",
        )
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Remark(
            "not-utf-8",
            f"{name!r} is not UTF-8 text at byte {error.start}.",
            "Save it again as UTF-8; JupyterLab's editor always does.",
        )


def _restore(workshop: Workshop, snapshot: Snapshot) -> None:
    """Lay our copy of the course's own code over what was handed in, and say where it differed."""
    for file in course_files(workshop):
        ours = source(file)
        copy = snapshot.path / file
        if copy.is_file() and copy.read_bytes().replace(b"\r\n", b"\n") != ours:
            snapshot.remarks.append(
                Remark(
                    "course-file-changed",
                    f"{file} differs from the course's own; ours was used.",
                    "Put your work into the files that the notebooks name.",
                )
            )
        _make_room(copy, snapshot.path)
        copy.write_bytes(ours)
        if copy.suffix == ".py":
            target = snapshot.path / compiled_name(file)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(compiled(file))


def _make_room(file: Path, root: Path) -> None:
    """Take away what stands in a file's way: a folder of its name, a file for a folder."""
    # A folder lab/x/ would be imported in the place of lab/x.py.
    for folder in (file, file.with_suffix("")):
        if folder.is_dir() and folder != file.parent:
            shutil.rmtree(folder)
    if file.is_file():
        return
    for parent in reversed(file.parents):
        if parent.is_relative_to(root) and parent.is_file():
            parent.unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
