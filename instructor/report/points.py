"""Points, derived from a report and the teacher's weights. The four outcomes stay the truth."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor

from instructor.report.model import BlockReport, Report
from instructor.report.weights import EQUAL, Weights

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class BlockPoints:
    """A block's points; ``earned`` is None where we could not judge it, which is not a zero.

    Both are points with at most two decimals. ``earned`` is rounded down, so a block that lacks
    anything never shows its full points, and every sum of blocks agrees in every export.
    """

    id: str
    title: str
    earned: Decimal | None
    possible: Decimal


@dataclass(frozen=True)
class WorkshopPoints:
    """The points of one workshop's blocks, and their sums."""

    id: str
    title: str
    blocks: tuple[BlockPoints, ...]

    @property
    def earned(self) -> Decimal | None:
        """Sum up what was earned; None as soon as one block was not judged."""
        return _sum([block.earned for block in self.blocks])

    @property
    def possible(self) -> Decimal:
        """Sum up what could be earned."""
        return sum((block.possible for block in self.blocks), Decimal(0))

    @property
    def not_judged(self) -> tuple[BlockPoints, ...]:
        """List the blocks that we could not judge."""
        return tuple(block for block in self.blocks if block.earned is None)


@dataclass(frozen=True)
class ReportPoints:
    """The points of one submission, for the workshops that its report has."""

    workshops: tuple[WorkshopPoints, ...]

    @property
    def earned(self) -> Decimal | None:
        """Sum up what was earned; None as soon as one block was not judged."""
        return _sum([workshop.earned for workshop in self.workshops])

    @property
    def possible(self) -> Decimal:
        """Sum up what could be earned in these workshops."""
        return sum((workshop.possible for workshop in self.workshops), Decimal(0))


def points_of(report: Report, weights: Weights = EQUAL) -> ReportPoints:
    """Derive a submission's points: a block's weight times the share that passed.

    A guard has no share: ``load_weights`` gives it the weight 0.
    """
    return ReportPoints(
        tuple(
            WorkshopPoints(
                workshop.id,
                workshop.title,
                tuple(_block_points(workshop.id, block, weights) for block in workshop.blocks),
            )
            for workshop in report.workshops
        )
    )


def number_text(number: Decimal) -> str:
    """Write a number of points: no exponent, no thousands separators, no zeros at the end."""
    return format(number.normalize(), "f")


def total_text(points: WorkshopPoints | ReportPoints) -> str:
    """Say a total for a person: ``4.5 of 6``, or that it was not judged."""
    if points.earned is None:
        return NOT_JUDGED
    return f"{number_text(points.earned)} of {number_text(points.possible)}"


def _block_points(workshop: str, block: BlockReport, weights: Weights) -> BlockPoints:
    weight = weights.block(workshop, block.id)
    graded = [
        (item.outcome, weights.of_evidence(workshop, block.id, item.id))
        for item in block.evidence
        if item.graded
    ]
    earned = None
    if all(outcome != "error" for outcome, _ in graded):
        passed = sum((number for outcome, number in graded if outcome == "pass"), Fraction(0))
        # Without graded evidence nothing can be earned, as no such block is ever reached.
        asked = sum((number for _, number in graded), Fraction(0)) or Fraction(1)
        earned = _hundredths(weight * passed / asked)
    return BlockPoints(block.id, block.title, earned, _hundredths(weight))


def _hundredths(points: Fraction) -> Decimal:
    return Decimal(floor(points * 100)) / 100


def _sum(parts: list[Decimal | None]) -> Decimal | None:
    known = [part for part in parts if part is not None]
    return sum(known, Decimal(0)) if len(known) == len(parts) else None
