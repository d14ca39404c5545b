"""Processes that judge for the live board: one job at a time each, replaced when one is lost."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

import psutil

from instructor.sandbox.tiers import tier_in_force
from instructor.workers import prepare_worker

# What libraries leak in a process must not pile up over a session; starting one costs a second.
JOBS_A_WORKER = 400
Job = TypeVar("Job")
Result = TypeVar("Result")


class WorkerLost(Exception):  # noqa: N818  about one job; the board gives it once more
    """A job took its worker down, or was not done in time; the text says which."""


class Worker:
    """One process of its own for one job at a time."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._pool: ProcessPoolExecutor | None = None
        self._pid = 0
        self._jobs = 0

    async def do(self, function: Callable[[Job], Result], job: Job, seconds: float) -> Result:
        """Do a job in the process; raise ``WorkerLost`` when it is not done in so many seconds."""
        try:
            pool = await self._ready()
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(function, job)), seconds)
        except BrokenProcessPool as error:
            self.end()
            raise WorkerLost("it took the process down that looked at it") from error
        except TimeoutError as error:
            self.end()
            raise WorkerLost(f"it was not done after {seconds:g} seconds") from error

    def end(self) -> None:
        """End the process with everything that it started, at once."""
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        pid, self._pool, self._pid = self._pid, None, 0
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid) if pid else None
            for one in [*process.children(recursive=True), process] if process else ():
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()

    async def _ready(self) -> ProcessPoolExecutor:
        self._jobs += 1
        if self._pool and self._jobs > JOBS_A_WORKER:
            self.end()
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                1, mp_context=context, initializer=prepare_worker, initargs=(tier_in_force(),)
            )
            self._jobs = 1
            known = {child.pid for child in multiprocessing.active_children()}
            with _without_interrupts():
                asked = self._pool.submit(os.getpid)
            # Known at once, so that a process that is still starting can be ended too.
            new = (child.pid for child in multiprocessing.active_children())
            self._pid = next((pid for pid in new if pid and pid not in known), 0)
            await asyncio.wrap_future(asked)
        return self._pool


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from a process that starts in here: whoever started it ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
