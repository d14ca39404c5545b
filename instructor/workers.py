"""Worker processes for a class: each ends what its submissions leave behind."""

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from instructor.judging import Job, failed_report, judge_submission
from instructor.report.model import Report
from instructor.sandbox.confine import die_with_parent, leave_out_slow_formats
from instructor.sandbox.strays import adopt_orphans, end_strays, running_below

SUBMISSIONS_A_WORKER = 20


def judge_all(jobs: list[Job], workers: int) -> Iterator[tuple[Job, Report]]:
    """Yield reports as they come; a worker that dies costs only the submission that it held."""
    left = dict(enumerate(jobs))
    with contextlib.suppress(BrokenProcessPool), open_pool(workers) as pool:
        futures = {pool.submit(judge_in_worker, job): number for number, job in left.items()}
        for number, report in _results(futures):
            yield left.pop(number), report
    for job in left.values():
        with open_pool(1) as pool:
            try:
                report = pool.submit(judge_in_worker, job).result()
            except BrokenProcessPool:
                reason = "It could not be graded: it took the grader's own process down"
                report = failed_report(job, reason)
        yield job, report


def judge_in_worker(job: Job) -> Report:
    """Judge one submission; end every process that it left behind, whatever happened."""
    try:
        return judge_submission(job)
    except Exception as error:  # noqa: BLE001  one submission must never stop the class
        return failed_report(job, f"It could not be graded: {type(error).__name__}: {error}")
    finally:
        end_strays(set())


@contextlib.contextmanager
def open_pool(workers: int) -> Iterator[Executor]:
    """Open a pool of workers; when this is left early, they end at once with all they started.

    A worker is replaced now and then, so that what libraries leak in it cannot pile up.
    """
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=prepare_worker,
        max_tasks_per_child=SUBMISSIONS_A_WORKER,
    )
    with ending(pool):
        yield pool


@contextlib.contextmanager
def ending(pool: Executor) -> Iterator[Executor]:
    """Use a pool; when this is left early, every process that it started ends at once."""
    before = running_below()
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_strays(before)
        raise


def _results(futures: dict[Future[Report], int]) -> Iterator[tuple[int, Report]]:
    for future in as_completed(futures):
        yield futures[future], future.result()


def prepare_worker() -> None:
    """Prepare a worker process: whatever its children leave behind becomes its own to end."""
    # Ctrl-C goes to every process of a terminal; the main one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    leave_out_slow_formats()
    adopt_orphans()
