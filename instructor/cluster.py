"""Grading beyond one machine: the same line of jobs, over a cluster of dask.distributed.

A snapshot is taken here and travels as bytes; its report comes back as plain JSON and is kept here.
The answers are on every worker, so workers are machines of the teacher's own.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instructor import CourseError
from instructor.in_worker import Parcel, difference, made_with, pack
from instructor.intake.landing import Snapshot
from instructor.judging import Job, failed_report, snapshot_of
from instructor.report.model import Report
from instructor.sandbox.quota import clear_away
from instructor.sandbox.tiers import C
from instructor.workers import IN_HAND_A_WORKER, Line

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
INSTALL = "Install it: uv sync --extra dask (or pip install -e '.[dask]')."
START = "Start one with: dask worker {address} --nthreads 1, in a checkout of this course."


def judge_on_cluster(jobs: list[Job], address: str, wanted: str) -> Iterator[tuple[Job, Report]]:
    """Yield reports as they come from a cluster's workers; each has at least the tier ``wanted``.

    Raises ``CourseError`` where the cluster cannot be used, or is lost on the way.
    """
    with _connected(address) as client:
        post = _Post(_check_workers(client, address), wanted)
        room = lambda: IN_HAND_A_WORKER * max(1, sum(client.nthreads().values()))  # noqa: E731
        executor = client.get_executor(pure=False)
        try:
            for job, report in Line(jobs, executor, room, post.packed):
                post.keep(job, report)
                yield job, report
        except CancelledError as error:
            raise CourseError(
                f"The connection to {address} was lost. What was graded is kept: start the "
                "cluster again and run the same command."
            ) from error
        finally:
            executor.shutdown(wait=False)


class _Post:
    """What is on its way: each job's key, so that its report can be kept when it comes."""

    def __init__(self, versions: dict[str, str], wanted: str) -> None:
        self._wanted = wanted or C
        self._more = {"versions": versions, "tier": wanted, "kept": None}
        self._keys: dict[Job, str] = {}

    def packed(self, job: Job) -> Parcel | Report:
        """Pack a job's files as bytes, or give its report where it is known or cannot be made."""
        place = Path(tempfile.mkdtemp(dir=job.scratch))
        try:
            snapshot = snapshot_of(job, place)
            known = self._known(job, snapshot)
            return known or {**_packed(job, snapshot), **self._more}
        except Exception as error:  # noqa: BLE001  one submission must never stop the class
            return failed_report(job, f"It could not be graded: {type(error).__name__}: {error}")
        finally:
            clear_away(place)

    def keep(self, job: Job, report: Report) -> None:
        """Keep a report under its job's key, unless a worker held the code less than was asked."""
        key = self._keys.pop(job, "")
        if job.kept and key and report.sandbox <= self._wanted:
            job.kept.write(key, report)

    def _known(self, job: Job, snapshot: Snapshot) -> Report | None:
        if job.kept is None:
            return None
        key = job.kept.key(snapshot, [workshop.id for workshop in job.workshops])
        known = job.kept.read(key, job.name)
        if known is None:
            self._keys[job] = key
        return known


def _packed(job: Job, snapshot: Snapshot) -> Parcel:
    root = snapshot.path
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    parcel = pack(replace(job, remarks=tuple(snapshot.remarks)))
    del parcel["folder"], parcel["scratch"]  # they are of this machine
    return {**parcel, "files": files}


@contextlib.contextmanager
def _connected(address: str) -> Iterator["Client"]:
    try:
        from distributed import Client
    except ImportError as error:
        raise CourseError(f"--dask needs the package distributed. {INSTALL}") from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"No dask scheduler answers at {address}. Expected an address such as "
            "tcp://192.168.1.10:8786; start one with: dask scheduler."
        ) from error
    with client:
        yield client


def _check_workers(client: "Client", address: str) -> dict[str, str]:
    """Give what this machine grades with; raise ``CourseError`` where a worker has another."""
    here = made_with()
    try:
        found: dict[str, Any] = client.run(made_with)
    except Exception as error:
        raise CourseError(
            f"A worker at {address} cannot grade: {type(error).__name__}: {error}. "
            f"{START.format(address=address)}"
        ) from error
    if not found:
        raise CourseError(
            f"The cluster at {address} has no worker. {START.format(address=address)}"
        )
    for worker, there in found.items():
        if problem := difference(there, here):
            raise CourseError(f"The worker {worker} cannot be used: {problem}, and restart it.")
    return here
