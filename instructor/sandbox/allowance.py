"""Time for what the grader's own process does with a stranger's data: so much, and no more.

The course's gates answer outside of the sandbox, and a small file can keep one busy for hours.
"""

import ctypes
import functools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How often it is looked whether time is up.
LOOK_SECONDS = 0.2


class TookTooLong(Exception):  # noqa: N818  what came of it, not a fault of ours
    """What was handed in keeps the grader busy for longer than it may."""


class Allowance:
    """Seconds for one submission on one workshop, spent in pieces."""

    def __init__(self, seconds: float) -> None:
        """Begin with all of them."""
        self.seconds = self._left = seconds

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Do a piece of work; raise ``TookTooLong`` in the midst of it when all is spent."""
        if self._left <= 0:
            raise TookTooLong(self._said())
        watchdog, began = _watchdog(), time.monotonic()
        try:
            watchdog.begin(began + self._left)
            yield
        except TookTooLong as error:
            raise TookTooLong(self._said()) from error
        finally:
            # It may come just now; no step is taken here outside of the inner try.
            while True:
                try:
                    watchdog.end()
                    break
                except TookTooLong:
                    continue
            self._left -= time.monotonic() - began

    def _said(self) -> str:
        return f"it keeps a right gate busy for longer than {self.seconds:g} seconds"


class _Watchdog:
    """A thread that raises ``TookTooLong`` in the one that works, once its time is up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._due: tuple[float, int] | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, due: float) -> None:
        with self._lock:
            self._due = due, threading.get_ident()

    def end(self) -> None:
        """Watch no longer; what was raised and has not arrived yet is taken back."""
        with self._lock:
            self._due = None
            _raise_in(threading.get_ident(), None)

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with self._lock:
                # Again at each look, for whatever is at work may have caught it.
                if self._due and time.monotonic() > self._due[0]:
                    _raise_in(self._due[1], TookTooLong)


@functools.cache
def _watchdog() -> _Watchdog:
    return _Watchdog()


def _raise_in(thread: int, error: type[Exception] | None) -> None:
    """Have an error raised in a thread at its next step, or take back what is on its way."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
