"""Landlock: this process and all that it starts give up most files, and TCP, for good.

It needs no privileges (landlock(7), Linux 5.13 and newer). Numbers are those of linux/landlock.h;
the system calls have the same ones on every architecture. Standard library only.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE = 1 << 14
_READING = _EXECUTE | _READ_FILE | _READ_DIR
# What a rule for a file, rather than for a folder, may speak of.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
# By version: every right on files that it knows.
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_TCP_SINCE, _SCOPES_SINCE = 4, 6
_BIND_AND_CONNECT = 0b11
# No connection to an abstract socket and no signal to a process outside.
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


class LandlockError(OSError):
    """The kernel knows Landlock and refuses a step of it."""


def version() -> int:
    """Give the version of Landlock that the kernel offers; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Keep only these files and folders, with all below them; what is not there is left out.

    TCP goes from version 4 on, and what reaches other processes from version 6 on. Raises
    ``LandlockError``.
    """
    offered = version()
    if not offered:
        raise LandlockError("this kernel has no Landlock")
    files = _FILES[min(offered, max(_FILES))]
    tcp = _BIND_AND_CONNECT if offered >= _TCP_SINCE else 0
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if offered >= _SCOPES_SINCE else 0
    size = 24 if scoped else 16 if tcp else 8
    rules = _call(_CREATE_RULESET, struct.pack("QQQ", files, tcp, scoped), size, 0)
    try:
        for path in readable:
            _allow(rules, path, files & _READING)
        for path in writable:
            _allow(rules, path, files)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise LandlockError(ctypes.get_errno(), "no_new_privs")
        _call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112  this program has no use for pathlib
            rights &= _OF_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: int | bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    converted = [
        ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_long(value)
        for value in arguments
    ]
    result = int(libc.syscall(ctypes.c_long(number), *converted))
    if result < 0:
        raise LandlockError(ctypes.get_errno(), f"Landlock, system call {number}")
    return result
