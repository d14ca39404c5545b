"""The course's own files, and its code as Python compiles it: read once, not for every snapshot.

What a student wrote is compiled in the sandbox alone.
"""

import functools
import py_compile
import tempfile
from importlib.util import cache_from_source
from pathlib import Path

from instructor import COURSE


def compiled_name(file: str) -> str:
    """Give the path at which Python looks for a file's compiled code."""
    return cache_from_source(file)


@functools.cache
def source(file: str) -> bytes:
    """Read a file of the course."""
    return (COURSE / file).read_bytes()


@functools.cache
def compiled(file: str) -> bytes:
    """Compile a file of the course.

    Python takes this for the file's own whatever its time stamp says: in a snapshot nothing stands
    in the file's place but our copy.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "compiled"
        py_compile.compile(
            str(COURSE / file),
            str(target),
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        return target.read_bytes()
