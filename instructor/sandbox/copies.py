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
# A snapshot, a copy, what a job can write before ``quota`` ends it, and the files that its tests
# give to gates; then as much to spare.
ROOM_A_WORKER = 2 << 30
# Before a folder's own name comes for how many workers it is.
_NAME = "failing-closed-for-"
# Where Linux says what a container or a session may use (cgroups(7)); its own numbers are those
# of the whole machine.
CGROUPS, OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# With less than this, what was just judged may have failed for want of room.
LITTLE_BYTES, LITTLE_FILES = 32 << 20, 1_000


@contextlib.contextmanager
def folder_for_copies(disk: Path, workers: int) -> Iterator[Path]:
    """Give a folder for what so many workers copy: a new one in memory, or ``disk``.

    The new one goes away again; if this process is killed, then with the same user's next call.
    """
    folder = _locked_folder(workers) if room() >= workers * ROOM_A_WORKER else None
    if folder is None:
        yield disk
        return
    path, lock = folder
    try:
        yield path
    finally:
        clear_away(path)
        os.close(lock)


def trouble_with(folder: Path) -> str:
    """Say what may have kept work in a folder from being judged as it is; "" for nothing."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return "the folder of its copies went away meanwhile"
    few_files = about.f_files and about.f_favail < LITTLE_FILES
    if about.f_bavail * about.f_frsize < LITTLE_BYTES or few_files:
        return "there is no room left for its copies"
    return ""


def room() -> int:
    """Give the bytes that copies can take in memory beside those of others; 0 where they cannot."""
    if not MEMORY.is_dir():
        return 0
    there = (shutil.disk_usage(MEMORY).free, int(psutil.virtual_memory().available))
    return max(0, min(*there, *_limits()) - _taken_by_others() * ROOM_A_WORKER)


def _taken_by_others() -> int:
    """Count the workers whose copies lie in memory; delete what killed graders left there."""
    workers = 0
    for folder in MEMORY.glob(f"{_NAME}*"):
        try:
            if folder.lstat().st_uid == os.getuid():
                lock = _lock(folder)
                clear_away(folder)
                os.close(lock)
        except OSError:  # in use
            number = folder.name.removeprefix(_NAME).partition("-")[0]
            workers += int(number) if number.isdecimal() else 0
    return workers


def _limits() -> Iterator[int]:
    """Yield what is left to each group that this process is in, by cgroup v2 and v1."""
    try:
        lines = OWN_CGROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for _, kinds, place in (line.split(":", 2) for line in lines):
        root, names = CGROUPS, ("memory.max", "memory.current")
        if kinds:
            root, names = CGROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        if kinds in ("", "memory"):
            own = root / place.lstrip("/")
            for folder in (own, *own.parents):
                # No such file, or the word "max", is no limit.
                with contextlib.suppress(OSError, ValueError):
                    most, used = ((folder / name).read_text(encoding="ascii") for name in names)
                    yield int(most) - int(used)


def _locked_folder(workers: int) -> tuple[Path, int] | None:
    """Make a folder that shows, as long as this process lives, that it is in use."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}{workers}-", dir=MEMORY.resolve()))
        return folder, _lock(folder)
    except OSError:  # also where another grader has just taken it for one that was left
        return None


def _lock(folder: Path) -> int:
    """Lock a folder (flock(2)) and give the lock's descriptor; ``OSError`` where it is in use."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()  # it may have gone since it was opened
    except OSError:
        os.close(lock)
        raise
    return lock
