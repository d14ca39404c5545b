"""Unpack a stranger's zip: ordinary files, inside one folder, within limits; the rest is said."""

import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from instructor.intake.landing import IGNORED_FOLDERS, Snapshot, path_problem, turn

CHUNK_BYTES = 1 << 16
ENCRYPTED = 0x1
_DRIVE = re.compile(r"[A-Za-z]:")
# What the readers of zip, and of its ways to compress, raise on broken data.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError,
)  # fmt: skip


class Unusable(Exception):  # noqa: N818  a finding about what was handed in, not a fault of ours
    """What was handed in cannot be opened at all; the text is what the student reads."""


def unzip(archive: Path, snapshot: Snapshot) -> None:
    """Unpack the ordinary files of a zip; raise ``Unusable`` where it is none."""
    try:
        with zipfile.ZipFile(archive) as file:
            for member in _in_turn(file.infolist()):
                _unpack(file, member, snapshot)
    except OSError as error:
        raise Unusable(f"The zip cannot be opened: {error.strerror}.") from error
    except _BROKEN as error:
        raise Unusable(f"The zip cannot be opened: {error}.") from error


def _in_turn(members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """List the members to unpack; of two with one name the last, which other programs keep."""
    wanted = [member for member in members if not member.is_dir()]
    environments = {_parts(m)[:-1] for m in wanted if _parts(m)[-1:] == ("pyvenv.cfg",)}
    kept = [member for member in reversed(wanted) if not _made_by_tools(member, environments)]
    return sorted(kept, key=lambda member: (turn(_parts(member)), member.filename))


def _made_by_tools(member: zipfile.ZipInfo, environments: set[tuple[str, ...]]) -> bool:
    folders = _parts(member)[:-1]
    if not (IGNORED_FOLDERS - {".git"}).isdisjoint(folders):
        return True
    return any(folders[:depth] in environments for depth in range(1, len(folders) + 1))


def _parts(member: zipfile.ZipInfo) -> tuple[str, ...]:
    return PurePosixPath(member.filename).parts


def _unpack(file: zipfile.ZipFile, member: zipfile.ZipInfo, snapshot: Snapshot) -> None:
    parts = _parts(member)
    if reason := _problem(member) or path_problem(parts):
        snapshot.leave_out(member.filename, reason)
        return
    try:
        snapshot.write("/".join(parts), member.file_size, _chunks(file, member))
    except OSError as error:
        snapshot.leave_out(member.filename, f"cannot be written ({error.strerror})")
    except _BROKEN as error:
        snapshot.leave_out(member.filename, f"cannot be read ({error})")


def _problem(member: zipfile.ZipInfo) -> str:
    """Say why a member is no ordinary file with a name of its own; "" where it is one."""
    name, mode = member.filename, member.external_attr >> 16
    problems = {
        "has no name that a file can have": "\0" in member.orig_filename or not name.strip("./"),
        "has a backslash in its name": "\\" in name,
        "names a place on a disk": name.startswith("/") or bool(_DRIVE.match(name)),
        "is a link": stat.S_ISLNK(mode),
        "is not an ordinary file": stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFLNK},
        "is encrypted": bool(member.flag_bits & ENCRYPTED),
    }
    return next((problem for problem, found in problems.items() if found), "")


def _chunks(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with file.open(member) as data:
        while chunk := data.read(CHUNK_BYTES):
            yield chunk
