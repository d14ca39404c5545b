"""Worker processes for a class: each ends what its submissions leave behind."""

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from instructor.sandbox.confine import die_with_parent, leave_out_slow_formats
from instructor.sandbox.process import adopt_orphans, end_strays, running_below

SUBMISSIONS_A_WORKER = 20


@contextlib.contextmanager
def open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of workers; when this is left early, they end at once with all they started.

    A worker is replaced now and then, so that what libraries leak in it cannot pile up.
    """
    before = running_below()
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        max_tasks_per_child=SUBMISSIONS_A_WORKER,
    )
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_strays(before)
        raise


def _start_worker() -> None:
    """Prepare a worker process: whatever its children leave behind becomes its own to end."""
    # Ctrl-C goes to every process of a terminal; the main one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    leave_out_slow_formats()
    adopt_orphans()
