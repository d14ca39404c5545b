"""How fast is grading? Measured against plain tools that do the same work in the same run."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from instructor.benchmark.growth import Size, copy_of, grow
from instructor.benchmark.ours import judge_in_pieces
from instructor.benchmark.rivals import Grader, compare_rivals, python_with_rivals
from instructor.benchmark.rounds import Compared, compare
from instructor.benchmark.spent import Spent
from instructor.classroom import build_class, build_reference, load_pairs
from instructor.grade import Options, known_workshops
from instructor.sandbox import tier
from instructor.sandbox.copies import folder_for_copies
from instructor.workers import open_pool
from lab.workshop import Workshop

# How often the one notebook is graded by each grader.
NOTEBOOKS = 5
Said = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to measure: how many submissions, how often, how many at once, classes of what sizes."""

    workshop: str = ""
    submissions: int = 4
    rounds: int = 1
    workers: tuple[int, ...] = (1, 2)
    growth: tuple[int, ...] = (10, 50)
    rivals: str = ""


@dataclass
class Results:
    """What was measured; ``pieces`` and ``plain`` are by kind of work, ``whole`` by workers."""

    workshop: str
    sandbox: str
    cores: int
    load: float
    submissions: int
    rounds: int
    pieces: Spent = field(default_factory=Spent)
    plain: Spent = field(default_factory=Spent)
    whole: dict[int, Compared] = field(default_factory=dict)
    growth: list[Size] = field(default_factory=list)
    rivals: list[Grader] = field(default_factory=list)

    @property
    def differing(self) -> list[str]:
        """List what the two ways judged otherwise, in any round."""
        return list(
            dict.fromkeys(line for found in self.whole.values() for line in found.differing())
        )

    @property
    def outcomes(self) -> int:
        """Count the outcomes that were compared."""
        first = next(iter(self.whole.values()), Compared())
        return sum(len(outcomes) for outcomes in first.plain.values())


def measure(plan: Plan, said: Said) -> Results:
    """Measure all of a plan; ``said`` is told how far it has come."""
    workshop = known_workshops((plan.workshop,) if plan.workshop else ())[0]
    found = Results(
        workshop.id, tier(), os.cpu_count() or 1, os.getloadavg()[0], plan.submissions, plan.rounds
    )
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folders = sample(workshop, place, plan.submissions)
        (on_disk := place / "scratch").mkdir()
        # Whatever is measured copies to the same place, ours or not.
        with folder_for_copies(on_disk, max(plan.workers, default=1)) as scratch:
            _measure_ways(plan, workshop, folders, scratch, found, said)
        options = Options((workshop.id,), workers=max(plan.workers, default=2))
        found.growth = grow(plan.growth, folders, workshop, place, options, said)
    return found


def _measure_ways(
    plan: Plan,
    workshop: Workshop,
    folders: list[Path],
    scratch: Path,
    found: Results,
    said: Said,
) -> None:
    """Measure the same submissions both ways, whole and in pieces, and one notebook by all."""
    for workers in plan.workers:
        found.whole[workers] = compare(folders, workshop, scratch, workers, plan.rounds)
        said(f"{len(folders)} submissions judged both ways with {workers} at once")
    if found.whole:
        found.plain = found.whole[min(found.whole)].spent
    with open_pool(1) as pool:
        # The first one starts the fork servers, and is not counted.
        every = [folders[0], *folders * plan.rounds]
        futures = [pool.submit(judge_in_pieces, each, workshop, scratch) for each in every]
        for future in futures[1:]:
            found.pieces.add(future.result().spent)
    said("piece by piece measured")
    if python := plan.rivals or python_with_rivals():
        found.rivals = compare_rivals(python, workshop, scratch, NOTEBOOKS)
        said("one notebook graded by others and by ours")


def sample(workshop: Workshop, place: Path, number: int) -> list[Path]:
    """Make submissions: ours, pairs of the sample class with this workshop alone, and copies.

    Grading does not look at what waits for an earlier block, and plain tools do, so a pair with
    such a block would favour us.
    """
    names = [
        pair.name
        for pair in load_pairs()
        if pair.workshops == (workshop.id,) and "blocked" not in pair.outcomes.values()
    ]
    chosen = names[: number - 1]
    if chosen:
        build_class(place / "sample", datetime.now(UTC), chosen)
    build_reference([workshop], place / "sample" / "reference")
    folders = [place / "sample" / name for name in ["reference", *chosen]]
    for more in range(len(folders), number):
        copy_of(folders[more % len(folders)], place / "sample" / f"more-{more}", workshop, more)
        folders.append(place / "sample" / f"more-{more}")
    return folders
