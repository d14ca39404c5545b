"""A log on the disk, open for writing: each event is safe there before anybody is told of it."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from instructor import CourseError
from instructor.session.log import Event, SessionLog, event_line, plan_line, read_log
from instructor.session.plan import Plan


class Journal:
    """One session's log: what it holds, and how it grows."""

    def __init__(self, path: Path, log: SessionLog, descriptor: int) -> None:
        """Take a log as it was read, and the descriptor to append to."""
        self.path = path
        self.plan = log.plan
        self.events = list(log.events)
        self._descriptor = descriptor

    def append(self, event: Event) -> None:
        """Write an event to the disk, then remember it."""
        _write(self._descriptor, event_line(event))
        self.events.append(event)


@contextlib.contextmanager
def open_journal(path: Path, plan: Plan, now: datetime) -> Iterator[Journal]:
    """Begin a log with a plan, or go on with the one that is there; it is ours until the end.

    A log that is there keeps its own plan. Raises ``CourseError`` where it belongs to another
    workshop, cannot be read, or another session writes to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise CourseError(
            f"{path} cannot be written: {error.strerror}. Name another --log."
        ) from error
    try:
        _hold(path, descriptor)
        if os.fstat(descriptor).st_size == 0:
            _write(descriptor, plan_line(plan, now))
        log = read_log(path)
        if log.plan.workshop != plan.workshop:
            raise CourseError(
                f"{path} is the log of {log.plan.workshop}, and this session is of "
                f"{plan.workshop}. Name another --log."
            )
        if log.cut_off:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - log.cut_off)
        yield Journal(path, log, descriptor)
    finally:
        os.close(descriptor)


def choose_log(folder: Path, workshop: str, today: str) -> Path:
    """Choose today's log of a workshop: the one that has not ended, else a new one."""
    number = 1
    while True:
        name = f"{workshop}-{today}.jsonl" if number == 1 else f"{workshop}-{today}-{number}.jsonl"
        path = folder / name
        if not path.exists() or path.stat().st_size == 0 or not read_log(path).ended:
            return path
        number += 1


def _hold(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CourseError(
            f"Another session writes to {path}. End that one, or name another --log."
        ) from error


def _write(descriptor: int, line: str) -> None:
    """Write a line whole or not at all: a full disk must not leave half of one for the next."""
    size = os.fstat(descriptor).st_size
    data = line.encode()
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
