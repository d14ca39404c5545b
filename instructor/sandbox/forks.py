"""The grader's side of the fork servers: one of each kind a process, started when it is needed."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

ZYGOTE = Path(__file__).with_name("zygote.py")
# No site of the user's, no script's folder on the path, no compiled files; the environment is ours.
ISOLATED = ("-s", "-P", "-B", "-X", "utf8")
_SERVERS: dict[str, "ForkServer"] = {}


class ForkServerGone(Exception):  # noqa: N818  said to whoever can start another
    """The fork server has ended; a child of it may have ended it."""


class Fork:
    """A child of a fork server; what ``subprocess.Popen`` offers and is used here."""

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
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the child and what shares its session, also where the child itself has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """One running ``zygote.py``."""

    def __init__(self, kind: str) -> None:
        """Start a server; it is ready when it answers its first request."""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  our own script, by its full path
                [sys.executable, *ISOLATED, str(ZYGOTE), str(theirs.fileno()), kind],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._unread = b""
        self._last: Fork | None = None

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
            pid = self.next_number(None)
        except OSError as error:
            raise ForkServerGone from error
        if pid is None:
            raise ForkServerGone
        self._last = Fork(self, pid, stdout)
        return self._last

    def next_number(self, timeout: float | None) -> int | None:
        """Read the next number that the server says; None when it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._unread:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._control], [], [], left)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            data = self._control.recv(100)
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


def fork(
    kind: str,
    arguments: Sequence[Any],
    environment: dict[str, str],
    connection: int | None = None,
    *,
    listen: bool = True,
) -> Fork:
    """Fork a child from the server of a kind: ``jobs`` or ``kernels``.

    ``connection`` is a descriptor that the child gets; its output comes through ``stdout`` where
    ``listen`` is set, and goes nowhere otherwise.
    """
    reader, writer = os.pipe() if listen else (None, os.open(os.devnull, os.O_WRONLY))
    nothing = os.open(os.devnull, os.O_RDWR)
    descriptors = (writer, nothing if connection is None else connection)
    stdout = os.fdopen(reader, "rb", buffering=0) if reader is not None else None
    try:
        try:
            return _server(kind).fork(arguments, environment, descriptors, stdout)
        except ForkServerGone:
            # The last child took it along; a fresh one that fails is a fault of ours.
            return _server(kind, anew=True).fork(arguments, environment, descriptors, stdout)
    finally:
        os.close(writer)
        os.close(nothing)


def server_pids() -> set[int]:
    """List the process ids of this process's fork servers."""
    return {server.pid for server in _SERVERS.values()}


def _server(kind: str, *, anew: bool = False) -> ForkServer:
    if anew and kind in _SERVERS:
        _SERVERS.pop(kind).close()
    if kind not in _SERVERS:
        _SERVERS[kind] = ForkServer(kind)
    return _SERVERS[kind]
