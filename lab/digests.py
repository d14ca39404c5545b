"""What stands in a workspace's files, as digests: has anything changed since?

Line endings are left out of it: git and editors change them, and no check sees a difference.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.workshop import Workshop

SHOWN_DIGITS = 16
MISSING = "missing"


def digests(root: Path, files: Sequence[str]) -> dict[str, str]:
    """Give the digest of each file, or ``missing``."""
    return {file: digest(root / file) for file in files}


def digest(path: Path) -> str:
    """Give the SHA-256 of a file's bytes with each CR LF as LF, or ``missing``."""
    try:
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    except OSError:
        return MISSING


def whole(found: Mapping[str, str]) -> str:
    """Give one digest for many files: that of the lines "digest, two blanks, path"."""
    text = "".join(f"{digest}  {file}\n" for file, digest in found.items())
    return hashlib.sha256(text.encode()).hexdigest()[:SHOWN_DIGITS]


def work_files(workshop: Workshop) -> list[str]:
    """List the files that a pair works in, notebooks left out: those hold no graded work."""
    return sorted({*workshop.stripped, *workshop.start})
