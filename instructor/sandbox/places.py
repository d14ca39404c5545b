"""Which files a student's process may reach, by Landlock and by what bubblewrap shows it."""

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.sandbox.landlock import version as landlock_version
from instructor.sandbox.tiers import A, C, tier_in_force

HERE = Path(__file__).resolve().parent
# Python, what it is built on, and what tells it the time.
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", sys.prefix,
    sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix),
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
# Of the course, a fork server reads its own program and two modules that every workspace has.
_PROGRAMS = (HERE, COURSE / "lab" / "suite.py", COURSE / "lab" / "replay.py")
# The box's own folder for what the server needs for a moment; a job has its scratch folder.
BOX_TMP, BOX_TMP_BYTES = "/run", 16 << 20
# Processes and threads, where they are counted for one box alone.
MOST_PROCESSES = 128
_COUNTED_BY_NAMESPACE = (5, 14)
# Below these lie the copies of many submissions, one after the other.
_ROOTS: list[Path] = []

# What ``confine`` takes: what a process may read, what it may also write, and more.
Places = dict[str, Any]


def places(writable: Iterable[Path], readable: Iterable[Path] = ()) -> Places | None:
    """Give the places that a process is held to; None where limits are all that holds it.

    Raises ``CourseError`` where this machine cannot hold it and nobody has said that limits do.
    """
    tier = tier_in_force()
    if tier == C:
        return None
    counted = tier == A and _kernel() >= _COUNTED_BY_NAMESPACE
    return {
        "landlock": landlock_version() > 0,
        "readable": [*_SYSTEM, *_DEVICES, *map(str, readable)],
        "writable": ["/dev/null", *map(str, writable)],
        "limits": {"NPROC": MOST_PROCESSES} if counted else {},
    }


def work_below(root: Path) -> None:
    """Say that copies will lie below a folder, so that one box serves them all in turn."""
    if root not in _ROOTS:
        _ROOTS.append(root)


def shown_to(folders: Iterable[Path]) -> tuple[str, ...] | None:
    """List the folders that a box has to show for these to be in it; None without a box.

    Where Landlock holds each process to its own copy, a box shows the root of many. Where there is
    none it shows these and no other, so that what one leaves cannot reach the next.
    """
    if tier_in_force() != A:
        return None
    roots = [root for root in _ROOTS if root.is_dir()] if landlock_version() else []
    shown = (next((r for r in roots if f.is_relative_to(r)), f) for f in folders)
    return tuple(dict.fromkeys(map(str, shown)))


def boxed(command: Sequence[str], shown: Iterable[str]) -> list[str]:
    """Give the command that runs another one in namespaces of its own (bwrap(1)).

    It sees Python, the system's libraries and our program, read-only, and writes into the folders
    shown to it; there is no network, no other process, and nothing of /tmp, /proc or /home.
    """
    wrap = [shutil.which("bwrap") or "bwrap", "--unshare-user", "--unshare-pid", "--unshare-net",
            "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
            "--cap-drop", "ALL", "--size", str(BOX_TMP_BYTES), "--tmpfs", BOX_TMP,
            "--setenv", "TMPDIR", BOX_TMP]  # fmt: skip
    for path in map(Path, dict.fromkeys(_SYSTEM)):
        if path.is_symlink() and path.parent == Path("/"):
            wrap += ["--symlink", str(path.readlink()), str(path)]
        else:
            wrap += ["--ro-bind-try", str(path), str(path)]
    for device in _DEVICES:
        wrap += ["--dev-bind", device, device]
    for program in _PROGRAMS:
        wrap += ["--ro-bind", str(program), str(program)]
    for folder in shown:
        wrap += ["--bind", folder, folder]
    return [*wrap, "--remount-ro", "/", "--chdir", "/", "--", *command]


def _kernel() -> tuple[int, ...]:
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
