"""What the self-test tries in the place of a student's code. It runs in a fork of ``zygote.py``.

Each attack is contained where it ends in an error. What it could reach was made for it by
``selftest.py``, so one that succeeds does no harm. Standard library only.
"""

import ctypes
import json
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PTRACE_SEIZE, _NEW_USER, _IO_URING_SETUP, _MPTCP = 0x4206, 0x10000000, 425, 262
_LARGE = 10 << 30
# ValueError: a limit that is to be raised.
REFUSALS = (OSError, MemoryError, ValueError)


def preload(_: Callable[[Path, str], Any]) -> None:
    """Nothing more is needed."""


def run(connection: int, _: list[Any]) -> None:
    """Hold this process as the request says, try each attack, and say what came of it."""
    with socket.socket(fileno=connection) as line:
        request = json.loads(line.makefile("rb").readline())
        said = tried(request)
        line.sendall(json.dumps(said).encode() + b"\n")


def tried(request: dict[str, Any]) -> dict[str, Any]:
    """Give what each attack said, empty where it succeeded; and why work fails, where it does."""
    confine = sys.modules["_courseware_confine"]
    try:
        confine.confine(request["limits"], request["places"], sockets=request["sockets"])
        start_process()
        confine.seal()
        work(request["own"])
    except REFUSALS as error:
        return {"trouble": f"{type(error).__name__}: {error}", "attacks": {}}
    # Who copies a file is told that this went well, so the grader looks whether it did.
    what_came(lambda: Path(request["yours"]).chmod(0o777))
    named = {**dict(on_files(request)), **dict(on_sockets(request)), **dict(on_others(request))}
    return {"trouble": "", "attacks": {name: what_came(attack) for name, attack in named.items()}}


def what_came(attack: Callable[[], object]) -> str:
    """Make one attack; give the error that it ends in, or nothing."""
    try:
        attack()
    except REFUSALS as error:
        return f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}"
    return ""


def work(own: str) -> None:
    """Do what must still work: write and read in the own folder, and start a thread."""
    path = Path(own) / "file"
    path.write_text("x")
    path.read_text()
    thread = threading.Thread(target=path.unlink)
    thread.start()
    thread.join()
    for one in socket.socketpair():
        one.close()


def on_files(request: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the attacks on files outside of the own copy."""
    yours, other = Path(request["yours"]), Path(request["other"])
    link = Path(request["own"]) / "link"

    def read_through_link() -> None:
        link.symlink_to(yours)
        link.read_text()

    yield "read a file of yours", yours.read_text
    yield "read it through a link", read_through_link
    yield "read it through /proc", lambda: Path(f"/proc/self/root{yours}").read_text()
    yield "read the answers", Path(request["course"]).read_text
    yield "list a folder of yours", lambda: _found(yours)
    yield "read another pair's work", (other / "work").read_text
    yield "write into another pair's work", lambda: (other / "new").write_text("x")
    yield "write into a file of yours", lambda: yours.open("a").close()
    yield "empty a file of yours", lambda: os.truncate(yours, 0)
    yield "move a file of yours", lambda: yours.rename(link.with_name("moved")).rename(yours)
    yield "delete a file of yours", yours.unlink
    yield "write a file that is too large", lambda: os.pwrite(_opened(link), b"x", _LARGE)


def on_sockets(request: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the ways to reach a program that listens."""
    port, path, abstract = request["port"], request["path"], request["abstract"]
    inet, unix = socket.AF_INET, socket.AF_UNIX
    yield "connect by TCP", lambda: _connect(inet, 0, ("127.0.0.1", port))
    yield "connect by multipath TCP", lambda: _connect(inet, _MPTCP, ("127.0.0.1", port))
    yield "send by UDP", lambda: _send_twice(("127.0.0.1", request["udp"]))
    yield "connect to a socket in a folder", lambda: _connect(unix, 0, path)
    yield "connect to a socket without one", lambda: _connect(unix, 0, f"\0{abstract}")
    yield "listen for others", lambda: socket.create_server(("127.0.0.1", 0)).close()
    yield "ask the system for its network", lambda: socket.socket(getattr(socket, "AF_NETLINK", 0))


def on_others(request: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the attacks on other processes, and on the limits."""
    grader = request["grader"]
    yield "start a program", start_program
    yield "start a process", start_process
    yield "signal the grader", lambda: os.kill(grader, 0)
    yield "signal its own server", lambda: os.kill(os.getppid(), 0)
    yield "signal every process", lambda: os.kill(-1, 0)
    yield "trace its own server", lambda: _called("ptrace", _PTRACE_SEIZE, os.getppid(), 0, 0)
    yield "make namespaces of its own", lambda: _called("unshare", _NEW_USER)
    yield "use io_uring", lambda: _called("syscall", _IO_URING_SETUP, 1, bytes(120))
    yield "share memory that no limit counts", lambda: _called("shmget", 0, 4096, 0o1600)
    yield "keep a file that no limit counts", lambda: os.close(os.memfd_create("x"))
    yield "use 10 GB of memory", lambda: bytearray(_LARGE)
    yield (
        "raise its own limits",
        lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGE, _LARGE)),
    )


def start_process() -> None:
    """Start a process that ends at once."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def start_program() -> None:
    """Start a program that ends at once."""
    child = os.posix_spawn("/bin/true", ["true"], {})
    if os.waitpid(child, 0)[1]:
        raise OSError("it did not run")


def _found(path: Path) -> None:
    """Find a file by looking into its folder; in a box there may be an empty one of that name."""
    if path not in path.parent.iterdir():
        raise FileNotFoundError(0, "it does not show")


def _opened(path: Path) -> int:
    return os.open(path.with_name("large"), os.O_WRONLY | os.O_CREAT)


def _connect(family: int, protocol: int, address: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM, protocol) as line:
        line.settimeout(5)
        line.connect(address)


def _send_twice(address: tuple[str, int]) -> None:
    """Send; where nobody listens, the first is lost and the second says so."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(address)
        line.send(b"x")
        line.send(b"x")


def _called(name: str, *arguments: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
