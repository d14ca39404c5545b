"""Where the copies of submissions lie while they are judged: in memory where there is room.

Each job gets a copy of its own, so a class makes and deletes files by the ten thousand. A disk's
file system can take a third of all grading's time over that (ext4 looks for a number that was not
used a moment ago, at every new file); memory takes next to none.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from instructor.sandbox.quota import clear_away

# POSIX shared memory: a tmpfs on Linux, absent elsewhere.
MEMORY = Path("/dev/shm")  # noqa: S108  below it lies a folder that nobody else can open
# A snapshot, a copy, and what a job can write before ``quota`` ends it; then as much to spare.
ROOM_A_WORKER = 2 << 30
_NAME = "failing-closed-"
# Where Linux says what a container or a session may use (cgroups(7)); its own numbers are those
# of the whole machine.
CGROUPS, OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


@contextlib.contextmanager
def folder_for_copies(disk: Path, workers: int) -> Iterator[Path]:
    """Give a folder for what so many workers copy: a new one in memory, or ``disk``.

    The new one goes away again; if this process is killed, then with the next call of anybody.
    """
    clear_left()
    folder = _locked_folder() if room() >= workers * ROOM_A_WORKER else None
    if folder is None:
        yield disk
        return
    path, lock = folder
    try:
        yield path
    finally:
        clear_away(path)
        os.close(lock)


def room() -> int:
    """Give the bytes that copies can take in memory; 0 where they cannot lie there."""
    if not MEMORY.is_dir():
        return 0
    there = (shutil.disk_usage(MEMORY).free, int(psutil.virtual_memory().available))
    return min(*there, *_limits())


def _limits() -> Iterator[int]:
    """Yield the limit on memory of each group that this process is in, by cgroup v2 and v1."""
    try:
        lines = OWN_CGROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for _, kinds, place in (line.split(":", 2) for line in lines):
        root, name = CGROUPS, "memory.max"
        if kinds:
            root, name = CGROUPS / "memory", "memory.limit_in_bytes"
        if kinds in ("", "memory"):
            own = root / place.lstrip("/")
            for folder in (own, *own.parents):
                # No such file, or the word "max", is no limit.
                with contextlib.suppress(OSError, ValueError):
                    yield int((folder / name).read_text(encoding="ascii"))


def clear_left() -> None:
    """Delete the folders that processes of this user left in memory when they were killed."""
    for folder in MEMORY.glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid == os.getuid():
                lock = _lock(folder)
                clear_away(folder)
                os.close(lock)


def _locked_folder() -> tuple[Path, int] | None:
    """Make a folder that shows, as long as this process lives, that it is in use."""
    try:
        new = Path(tempfile.mkdtemp(prefix=f".{_NAME}", dir=MEMORY.resolve()))
        lock = _lock(new)
        # Only now does it have a name that others look for.
        return new.rename(new.with_name(new.name.removeprefix("."))), lock
    except OSError:
        return None


def _lock(folder: Path) -> int:
    """Lock a folder (flock(2)) and give the lock's descriptor; ``OSError`` where it is in use."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
