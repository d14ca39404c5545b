"""Which files a student's process may reach: where the kernel can hold it to them, and which."""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from socket import create_server

from instructor import COURSE, CourseError

PROBE = Path(__file__).with_name("probe.py")
COURSE_FILE = COURSE / "instructor" / "__init__.py"
HERE = Path(__file__).resolve().parent
# Python, what it is built on, and what tells it the time.
_SYSTEM = (
    sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache",
    "/etc/localtime", "/dev/urandom", "/dev/random", "/dev/zero",
)  # fmt: skip
HELD, LIMITED = "landlock", "limits"

# What a process may read, and what it may also write.
Places = dict[str, list[str]]


@functools.cache
def tier() -> str:
    """Establish by trying what holds a student's code on this machine, once a process.

    ``landlock``: it cannot read or write a file outside of its copy, open a TCP connection, or
    signal another process. ``limits``: it is limited and can do all of that.
    """
    with tempfile.TemporaryDirectory() as folder, create_server(("127.0.0.1", 0)) as server:
        outside = Path(folder) / "outside"
        outside.write_text("x")
        (Path(folder) / "inside").mkdir()
        request = {
            "places": _listed([Path(folder) / "inside"], ()),
            "read": str(outside),
            # A course that lies below what Python needs, as in /usr/src, is within reach.
            "course": str(COURSE_FILE),
            "write": str(outside),
            "port": server.getsockname()[1],
        }
        done = subprocess.run(  # noqa: S603  our own script, by its full path
            [sys.executable, "-I", "-S", str(PROBE), json.dumps(request)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    return HELD if done.stdout.split() == ["held"] else LIMITED


def expect_tier(wanted: str) -> None:
    """Raise ``CourseError`` unless this machine's sandbox is at least the one that is asked for."""
    if wanted not in (HELD, LIMITED):
        raise CourseError(f"There is no tier {wanted!r}. Known: {HELD}, {LIMITED}.")
    if wanted == HELD and tier() != HELD:
        raise CourseError(
            "Students' code can only be limited on this machine, not held to its own files. "
            "Expected: Linux 6.12 or newer with Landlock. Nothing was graded; grade on such a "
            "machine, or in a container that holds nothing else and without --require-tier."
        )


def places(writable: Iterable[Path], readable: Iterable[Path] = ()) -> Places | None:
    """Give the places that a process is held to; None where this machine cannot hold it."""
    return _listed(writable, readable) if tier() == HELD else None


def _listed(writable: Iterable[Path], readable: Iterable[Path]) -> Places:
    return {
        "readable": [*_SYSTEM, *map(str, readable)],
        "writable": ["/dev/null", *map(str, writable)],
    }
