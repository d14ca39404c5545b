"""The paces of a class, read from the submissions' commits: in parallel, no one stops another."""

import tempfile
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from datetime import datetime
from pathlib import Path

from instructor.history import UNREADABLE, History, read_history
from instructor.judging import Job
from instructor.report.pace import Pace, pace_of
from instructor.sandbox.quota import clear_away
from instructor.sandbox.strays import end_strays
from instructor.workers import open_pool


def read_paces(jobs: list[Job], workers: int, began: datetime | None) -> list[Pace]:
    """Read the pace of every submission, in order; one that cannot be read says so."""
    histories = dict(_histories(jobs, workers))
    broken = History(note=UNREADABLE)
    return [pace_of(job.name, histories.get(job.name, broken), began) for job in jobs]


def history_in_worker(job: Job) -> History:
    """Read one history; end every process that is left behind, whatever happened."""
    place = Path(tempfile.mkdtemp(dir=job.scratch))
    try:
        return read_history(job, place)
    except Exception as error:  # noqa: BLE001  one submission must never stop the class
        return History(note=f"{UNREADABLE} ({type(error).__name__})")
    finally:
        end_strays(set())
        clear_away(place)


def _histories(jobs: list[Job], workers: int) -> Iterator[tuple[str, History]]:
    with open_pool(workers) as pool:
        futures = [(job.name, pool.submit(history_in_worker, job)) for job in jobs]
        for name, future in futures:
            try:
                yield name, future.result()
            except BrokenProcessPool:
                continue
