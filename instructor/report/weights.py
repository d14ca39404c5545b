"""The teacher's weights, ``instructor/weights.toml``: read strictly, or refused with the place."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from instructor import COURSE, CourseError
from lab.workshop import Workshop

WEIGHTS_FILE = COURSE / "instructor" / "weights.toml"
SMALLEST, LARGEST = Decimal("0.01"), Decimal(1000)
EVERY, NOTHING = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Weights:
    """What blocks and evidence count, as exact numbers; what is not named counts 1.

    A guard counts 0: it is green from the start. ``blocks`` is keyed by workshop and block,
    ``evidence`` by workshop, block and evidence.
    """

    blocks: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)
    evidence: Mapping[tuple[str, str, str], Fraction] = field(default_factory=dict)

    def block(self, workshop: str, block: str) -> Fraction:
        """Give a block's weight: the points that it can earn."""
        return self.blocks.get((workshop, block), EVERY)

    def of_evidence(self, workshop: str, block: str, evidence: str) -> Fraction:
        """Give what one evidence counts among the graded evidence of its block."""
        return self.evidence.get((workshop, block, evidence), EVERY)


EQUAL = Weights()


def load_weights(path: Path | None, workshops: Iterable[Workshop]) -> Weights:
    """Read the weights of a course; without a path its own file, where it has one.

    Raises ``CourseError`` naming the file and the place of the first thing that is wrong.
    """
    known = {workshop.id: workshop for workshop in workshops}
    evidence = {
        (workshop.id, item.block, item.id): NOTHING
        for workshop in known.values()
        for item in workshop.evidence
        if item.guard
    }
    if path is None and not WEIGHTS_FILE.exists():
        return Weights({}, evidence)
    path = path or WEIGHTS_FILE
    blocks: dict[tuple[str, str], Fraction] = {}
    for name, table in _read(path).items():
        _expect_known(path.name, name, known, "workshop")
        for block, weight, parts in _Reader(path.name, known[name]).blocks(table):
            blocks[name, block] = weight
            evidence.update({(name, block, part): number for part, number in parts.items()})
    return Weights(blocks, evidence)


def _read(path: Path) -> dict[str, Any]:
    try:
        # A byte-order mark is what some editors add; decimals stay what the teacher wrote.
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CourseError(
            f"{path.name} cannot be read: {reason}. Expected: a TOML file with a table for each "
            "workshop. Mend the place named, or give --weights another file."
        ) from error


@dataclass(frozen=True)
class _Reader:
    """Reads one workshop's table; every message starts with the file and the place."""

    place: str
    workshop: Workshop

    def blocks(self, table: Any) -> list[tuple[str, Fraction, dict[str, Fraction]]]:
        place = f"{self.place}, [{self.workshop.id}]"
        _expect_table(place, table, "a weight for each block")
        known = [block.id for block in self.workshop.blocks]
        for name in table:
            _expect_known(place, name, known, "block")
        missing = [name for name in known if name not in table]
        if missing:
            raise CourseError(
                f"{place}: no weight for {', '.join(missing)}. Expected: one for each of "
                f"{', '.join(known)}. Add what is missing, or take the whole table out."
            )
        return [self._block(name, value) for name, value in table.items()]

    def _block(self, block: str, value: Any) -> tuple[str, Fraction, dict[str, Fraction]]:
        place = f"{self.place}, {self.workshop.id}.{block}"
        if not isinstance(value, dict):
            return block, _number(place, value), {}
        for name in value:
            _expect_known(place, name, ["weight", "evidence"], "setting of a block")
        weight = _number(f"{place}.weight", value.get("weight", 1))
        return block, weight, self._evidence(place, block, value.get("evidence", {}))

    def _evidence(self, place: str, block: str, table: Any) -> dict[str, Fraction]:
        place = f"{place}.evidence"
        _expect_table(place, table, "a weight for each evidence")
        graded = [item.id for item in self.workshop.evidence_of(block) if item.graded]
        guards = {item.id for item in self.workshop.evidence_of(block) if item.guard}
        for name in table:
            if name in guards:
                raise CourseError(
                    f"{place}: {name!r} is a guard: it is green from the start, so it earns "
                    "nothing. Expected: weights for other evidence. Take it out."
                )
            _expect_known(place, name, graded, "graded evidence of this block")
        return {name: _number(f'{place}."{name}"', value) for name, value in table.items()}


def _expect_known(place: str, name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        raise CourseError(
            f"{place}: {name!r} is no {what}. Expected one of: {', '.join(known) or 'none'}. "
            "Mend the name, or take it out."
        )


def _expect_table(place: str, value: Any, what: str) -> None:
    if not isinstance(value, dict):
        raise CourseError(
            f"{place}: found {_shown(value)}. Expected: a table with {what}. "
            "The comments in instructor/weights.toml show one."
        )


def _number(place: str, value: Any) -> Fraction:
    """Take a weight as the exact number that was written."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        # Bounds come first: nothing is computed with NaN, an infinity or a giant exponent.
        if number.is_finite() and SMALLEST <= number <= LARGEST and number == round(number, 2):
            return Fraction(number)
    raise CourseError(
        f"{place}: found {_shown(value)}. Expected: a number from {SMALLEST} to {LARGEST} with at "
        "most two decimals. Mend the number; what shall hardly count gets a small one."
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, int | Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
