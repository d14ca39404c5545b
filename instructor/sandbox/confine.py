"""What a child does to itself before it touches a student's file. Standard library only.

The limits are set by our own code inside the child, before the student's code is imported: a
function between fork and exec would not be safe in a process that has threads.
"""

import ctypes
import gc
import os
import resource
import struct
import sys
from pathlib import Path
from typing import Any

KIT = Path(__file__).resolve().parents[2]
# Root reads files that are not its own by these two; which files, is what Landlock decides.
_KEPT_CAPABILITIES = 1 << 1 | 1 << 2
_CAPABILITIES_VERSION = 0x20080522
_FILTERS: dict[str, Any] = {}


def prepare() -> None:
    """Make the filters of system calls, once for all forks of a server."""
    # Before its version 3 Landlock has no say in this one.
    old = 0 < sys.modules["_courseware_landlock"].version() < 3
    _FILTERS["made"] = sys.modules["_courseware_seccomp"].make(["truncate"] if old else [])


def confine(
    limits: dict[str, int], places: dict[str, Any] | None, *, sockets: bool = False
) -> None:
    """Lower this process's limits, and hold it where the grader says to what.

    ``places`` are those of ``places.py``; without them, limits are all. ``sockets`` leaves those
    that a kernel talks through. Raises ``OSError`` where a step of the holding fails; a system that
    does not know one of the limits goes without it.
    """
    if places is not None:
        drop_capabilities()
        limits = {**limits, **places["limits"]}
        if places["landlock"]:
            landlock = sys.modules["_courseware_landlock"]
            landlock.restrict(places["readable"], places["writable"])
    for name, value in limits.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        except (ValueError, OSError, AttributeError):  # macOS refuses RLIMIT_AS
            continue
    if places is not None:
        if _FILTERS.get("made") is None:
            raise OSError("there is no libseccomp, so nothing holds this process")
        _load("kernel" if sockets else "job")


def seal() -> bool:
    """Have this process start no other one and signal none, for good.

    Student's code runs after this; false where only limits hold it, and then nothing is done.
    """
    if not _FILTERS.get("loaded"):
        return False
    _load("alone")
    return True


def _load(name: str) -> None:
    sys.modules["_courseware_seccomp"].load(getattr(_FILTERS["made"], name))
    _FILTERS["loaded"] = True


def drop_capabilities() -> None:
    """Give up what root may do beyond its own files (capset(2)); others have nothing to give up."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    kept = _KEPT_CAPABILITIES if os.geteuid() == 0 else 0
    libc = ctypes.CDLL(None, use_errno=True)
    # In a box root has not even these two, and none is left to keep.
    if libc.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0)) and libc.capset(
        header, bytes(24)
    ):
        raise OSError(ctypes.get_errno(), "capabilities are not given up")


def die_with_parent() -> None:
    """Have this process ended when the one that started it ends (Linux: prctl(2))."""
    if sys.platform == "linux":
        pr_set_pdeathsig, sigkill = 1, 9
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill, 0, 0, 0)


def enter(workspace: str) -> None:
    """Make the workspace the place where modules are found, and take the kit's own code away.

    Without this, a submission that lost its ``lab`` folder would be graded on our reference.
    """
    sys.path[:] = [workspace, *(path for path in sys.path if path and Path(path).resolve() != KIT)]
    os.chdir(workspace)


def leave_out_slow_formats() -> None:
    """Keep jsonschema from importing a grammar that takes over a second and that we never use.

    JupyterLab brings jsonschema's optional formats along; ``iri`` is the only one this drops.
    """
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


def collect_seldom() -> None:
    """Look for garbage less often than every 700 objects: pytest makes that many in a test or two.

    What nothing refers to goes at once all the same; only what refers to itself waits.
    """
    gc.set_threshold(50_000, 20, 100)
