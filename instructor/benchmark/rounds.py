"""Whole submissions, ours and plain, in turns, so that whatever else runs here slows both."""

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from instructor.benchmark.spent import Judged, Spent
from instructor.benchmark.stock import judge_plainly, ready
from instructor.judging import Job
from instructor.report.model import Report
from instructor.workers import IN_HAND_A_WORKER, Line, open_pool
from lab.workshop import Workshop


@dataclass
class Compared:
    """Seconds for each submission of a batch, and the outcomes of the last round."""

    stock: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    plain: dict[str, dict[str, str]] = field(default_factory=dict)
    judged: dict[str, dict[str, str]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    def differing(self) -> list[str]:
        """Name each evidence of each submission that the two judge otherwise."""
        return [
            f"{name}: {evidence} is {outcome} by plain means, {ours} by ours"
            for name, outcomes in self.plain.items()
            for evidence, outcome in outcomes.items()
            if (ours := self.judged[name].get(evidence)) != outcome
        ]


def compare(
    folders: Sequence[Path], workshop: Workshop, scratch: Path, workers: int, rounds: int
) -> Compared:
    """Judge the same submissions both ways, round by round, with so many workers each."""
    found = Compared()
    spawn = multiprocessing.get_context("spawn")
    with open_pool(workers) as ours, ProcessPoolExecutor(workers, mp_context=spawn) as plain:
        _warm(folders[0], workshop, scratch, ours, plain, workers)
        for _ in range(rounds):
            found.ours.append(_time_ours(folders, workshop, scratch, ours, workers, found))
            found.stock.append(_time_plain(folders, workshop, scratch, plain, found))
    return found


def _warm(
    folder: Path, workshop: Workshop, scratch: Path, ours: Executor, plain: Executor, workers: int
) -> None:
    """Have every worker started, and our fork servers too: both are compared at their pace."""
    for future in [plain.submit(ready) for _ in range(workers)]:
        future.result()
    jobs = [Job(f"warm-{n}", folder, (workshop,), scratch) for n in range(workers)]
    list(Line(jobs, ours, lambda: workers))


def _time_ours(
    folders: Sequence[Path],
    workshop: Workshop,
    scratch: Path,
    pool: Executor,
    workers: int,
    found: Compared,
) -> float:
    jobs = [Job(folder.name, folder, (workshop,), scratch) for folder in folders]
    began = time.monotonic()
    for job, report in Line(jobs, pool, lambda: workers * IN_HAND_A_WORKER):
        found.judged[job.name] = outcomes_of(report)
    return (time.monotonic() - began) / len(folders)


def _time_plain(
    folders: Sequence[Path], workshop: Workshop, scratch: Path, pool: Executor, found: Compared
) -> float:
    began = time.monotonic()
    futures = {
        f.name: pool.submit(judge_plainly, str(f), workshop.id, str(scratch)) for f in folders
    }
    for name, future in futures.items():
        judged = Judged.from_json(future.result())
        found.plain[name] = judged.outcomes
        found.spent.add(judged.spent)
    return (time.monotonic() - began) / len(folders)


def outcomes_of(report: Report) -> dict[str, str]:
    """Give the outcome of each evidence of a report, by its id."""
    return {item.id: item.outcome for item in report.all_evidence}
