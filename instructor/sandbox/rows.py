"""Rows of a job: how a child asks for them, and how forks of it serve them. Standard library only.

The process that forks runs not one line of a student's code. With ``serve_each`` every row finds a
fresh process; with ``serve_together`` a row finds one after a row that has ended it.
"""

import contextlib
import json
import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

# This many rows may use up their whole limit; after them it shrinks.
PATIENCE = 3
SHRINKS = 20
# Limits are CPU time, so that a busy machine changes no verdict; code that only waits gets this
# many times as long by the clock.
WAITING = 3

Row = dict[str, Any]


class Line:
    """The connection to the grader: one JSON value a line, both ways."""

    def __init__(self, number: int) -> None:
        """Take over an inherited socket."""
        self._file = socket.socket(fileno=number).makefile("rwb")

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()

    def ask(self, message: dict[str, Any]) -> Any:
        """Send one message and wait for its reply."""
        self.send(message)
        return self.receive()

    def receive(self) -> Any:
        """Wait for one message."""
        return json.loads(self._file.readline())


class Ending(NamedTuple):
    """How a fork ended: no kind and no text where it came to its own end."""

    kind: str
    text: str


DONE = Ending("", "")


def rows_from(line: Line) -> Iterator[Row]:
    """Ask the grader for one row after the other, so that no more than one is ever in here."""
    while True:
        row = line.ask({"call": "next row"})["row"]
        if row is None:
            return
        yield row


def serve_each(line: Line, seconds: float, serve: Callable[[Row], None]) -> None:
    """Serve each row in a fork of its own, so that none can disturb another."""
    limit_cpu_time(0)
    for row in rows_from(line):
        ending = in_fork(partial(serve, row), seconds)
        line.send({"id": row["id"], "ending": ending.text})


def serve_together(line: Line, seconds: float, serve: Callable[[Iterator[Row]], None]) -> None:
    """Serve rows in one fork, one after another; a row that ends it costs only itself.

    The next fork goes on with the row after that. A fork that ends before it has asked for a row
    will not do better a second time.
    """
    limit_cpu_time(0)
    begun = mmap.mmap(-1, mmap.PAGESIZE)
    last, hung = None, 0
    while True:
        limit = seconds if hung < PATIENCE else seconds / SHRINKS
        ending = in_fork(partial(_serve_limited, line, limit, begun, serve), seconds, begun)
        at_hand = line.ask({"call": "row at hand"})
        if ending == DONE and not at_hand["left"]:
            return
        ended = Ending("crash", how_it_ended(0)) if ending == DONE else ending
        if at_hand["row"] == last:
            line.send({"trouble": ended.text})
            return
        last = at_hand["row"]
        hung += ended.kind == "hang"
        line.send({"id": last, "verdict": ended.kind, "text": ended.text, "ending": ended.text})


def _serve_limited(
    line: Line, seconds: float, begun: mmap.mmap, serve: Callable[[Iterator[Row]], None]
) -> None:
    serve(_limited(rows_from(line), seconds, begun))
    if threads := threading.active_count() - 1:
        line.send({"threads": threads})


def _limited(rows: Iterator[Row], seconds: float, begun: mmap.mmap) -> Iterator[Row]:
    """Give each row its own CPU time, and count those that are begun where the parent sees it."""
    for number, row in enumerate(rows, start=1):
        begun[:8] = number.to_bytes(8, "little")
        limit_cpu_time(seconds)
        yield row


def in_fork(work: Callable[[], None], seconds: float, begun: mmap.mmap | None = None) -> Ending:
    """Do something in a fork, end it when its time is up, and say how it ended.

    ``begun`` changes whenever the work begins something that has a time of its own.
    """
    child = os.fork()
    if not child:
        limit_cpu_time(seconds)
        sys.modules["_courseware_confine"].seal()
        work()
        os._exit(0)
    code = _wait(child, WAITING * seconds, begun)
    if code is None or code == -signal.SIGPROF:
        return Ending("hang", f"it was not done after {seconds:g} seconds")
    return Ending("crash", how_it_ended(code)) if code else DONE


def how_it_ended(code: int) -> str:
    """Say what an exit code means; a negative one is the number of a signal."""
    if code >= 0:
        return f"it ended Python itself (exit code {code})"
    name = signal.Signals(-code).name
    used_up = "it used up its CPU time"
    reasons = {"SIGXCPU": used_up, "SIGPROF": used_up, "SIGKILL": "it was killed at a limit"}
    return reasons.get(name, f"it crashed Python ({name})")


def _wait(child: int, seconds: float, begun: mmap.mmap | None) -> int | None:
    """Wait for a fork's end and give its exit code; end it and give None when time is up.

    Where the system offers a descriptor of a process, this wakes up as soon as it has ended.
    """
    since, seen = time.monotonic(), begun[:8] if begun else b""
    watched = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    pause = 0.001
    try:
        while time.monotonic() - since < seconds:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if begun and begun[:8] != seen:
                since, seen = time.monotonic(), begun[:8]
            select.select([] if watched is None else [watched], [], [], pause)
            pause = min(2 * pause, 0.02 if watched is None else 0.2)
    finally:
        if watched is not None:
            os.close(watched)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def limit_cpu_time(seconds: float) -> None:
    """Have this process end with SIGPROF after so many seconds of CPU time; 0 takes that back."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
