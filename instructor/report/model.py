"""A report as frozen data, to JSON and back. ``report.schema.json`` describes the JSON."""

import functools
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from instructor import COURSE

VERSION = 1
FILE = "report.json"
SCHEMA_FILE = COURSE / "instructor" / "schemas" / "report.schema.json"
ONLY_WHERE_THERE = frozenset({"details", "seconds", "minutes", "cells"})
OUTCOMES = ("pass", "fail", "blocked", "error")
# How every finding begins where somebody is listed and there is nothing of theirs.
NOTHING = "Nothing was handed in"


@dataclass(frozen=True)
class CellTime:
    """How long one cell of a notebook took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class EvidenceReport:
    """One check: its outcome, what was found and expected, and what to do next.

    ``details`` are lines beside it. A notebook has ``seconds`` and ``cells``, which alone depend
    on time, and the ``minutes`` of the blocks that it covers.
    """

    id: str
    kind: str
    title: str
    outcome: str
    graded: bool
    found: str
    expected: str
    next: str
    details: tuple[str, ...] = ()
    seconds: float | None = None
    minutes: int | None = None
    cells: tuple[CellTime, ...] = ()


@dataclass(frozen=True)
class BlockReport:
    """One block of the timing plan, with its evidence in the order in which a pair meets it."""

    id: str
    title: str
    outcome: str
    evidence: tuple[EvidenceReport, ...]


@dataclass(frozen=True)
class WorkshopReport:
    """One workshop of a submission; ``extras`` lie outside its blocks and are never graded."""

    id: str
    title: str
    blocks: tuple[BlockReport, ...]
    extras: tuple[EvidenceReport, ...] = ()

    @property
    def all_evidence(self) -> list[EvidenceReport]:
        """List the evidence of every block, in order, then the extras."""
        return [*(item for block in self.blocks for item in block.evidence), *self.extras]

    @property
    def first_thing_to_do(self) -> str:
        """Say in one sentence what is open in this workshop; what is not graded says so."""
        return _said(_first_problem(self.all_evidence))


@dataclass(frozen=True)
class RemarkReport:
    """Something about the submission as a whole; it changes no outcome."""

    id: str
    found: str
    next: str


@dataclass(frozen=True)
class AttemptReport:
    """One of several attempts: what it reached, and the blocks whose result is taken from it.

    ``source`` is what was handed in: ``folder``, ``zip``, ``git`` or ``nothing``. Both maps lead
    from the id of a workshop to ids of its blocks.
    """

    label: str
    source: str
    reached: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Report:
    """Everything that is said about one submission."""

    submission: str
    sandbox: str
    remarks: tuple[RemarkReport, ...]
    workshops: tuple[WorkshopReport, ...]
    attempts: tuple[AttemptReport, ...] = ()
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """Give the report as plain JSON values, the version first."""
        data = _without_empty(asdict(self))
        return json.loads(json.dumps({"version": data.pop("version"), **data}))  # type: ignore[no-any-return]

    @property
    def first_thing_to_do(self) -> str:
        """Say in one sentence what is open; what is not graded says so."""
        return _said(self.first_problem)

    @property
    def all_evidence(self) -> list[EvidenceReport]:
        """List the evidence of every workshop: its blocks in order, then its extras."""
        return [item for workshop in self.workshops for item in workshop.all_evidence]

    @property
    def first_problem(self) -> EvidenceReport | None:
        """Find what to do first: graded evidence before the rest."""
        return _first_problem(self.all_evidence)


def _without_empty(value: Any) -> Any:
    """Leave out what only a notebook's evidence has, where it is not there."""
    if isinstance(value, dict):
        return {
            key: _without_empty(part)
            for key, part in value.items()
            if key not in ONLY_WHERE_THERE or part not in (None, ())
        }
    if isinstance(value, tuple):
        return tuple(_without_empty(part) for part in value)
    return value


def report_from_json(data: dict[str, Any]) -> Report:
    """Give the report that a JSON value of ``report.schema.json`` describes.

    Most of a report's texts stand in the others of its class too, and are kept once for all.
    """
    data = _shared(data)
    return Report(
        submission=data["submission"],
        sandbox=data["sandbox"],
        remarks=tuple(RemarkReport(**row) for row in data["remarks"]),
        workshops=tuple(
            WorkshopReport(
                row["id"],
                row["title"],
                tuple(_block_from_json(block) for block in row["blocks"]),
                tuple(_evidence_from_json(item) for item in row["extras"]),
            )
            for row in data["workshops"]
        ),
        attempts=tuple(_attempt_from_json(row) for row in data["attempts"]),
        version=data["version"],
    )


def _shared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shared(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_shared(part) for part in value]
    return sys.intern(value) if type(value) is str else value


def _block_from_json(row: dict[str, Any]) -> BlockReport:
    return BlockReport(**{**row, "evidence": tuple(map(_evidence_from_json, row["evidence"]))})


def _evidence_from_json(row: dict[str, Any]) -> EvidenceReport:
    cells = tuple(CellTime(**cell) for cell in row.get("cells", ()))
    return EvidenceReport(**{**row, "details": tuple(row.get("details", ())), "cells": cells})


def _attempt_from_json(row: dict[str, Any]) -> AttemptReport:
    maps = {
        name: {workshop: tuple(blocks) for workshop, blocks in row[name].items()}
        for name in ("reached", "counts")
    }
    return AttemptReport(**{**row, **maps})


def block_outcome(evidence: Iterable[EvidenceReport]) -> str:
    """Sum up a block: it passes when all its graded evidence does, and there is some."""
    outcomes = [item.outcome for item in evidence if item.graded]
    for outcome in ("error", "fail", "blocked"):
        if outcome in outcomes:
            return outcome
    return "pass" if outcomes else "blocked"


def _first_problem(evidence: list[EvidenceReport]) -> EvidenceReport | None:
    problems = [item for item in evidence if item.outcome != "pass"]
    return next((p for p in problems if p.graded), problems[0] if problems else None)


def _said(problem: EvidenceReport | None) -> str:
    if problem is None:
        return "nothing"
    return problem.found if problem.graded else f"(optional) {problem.found}"


@functools.cache
def report_schema() -> Any:
    """Read the schema of ``report.json``."""
    return json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
