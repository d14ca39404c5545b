"""What a child leaves running: adopt it, name it, end it."""

import contextlib
import sys
from collections.abc import Iterable
from multiprocessing import resource_tracker

import psutil

from instructor.sandbox.forks import server_pids


def adopt_orphans() -> None:
    """Make this process inherit what its children leave behind, so that it can be ended.

    Linux only (PR_SET_CHILD_SUBREAPER, prctl(2)); elsewhere a daemon that detaches itself between
    two looks at the process table can survive.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


def end_strays(before: set[int]) -> tuple[str, ...]:
    """End every process below this one that was not there before; name those that were alive.

    The fork servers stay, to be used again.
    """
    ended = 0
    names: set[str] = set()
    while strays := _beside(before):
        names |= _names_of(strays)
        for stray in strays:
            with contextlib.suppress(psutil.NoSuchProcess):
                stray.kill()
        psutil.wait_procs(strays, timeout=5)
        ended += len(strays)
        if ended > 10_000:
            break
    return tuple(sorted(names))


def names_beside(known: set[int]) -> set[str]:
    """Name the programs that run below this process, but for those whose ids are known."""
    return _names_of(_beside(known))


def _beside(known: set[int]) -> list[psutil.Process]:
    # The last one is Python's own, which notes what pools of processes have to give back.
    kept = known | server_pids() | {getattr(resource_tracker._resource_tracker, "_pid", None)}
    return [p for p in psutil.Process().children(recursive=True) if p.pid not in kept]


def _names_of(processes: Iterable[psutil.Process]) -> set[str]:
    return {name for process in processes if (name := _name_of(process))}


def _name_of(process: psutil.Process) -> str:
    """Give the name of a running program, Python's without its version; "" once it has ended."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        name = str(process.name())
    except psutil.Error:
        return ""
    return "python" if name.lower().startswith("python") else name


def running_below() -> set[int]:
    """List the ids of the processes below this one."""
    return {process.pid for process in psutil.Process().children(recursive=True)}
