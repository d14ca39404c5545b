"""What a class's reports say together: what most have not got, and who stands apart."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from instructor.report.model import NOTHING, BlockReport, EvidenceReport, Report

MOST_SHOWN = 8
# A block that so many of the class have is one that a pair without it needs help with.
MOST_HAVE_IT = 0.75
FEWEST_PAIRS = 4


@dataclass(frozen=True)
class Total:
    """One graded check over a class: how many it fails for, of how many, and what one was told.

    Where it waits for an earlier block, nobody was asked yet.
    """

    workshop: str
    title: str
    failing: int
    asked: int
    example: str


@dataclass(frozen=True)
class Outlier:
    """A submission that a teacher should look at first, and why."""

    submission: str
    reason: str


def totals(reports: Sequence[Report]) -> list[Total]:
    """Count each graded check of the class in the order of the labs; a check waiting is not asked.

    A check is known by its workshop and title: two workshops may give theirs the same id.
    """
    checks: dict[tuple[str, str], list[EvidenceReport]] = {}
    for workshop in (workshop for report in reports for workshop in report.workshops):
        for item in workshop.all_evidence:
            # Who handed in nothing says nothing about what is hard.
            if item.graded and not item.found.startswith(NOTHING):
                checks.setdefault((workshop.title, item.title), []).append(item)
    return [_total(*check, items) for check, items in checks.items()]


def common_problems(reports: Sequence[Report]) -> list[Total]:
    """Give what fails for most of the class, the most frequent first."""
    failing = [total for total in totals(reports) if total.failing]
    return sorted(failing, key=lambda total: -total.failing)[:MOST_SHOWN]


def outliers(reports: Sequence[Report]) -> list[Outlier]:
    """Name who stands apart: who could not be judged, and who lacks a block that most have.

    Of the blocks that most have, a submission is named for the first.
    """
    return [*_not_judged(reports), *_left_behind(reports)]


def _total(workshop: str, title: str, items: list[EvidenceReport]) -> Total:
    failing = [item for item in items if item.outcome == "fail"]
    asked = sum(item.outcome in {"pass", "fail"} for item in items)
    return Total(workshop, title, len(failing), asked, failing[0].found if failing else "")


def _not_judged(reports: Sequence[Report]) -> Iterator[Outlier]:
    for report in reports:
        broken = [item for item in report.all_evidence if item.outcome == "error"]
        if broken:
            yield Outlier(report.submission, f"could not be judged: {broken[0].found}")


def _left_behind(reports: Sequence[Report]) -> Iterator[Outlier]:
    blocks = [
        (workshop.id, block, report.submission)
        for report in reports
        for workshop in report.workshops
        for block in workshop.blocks
    ]
    asked = Counter((workshop, block.id) for workshop, block, _ in blocks)
    have = Counter((workshop, block.id) for workshop, block, _ in blocks if _reached(block))
    said = set[tuple[str, str]]()
    for workshop, block, submission in blocks:
        number, of = have[workshop, block.id], asked[workshop, block.id]
        behind = not _reached(block) and of >= FEWEST_PAIRS and number >= MOST_HAVE_IT * of
        if behind and (submission, workshop) not in said:
            said.add((submission, workshop))
            yield Outlier(submission, f"has not reached “{block.title}”; {number} of {of} have.")


def _reached(block: BlockReport) -> bool:
    return block.outcome == "pass"
