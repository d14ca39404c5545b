"""What a child does to itself before it touches a student's file. Standard library only.

The limits are set by our own code inside the child, before the student's code is imported: a
function between fork and exec would not be safe in a process that has threads.
"""

import os
import resource
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parents[2]


def confine(limits: dict[str, int], places: dict[str, list[str]] | None) -> None:
    """Lower this process's limits, and hold it to some places where the system can do that.

    A system that does not know one of the limits goes without it.
    """
    if places is not None:
        sys.modules["_courseware_landlock"].restrict(**places)
    for name, value in limits.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        except (ValueError, OSError, AttributeError):  # macOS refuses RLIMIT_AS
            continue


def die_with_parent() -> None:
    """Have this process ended when the one that started it ends (Linux: prctl(2))."""
    if sys.platform == "linux":
        import ctypes

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
