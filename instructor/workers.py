"""Submissions through any executor, a few in hand at a time; and the pool of this machine."""

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)

from instructor import CourseError
from instructor.in_worker import Parcel, judge_in_worker, pack
from instructor.judging import Job, failed_report, judge_submission
from instructor.report.model import Report, report_from_json
from instructor.sandbox.confine import collect_seldom, die_with_parent, leave_out_slow_formats
from instructor.sandbox.strays import adopt_orphans, end_strays, running_below
from instructor.sandbox.tiers import settle, tier_in_force

# What libraries leak in a worker must not pile up.
SUBMISSIONS_A_WORKER = 50
# What a worker has waiting while it judges, so that it is never idle.
IN_HAND_A_WORKER = 2
# Address space of a worker, in bytes; it needs a fraction of it. Linux holds to this, macOS not.
WORKER_MEMORY = 3 << 30


class Line:
    """Jobs in line for an executor: those to come, and those in hand.

    Only those in hand have been packed, so a large class takes no more memory than a small one.
    Where the executor breaks, ``BrokenExecutor`` is raised and both lists say what is not judged.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        executor: Executor,
        room: Callable[[], int],
        packed: Callable[[Job], Parcel | Report] = pack,
    ) -> None:
        """Take the jobs; ``room`` says how many may be in hand, ``packed`` how one travels.

        ``packed`` may give a report instead, where one is known.
        """
        self.left = deque(jobs)
        self.in_hand: dict[Future[Parcel], Job] = {}
        self._executor, self._room, self._packed = executor, room, packed

    def __iter__(self) -> Iterator[tuple[Job, Report]]:
        """Yield each job with its report as soon as it is there."""
        while self.left or self.in_hand:
            while self.left and len(self.in_hand) < self._room():
                job = self.left[0]
                known = self._send(job)
                self.left.popleft()
                if known is not None:
                    yield job, known
            done, _ = wait(self.in_hand, return_when=FIRST_COMPLETED)
            for future in done:
                report = self._report(future)
                yield self.in_hand.pop(future), report

    def _send(self, job: Job) -> Report | None:
        """Send a job on its way, or give its report where nothing has to be judged."""
        if job.folder is None:
            return judge_submission(job)
        parcel = self._packed(job)
        if isinstance(parcel, Report):
            return parcel
        self.in_hand[self._executor.submit(judge_in_worker, parcel)] = job
        return None

    def _report(self, future: Future[Parcel]) -> Report:
        try:
            answer = future.result()
        except (BrokenExecutor, CancelledError):
            raise
        except Exception as error:  # noqa: BLE001  one submission must never stop the class
            reason = f"It could not be graded: {type(error).__name__}: {error}"
            return failed_report(self.in_hand[future], reason)
        if "refused" in answer:
            raise CourseError(answer["refused"])
        return report_from_json(answer["report"])


def judge_all(jobs: list[Job], workers: int) -> Iterator[tuple[Job, Report]]:
    """Yield reports as they come; a worker that dies costs only the submission that it held."""
    left = list(jobs)
    while left:
        # The pool's own way to replace its workers stops for good in Python 3.11 (gh-115634).
        batch, left = left[: workers * SUBMISSIONS_A_WORKER], left[workers * SUBMISSIONS_A_WORKER :]
        with contextlib.suppress(BrokenExecutor), open_pool(min(workers, len(batch))) as pool:
            line = Line(batch, pool, lambda: workers * IN_HAND_A_WORKER)
            yield from line
        # Who took the worker down shows when each is alone.
        for job in line.in_hand.values():
            yield job, _judge_alone(job)
        left = [*line.left, *left]


def _judge_alone(job: Job) -> Report:
    try:
        with open_pool(1) as pool:
            ((_, report),) = Line([job], pool, lambda: 1)
            return report
    except BrokenExecutor:
        return failed_report(job, "It could not be graded: it took the grader's own process down")


@contextlib.contextmanager
def open_pool(workers: int) -> Iterator[Executor]:
    """Open a pool of workers; when this is left early, they end at once with all they started."""
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=prepare_worker,
        initargs=(tier_in_force(),),
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


def prepare_worker(tier: str = "") -> None:
    """Prepare a worker process of this machine's pool: it ends when the grader does.

    ``tier`` is what the process that opens the pool has established, if it has.
    """
    if tier:
        settle(tier)
    # Ctrl-C goes to every process of a terminal; the main one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    leave_out_slow_formats()
    collect_seldom()
    adopt_orphans()
    _limit_memory()


def _limit_memory() -> None:
    """Keep what a stranger's file or message grows to from taking the machine's memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (WORKER_MEMORY, most))
