"""Gradescope: a ``results.json`` for each submission, a test for each block.

The total is the sum of the tests. A submission with a block that could not be judged gets no file:
Gradescope takes a missing file for a failed run, which can be started again, and not for a zero.
"""

from pathlib import Path
from typing import Any

from instructor.answer_key import dump
from instructor.report.exports.gradebook import Gradebook, Scored, evidence_text, write_left_out
from instructor.report.model import BlockReport, write_text
from instructor.report.points import BlockPoints


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write ``<submission>/results.json`` for each submission that was judged."""
    paths = []
    for scored in book.submissions:
        if scored.points.earned is not None:
            paths.append(out / scored.folder / "results.json")
            write_text(paths[-1], dump(_results(scored)))
    return paths + write_left_out(book, out)


def _results(scored: Scored) -> dict[str, Any]:
    tests = [
        _test(f"{number}.{place}", f"{report.title}: {block.title}", block, points)
        for number, (report, earned) in enumerate(scored.by_workshop, 1)
        for place, (block, points) in enumerate(zip(report.blocks, earned.blocks, strict=True))
    ]
    return {
        "output": f"First thing to do: {scored.report.first_thing_to_do}",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _test(number: str, name: str, block: BlockReport, points: BlockPoints) -> dict[str, Any]:
    return {
        "number": number,
        "name": name,
        "name_format": "text",
        "score": float(points.earned or 0),
        "max_score": float(points.possible),
        "status": "passed" if block.outcome == "pass" else "failed",
        # Plain text, so nothing that a student wrote is ever read as markup.
        "output": "\n".join(evidence_text(item) for item in block.evidence if item.graded),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {"outcome": block.outcome},
    }
