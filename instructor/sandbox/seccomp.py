"""Seccomp: this process and all that it starts give up system calls, for good.

The filters are made by the system's libseccomp, once in each fork server; a fork only loads what
was made, which costs next to nothing. Standard library only.

A filter is a list of what is refused, so it stands beside Landlock or namespaces and never alone.
"""

import ctypes
import ctypes.util
import errno
import os
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NE, _EQ, _MASKED_EQ = 1, 4, 7
_PR_SET_SECCOMP, _FILTER, _NO_NEW_PRIVS = 22, 2, 38
_CLONE_THREAD = 0x10000
_UNIX, _STREAM, _TYPE = 1, 1, 0xF
# Stands in a filter for the process that will load it; no process has this id.
_MYSELF = 0x7A5A7A5A

# Of other processes, of the machine, and ways round the limits on memory and files.
_NEVER = """
    ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd process_mrelease
    move_pages migrate_pages perf_event_open bpf userfaultfd
    io_uring_setup io_uring_enter io_uring_register memfd_create memfd_secret
    mount umount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig
    fsmount fspick mount_setattr unshare setns name_to_handle_at open_by_handle_at quotactl
    quotactl_fd fanotify_init fanotify_mark
    keyctl add_key request_key
    shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop semtimedop semctl
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    kexec_load kexec_file_load reboot init_module finit_module delete_module swapon swapoff acct
    settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname iopl ioperm syslog
    vhangup personality setpriority ioprio_set
    execve execveat
""".split()  # noqa: SIM905  so many read better as a text
# A job's own process starts forks and waits for them; student's code has no use for these.
_PROCESSES = ("fork", "vfork", "tkill", "pidfd_open", "pidfd_send_signal")
# Landlock has no say in these. Who copies a file with its mode and times is told that it went well,
# and so is ZeroMQ, which ends the process otherwise.
_PRETENDED = """
    chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    sched_setscheduler sched_setparam sched_setattr
""".split()  # noqa: SIM905
# Those that reach another process by its id, and where the id stands; 0 is oneself in the second.
_TO_MYSELF = {"kill": 0, "tgkill": 0, "rt_sigqueueinfo": 0, "rt_tgsigqueueinfo": 0}
_TO_ZERO = {"prlimit64": 0, "sched_setaffinity": 0, "setpgid": 0}


class SeccompError(OSError):
    """libseccomp or the kernel refuses a step."""


class Filters(NamedTuple):
    """Filters as the kernel takes them: for a job, for a kernel, and for no new process."""

    job: bytes
    kernel: bytes
    alone: bytes


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("how", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


# What is refused: names of system calls, the error that they give, and when.
Rule = tuple[Iterable[str], int, tuple[_Comparison, ...]]


def make(more: Iterable[str] = ()) -> Filters | None:
    """Make the filters, with ``more`` calls to refuse; None where there is no libseccomp."""
    library = _library() if sys.platform == "linux" else None
    if library is None:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    of_all: list[Rule] = [*_of_all(), (more, errno.EPERM, ())]
    return Filters(
        _made(library, [*of_all, *_no_socket()]),
        _made(library, [*of_all, *_no_socket_but_unix()]),
        _made(library, list(_alone())),
    )


def _library() -> ctypes.CDLL | None:
    """Load libseccomp by its name; to look for it takes programs that may be out of reach."""
    try:
        return ctypes.CDLL("libseccomp.so.2")
    except OSError:
        name = ctypes.util.find_library("seccomp")
        return ctypes.CDLL(name) if name else None


def load(program: bytes) -> None:
    """Load one filter into this process; raise ``SeccompError``."""
    own = program.replace(struct.pack("=I", _MYSELF), struct.pack("=I", os.getpid()))
    libc = ctypes.CDLL(None, use_errno=True)
    filled = _Program(len(own) // 8, own)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _FILTER, ctypes.byref(filled), 0, 0
    ):
        raise SeccompError(ctypes.get_errno(), "seccomp")


def _of_all() -> Iterable[Rule]:
    yield _NEVER, errno.EPERM, ()
    yield _PRETENDED, 0, ()
    # Without times it is how a file is touched; that it is there must not be pretended.
    yield ("utimensat",), 0, (_Comparison(2, _NE, 0, 0),)
    yield ("utimensat",), errno.EPERM, (_Comparison(2, _EQ, 0, 0),)
    for name, place in _TO_ZERO.items():
        yield (name,), errno.EPERM, (_Comparison(place, _NE, 0, 0),)


def _no_socket() -> Iterable[Rule]:
    yield ("socket", "connect", "bind", "listen"), errno.EOPNOTSUPP, ()
    yield ("socketpair",), errno.EOPNOTSUPP, (_Comparison(0, _NE, _UNIX, 0),)


def _no_socket_but_unix() -> Iterable[Rule]:
    """ZeroMQ ends the process unless what it cannot have is called unsupported."""
    yield ("connect",), errno.EOPNOTSUPP, ()
    yield ("socket", "socketpair"), errno.EOPNOTSUPP, (_Comparison(0, _NE, _UNIX, 0),)
    for kind in range(_TYPE + 1):
        if kind != _STREAM:
            yield ("socket",), errno.EOPNOTSUPP, (_Comparison(1, _MASKED_EQ, _TYPE, kind),)


def _alone() -> Iterable[Rule]:
    """No new process, and no signal to another one."""
    yield _PROCESSES, errno.EPERM, ()
    yield ("clone",), errno.EPERM, (_Comparison(0, _MASKED_EQ, _CLONE_THREAD, 0),)
    # Its flags lie in memory, out of a filter's reach; the C library falls back to clone.
    yield ("clone3",), errno.ENOSYS, ()
    for name, place in _TO_MYSELF.items():
        yield (name,), errno.EPERM, (_Comparison(place, _NE, _MYSELF, 0),)


def _made(library: ctypes.CDLL, rules: Iterable[Rule]) -> bytes:
    """Have libseccomp make one filter; what this machine has no system call for is left out."""
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    try:
        for names, error, when in rules:
            for name in names:
                number = library.seccomp_syscall_resolve_name(name.encode())
                if number >= 0:
                    _add(library, context, (number, error, when))
        with os.fdopen(os.memfd_create("filter"), "w+b") as file:
            if library.seccomp_export_bpf(context, file.fileno()):
                raise SeccompError(0, "libseccomp does not make the filter")
            file.seek(0)
            return file.read()
    finally:
        library.seccomp_release(context)


def _add(
    library: ctypes.CDLL, context: ctypes.c_void_p, rule: tuple[int, int, tuple[_Comparison, ...]]
) -> None:
    number, error, when = rule
    array = (_Comparison * len(when))(*when)
    action = ctypes.c_uint32(_ERRNO | error)
    failed = library.seccomp_rule_add_array(context, action, number, len(when), array)
    if failed:
        raise SeccompError(-failed, f"libseccomp, system call {number}")
