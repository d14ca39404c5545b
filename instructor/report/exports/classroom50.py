"""Classroom 50: a ``result.json`` for each submission, schema ``classroom50/result/v1``.

Scores there are whole numbers, so ours are hundredths of a point: a block of weight 1 counts 100.

Who is graded is nothing that we know. Where one submission alone is graded in a Classroom 50 run,
the runner's variables say it (``CLASSROOM``, ``ASSIGNMENT``, ``ASSIGNMENT_TYPE``, ``OWNER``,
``SUBMISSION_TAG``, ``COMMIT_URL``, ``RELEASE_URL``, ``REVIEW_URL``). Otherwise those fields are
left out, rather than filed under somebody's name. ``datetime``, the commit's own time, and
``graded_at`` are the runner's to stamp, so they are always left out.

A submission with a block that could not be judged gets no file: the runner then files an error of
its own, and never a zero.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from instructor.answer_key import dump
from instructor.report.exports.gradebook import Gradebook, Scored, write_left_out
from instructor.report.model import BlockReport, write_text
from instructor.report.points import BlockPoints

SCHEMA = "classroom50/result/v1"
VARIABLES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write ``<submission>/result.json`` for each submission that was judged."""
    identity = _identity(book.environment) if len(book.submissions) == 1 else {}
    paths = []
    for scored in book.submissions:
        if scored.points.earned is not None:
            paths.append(out / scored.folder / "result.json")
            write_text(paths[-1], dump(_result(scored, identity)))
    return paths + write_left_out(book, out)


def _identity(environment: Mapping[str, str]) -> dict[str, str]:
    """Take who is graded from a Classroom 50 run; without a difference to show, from its commit."""
    found = {name: environment.get(variable, "") for name, variable in VARIABLES.items()}
    found["review"] = found["review"] or found["commit"]
    return {name: value for name, value in found.items() if value}


def _result(scored: Scored, identity: Mapping[str, str]) -> dict[str, Any]:
    tests = [
        _test(f"{report.id}.{block.id}: {block.title}", block, points)
        for report, earned in scored.by_workshop
        for block, points in zip(report.blocks, earned.blocks, strict=True)
    ]
    return {
        "schema": SCHEMA,
        **identity,
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _test(name: str, block: BlockReport, points: BlockPoints) -> dict[str, Any]:
    return {
        "test-name": name,
        "passed": block.outcome == "pass",
        "score": _hundredths(points.earned or Decimal(0)),
        "max-score": _hundredths(points.possible),
        "outcome": block.outcome,
    }


def _hundredths(points: Decimal) -> int:
    return int(points * 100)
