"""The grader's side of the fork servers: one of each kind a process, started when it is needed."""

import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import psutil

from instructor.sandbox.places import boxed

ZYGOTE = Path(__file__).with_name("zygote.py")
# No site of the user's, no script's folder on the path; the environment is ours.
ISOLATED = ("-s", "-P", "-X", "utf8")
_ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
_SERVERS: dict[str, "ForkServer"] = {}
# A box ends with the thread that started it, so all are started by one that stays.
_LAUNCHER = ThreadPoolExecutor(1)

# The folders that a box shows; None for no box.
Shown = tuple[str, ...] | None


class ForkServerGone(Exception):  # noqa: N818  said to whoever can start another
    """The fork server has ended; a child of it may have ended it."""


class Fork:
    """A child of a fork server; what ``subprocess.Popen`` offers and is used here.

    ``pid`` is its id as this process sees it, 0 where it had ended before that was known.
    """

    def __init__(self, server: "ForkServer", pid: int, stdout: IO[bytes] | None) -> None:
        """Take over a child that was just forked."""
        self.pid = pid
        self.stdout = stdout
        self.stderr = self.stdin = None
        self.returncode: int | None = None
        self._server = server

    def poll(self) -> int | None:
        """Give the exit code, as ``Popen`` does, or None while the child runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raise ``subprocess.TimeoutExpired`` after ``timeout`` seconds."""
        if self.returncode is None:
            code = self._server.next_number(timeout)
            # A server that has ended took this child along.
            self.returncode = -signal.SIGKILL if code is None else code
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the child, unless it has ended."""
        if self.poll() is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the child and what shares its session, also where the child itself has ended."""
        end_session(self.pid)
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """One running ``zygote.py``, in a box where folders are ``shown`` to it."""

    def __init__(self, kind: str, shown: Shown) -> None:
        """Start a server; raise ``ForkServerGone`` where it does not come up."""
        self.shown = _identified(shown)
        self._control, theirs = socket.socketpair()
        with theirs:
            program = [sys.executable, *ISOLATED, str(ZYGOTE), str(theirs.fileno()), kind]
            if shown is not None:
                _compile_once(kind)
            command = program if shown is None else boxed(program, shown)
            self._process = _LAUNCHER.submit(_launch, command, theirs.fileno(), kind).result()
        self._unread = b""
        self._handles: list[int] = []
        self._last: Fork | None = None
        self.pids = {self._process.pid}
        try:
            self.pids |= self._own_pids()
        except BaseException:
            self.close()
            raise

    def serves(self, shown: Shown) -> bool:
        """Tell whether a child of this server sees these folders, and has no more than it may."""
        wanted = _identified(shown)
        if wanted is None or self.shown is None:
            return wanted is self.shown
        return wanted.items() <= self.shown.items()

    def fork(
        self,
        arguments: Sequence[Any],
        environment: dict[str, str],
        descriptors: tuple[int, int],
        stdout: IO[bytes] | None,
    ) -> Fork:
        """Have a child forked; raise ``ForkServerGone``.

        A server has one child at a time: the one before it is waited for, whoever ended it.
        """
        request = {"arguments": arguments, "environment": environment}
        try:
            if self._last and self._last.returncode is None:
                self._last.kill()
                self._last.wait()
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            pid = self._next_pid()
        except OSError as error:
            raise ForkServerGone from error
        self._last = Fork(self, pid, stdout)
        return self._last

    def _own_pids(self) -> set[int]:
        """Wait until the server is ready; give its id, and that of what keeps its box."""
        try:
            pid = self._next_pid()
            return {pid, psutil.Process(pid).ppid()} - {os.getpid()}
        except (OSError, psutil.Error) as error:
            raise ForkServerGone from error

    def _next_pid(self) -> int:
        """Read a process's id; in a box it has another one, so a handle comes along."""
        number = self.next_number(None)
        if number is None:
            raise ForkServerGone
        if not self._handles:
            return number
        handle = self._handles.pop(0)
        try:
            about = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii")
        finally:
            os.close(handle)
        seen = [line.split()[1] for line in about.splitlines() if line.startswith("Pid:")]
        return max(0, int(seen[0]))

    def next_number(self, timeout: float | None) -> int | None:
        """Read the next number that the server says; None when it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._unread:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._control], [], [], left)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            data, handles, _, _ = socket.recv_fds(self._control, 100, 2)
            self._handles += handles
            if not data:
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return int(line)

    def close(self) -> None:
        """End the server and whatever child it has."""
        self._control.close()
        self._process.kill()
        self._process.wait()


def _compile_once(kind: str) -> None:
    """Import what a server imports where Python can keep it compiled; a box is read-only."""
    told_by = {"kernels": "ipykernel.kernelapp", "attacks": ""}.get(kind, "_pytest.python")
    spec = importlib.util.find_spec(told_by) if told_by else None
    if spec and spec.cached and not Path(spec.cached).is_file():
        program = [sys.executable, *ISOLATED, str(ZYGOTE), "compile", kind]
        subprocess.run(program, check=False, stdin=subprocess.DEVNULL, env=_ENVIRONMENT)  # noqa: S603  ours


def _launch(command: list[str], control: int, kind: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603  our own script, by its full path
        command,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if kind == "attacks" else None,
        pass_fds=(control,),
        env=_ENVIRONMENT,
        start_new_session=True,
    )


def _identified(shown: Shown) -> dict[str, tuple[int, int]] | None:
    """Say which folders these are; one of the same name may have taken the place of another."""
    if shown is None:
        return None
    about = {path: os.stat(path) for path in shown}  # noqa: PTH116
    return {path: (found.st_dev, found.st_ino) for path, found in about.items()}


def fork(
    kind: str,
    arguments: Sequence[Any],
    environment: dict[str, str],
    connection: int | None = None,
    *,
    listen: bool = True,
    shown: Shown = None,
) -> Fork:
    """Fork a child from the server of a kind: ``jobs``, ``kernels``, ``parts`` or ``attacks``.

    It runs in a box where ``shown`` lists the folders to be in it. ``connection`` is a descriptor
    that the child gets; its output comes through ``stdout`` where ``listen`` is set, and goes
    nowhere otherwise.
    """
    reader, writer = os.pipe() if listen else (None, os.open(os.devnull, os.O_WRONLY))
    nothing = os.open(os.devnull, os.O_RDWR)
    descriptors = (writer, nothing if connection is None else connection)
    stdout = os.fdopen(reader, "rb", buffering=0) if reader is not None else None
    try:
        try:
            return _server(kind, shown).fork(arguments, environment, descriptors, stdout)
        except ForkServerGone:
            # The last child took it along; a fresh one that fails is a fault of ours.
            return _server(kind, shown, anew=True).fork(arguments, environment, descriptors, stdout)
    finally:
        os.close(writer)
        os.close(nothing)


def end_session(pid: int) -> None:
    """End a child and what shares its session; 0 is a child that nobody knows."""
    if pid:  # 0 would be this process's own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def server_pids() -> set[int]:
    """List the process ids of this process's fork servers."""
    return {pid for server in _SERVERS.values() for pid in server.pids}


def retire(kind: str) -> None:
    """End the server of a kind, if there is one; the next fork starts another."""
    if kind in _SERVERS:
        _SERVERS.pop(kind).close()


def _server(kind: str, shown: Shown, *, anew: bool = False) -> ForkServer:
    if kind in _SERVERS and (anew or not _SERVERS[kind].serves(shown)):
        retire(kind)
    if kind not in _SERVERS:
        _SERVERS[kind] = ForkServer(kind, shown)
    return _SERVERS[kind]
