"""Several attempts of one pair, as one report: the best of each block, and a list of them all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from instructor.report.model import (
    AttemptReport,
    BlockReport,
    EvidenceReport,
    RemarkReport,
    Report,
    WorkshopReport,
)

# From worst to best. What we could not judge never hides what we could.
RANKS = ("error", "blocked", "fail", "pass")


@dataclass(frozen=True)
class Tried:
    """One attempt with its own report; ``judged`` is false where there was nothing to look at."""

    label: str
    source: str
    judged: bool
    report: Report


def best_of(tries: Sequence[Tried]) -> Report:
    """Merge the attempts of one submission, given in order; one alone is left as it is."""
    if len(tries) == 1:
        return tries[0].report
    first = tries[0].report
    counts: list[dict[str, tuple[str, ...]]] = [{} for _ in tries]
    workshops = []
    for place, workshop in enumerate(first.workshops):
        rows = [tried.report.workshops[place] for tried in tries]
        chosen = [_best_block(tries, [row.blocks[n] for row in rows]) for n in _places(workshop)]
        blocks = tuple(rows[number].blocks[n] for n, number in enumerate(chosen))
        for number, own in enumerate(counts):
            own[workshop.id] = tuple(
                b.id for b, c in zip(blocks, chosen, strict=True) if c == number
            )
        workshops.append(replace(workshop, blocks=blocks, extras=_best_extras(rows)))
    attempts = tuple(
        AttemptReport(tried.label, tried.source, _reached(tried.report), own)
        for tried, own in zip(tries, counts, strict=True)
    )
    remarks = tuple(remark for tried in tries for remark in _remarks(tried))
    return replace(first, remarks=remarks, workshops=tuple(workshops), attempts=attempts)


def _places(workshop: WorkshopReport) -> range:
    return range(len(workshop.blocks))


def _best_block(tries: Sequence[Tried], blocks: Sequence[BlockReport]) -> int:
    """Give the number of the attempt whose block is best; of equal ones, that of the later."""

    def value(number: int) -> tuple[int, int, int, int]:
        block = blocks[number]
        return _standing(tries[number]), RANKS.index(block.outcome), _passed(block), number

    return max(range(len(blocks)), key=value)


def _standing(tried: Tried) -> int:
    """Rank work that was looked at above work that could not be opened, above none at all."""
    if tried.judged:
        return 2
    return 0 if tried.source == "nothing" else 1


def _passed(block: BlockReport) -> int:
    return sum(item.graded and item.outcome == "pass" for item in block.evidence)


def _best_extras(rows: Sequence[WorkshopReport]) -> tuple[EvidenceReport, ...]:
    def value(number: int) -> tuple[int, int]:
        return sum(item.outcome == "pass" for item in rows[number].extras), number

    return rows[max(range(len(rows)), key=value)].extras


def _reached(report: Report) -> dict[str, tuple[str, ...]]:
    return {
        workshop.id: tuple(block.id for block in workshop.blocks if block.outcome == "pass")
        for workshop in report.workshops
    }


def _remarks(tried: Tried) -> list[RemarkReport]:
    return [
        replace(remark, found=f"Attempt {tried.label}: {remark.found}")
        for remark in tried.report.remarks
    ]
