"""A folder of ordinary files, filled within limits. What does not fit is left out, and said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

MAX_FILES = 2_000
MAX_DEPTH = 20
MAX_FILE_BYTES = 5_000_000
MAX_TOTAL_BYTES = 50_000_000
MAX_REMARKS = 50
LONGEST_NAME = 250
ROOMS = ("lab", "notebooks", "fixtures", "tests")
# Made by tools, never handed in on purpose.
IGNORED_FOLDERS = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".ipynb_checkpoints", ".pytest_cache",
     "__MACOSX", ".lab"}
)  # fmt: skip


@dataclass(frozen=True)
class Remark:
    """Something about a submission as a whole: what was found, what to do."""

    id: str
    found: str
    next: str


@dataclass
class Snapshot:
    """A submission's own copy, and what was odd about it."""

    path: Path
    remarks: list[Remark] = field(default_factory=list)
    files: int = 0
    total_bytes: int = 0

    def leave_out(self, name: str, reason: str) -> None:
        """Remark that a file or folder is not in the copy; beyond some fifty, nobody reads on."""
        if len(self.remarks) < MAX_REMARKS:
            shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
            advice = "Hand in ordinary files; put the content itself where it belongs."
            self.remarks.append(Remark("left-out", f"{shown!r} {reason}; it was left out.", advice))

    def has_room(self, name: str, size: int) -> bool:
        """Tell whether one more file of ``size`` bytes fits; remark it where it does not."""
        if size > MAX_FILE_BYTES or self.total_bytes + size > MAX_TOTAL_BYTES:
            self.leave_out(name, f"is too large ({size:,} bytes)")
        elif self.files >= MAX_FILES:
            if self.files == MAX_FILES:
                self.leave_out(name, f"and what follows is beyond {MAX_FILES:,} files")
            self.files += 1
        else:
            return True
        return False

    def count(self, size: int) -> None:
        """Count one more file."""
        self.files += 1
        self.total_bytes += size

    def write(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Write one file, counting what really comes, whatever size it claims to have.

        ``name`` is a path that ``path_problem`` has nothing against.
        """
        if not self.has_room(name, size):
            return
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Never over another file, also where a disk takes two names for one.
            file = path.open("xb")
        except FileExistsError:
            self.leave_out(name, "stands twice")
            return
        fits = False
        try:
            with file:
                fits = self._fill(file, chunks)
        finally:
            if not fits:
                path.unlink()
        if fits:
            self.files += 1
        else:
            self.leave_out(name, "is too large: it grows when it is unpacked")

    def _fill(self, file: BinaryIO, chunks: Iterable[bytes]) -> bool:
        room = min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - self.total_bytes)
        for chunk in chunks:
            room -= len(chunk)
            self.total_bytes += len(chunk)
            if room < 0:
                return False
            file.write(chunk)
        return True


def path_problem(parts: Sequence[str]) -> str:
    """Say why a path from outside is no place inside a folder of ours; "" where it is one."""
    if ".." in parts:
        return "leads out of its folder"
    if len(parts) > MAX_DEPTH:
        return f"lies {MAX_DEPTH} folders deep"
    # A repository must not be changed by its own files, nor lead to another one of this machine.
    if parts[-1] in {".git", "commondir", "alternates", "http-alternates"} and ".git" in parts:
        return "points to a repository elsewhere"
    return ""


def turn(parts: Sequence[str]) -> int:
    """Put what is graded first, so that nothing else can crowd it out; a repository comes last."""
    if ".git" in parts:
        return 2
    return 0 if any(part in ROOMS for part in parts[:3]) else 1
