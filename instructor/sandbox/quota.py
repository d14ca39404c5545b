"""How much a student's process puts on the disk: looked at while it runs, so it can be ended.

A limit on each file is the system's own; how many there are, nothing counts but this.
"""

import contextlib
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# A submission has 50 MB and 2,000 files at the most; the rest is room to work in.
MOST_BYTES = 128 << 20
MOST_ENTRIES = 8_000
MOST_DEPTH = 100
SECONDS = 0.25
_BLOCK = 512


class Quota:
    """What one process and its children may put into each of its folders."""

    def __init__(self, folders: Iterable[Path], pid: Callable[[], int]) -> None:
        """Watch these folders, and the files without a name that the process keeps open.

        ``pid`` gives 0 before the process is there.
        """
        self._folders = [str(folder) for folder in folders]
        self._pid = pid

    def look(self) -> str:
        """Say what is too much; "" for nothing."""
        nameless = sum(_open_without_name(self._pid()))
        for folder in self._folders:
            used, entries = nameless, 0
            for size in _sizes(folder, MOST_DEPTH):
                used, entries = used + size, entries + 1
                if used > MOST_BYTES:
                    return f"it wrote more than {MOST_BYTES >> 20} MiB"
                if entries > MOST_ENTRIES or size < 0:
                    return f"it made more than {MOST_ENTRIES} files and folders"
        return ""


@contextlib.contextmanager
def watched(quota: Quota, end: Callable[[str], object]) -> Iterator[None]:
    """Look every now and then, in a thread; ``end`` is called once, with what is too much."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SECONDS):
            if problem := quota.look():
                end(problem)
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def clear_away(folder: Path) -> None:
    """Delete a folder that a student's code has written into, however deep or closed it is."""
    if folder.is_symlink():
        folder.unlink()
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run(  # noqa: S603  the system's own programs, on a folder of ours
                [*command, "--", str(folder)], check=False, stderr=subprocess.DEVNULL
            )


def _sizes(folder: str, depth: int) -> Iterator[int]:
    """Yield the bytes of each entry below a folder; less than 0 for one that lies too deep."""
    try:
        with os.scandir(folder) as entries:
            rows = list(entries)
    except PermissionError:
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)  # noqa: PTH101  it is our copy, and the next look sees into it
        return
    except OSError:  # it has just gone
        return
    for entry in rows:
        with contextlib.suppress(OSError):
            yield entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _sizes(entry.path, depth - 1)
            else:
                yield -1


def _open_without_name(pid: int) -> Iterator[int]:
    """Yield the bytes of each file that a process or its child has open and nobody can see."""
    for own in (pid, *_children(pid)):
        folder = f"/proc/{own}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208  it is looked at four times a second
                with contextlib.suppress(OSError):
                    about = os.stat(f"{folder}/{name}")  # noqa: PTH116
                    if about.st_nlink == 0 and stat.S_ISREG(about.st_mode):
                        yield about.st_blocks * _BLOCK


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return [int(number) for number in text.split()]
    return []
