"""The pages and the table that are made of reports: one page a submission, one page the class.

Every text may come from a student, so templates escape all of it and no page holds a script.
"""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from instructor.answer_key import dump
from instructor.report.model import BlockReport, EvidenceReport, Report, write_text
from instructor.report.pace import Pace, medians, rows_of
from instructor.report.pace import to_json as pace_json
from instructor.report.points import number_text, points_of
from instructor.report.render import template
from instructor.report.tables import csv_text
from instructor.report.totals import common_problems, outliers, totals
from instructor.report.weights import EQUAL, Weights
from instructor.sandbox.tiers import WORDS as HELD
from lab.workshop import Workshop

TEMPLATES = Path(__file__).with_name("templates")
MARKS = {"pass": "✓", "fail": "✗", "blocked": "…", "error": "!"}
# A cell that took longer is named.
SLOW_SECONDS = 3.0
WORDS = {"pass": "reached", "fail": "not yet", "blocked": "waits", "error": "could not be judged"}


def write_feedback(report: Report, path: Path) -> None:
    """Write a submission's page: what to do first, then every block, folded."""
    page = template(TEMPLATES, "feedback.html")
    write_text(
        path,
        page.render(
            report=report, marks=MARKS, words=WORDS, time_text=time_text, held=HELD[report.sandbox]
        ),
    )


def time_text(item: EvidenceReport) -> str:
    """Set the time that a notebook's cells took against its blocks' minutes; "" for the rest."""
    if item.seconds is None:
        return ""
    text = f"Its cells took {_seconds(item.seconds)}"
    text += f"; its blocks have {item.minutes} minutes." if item.minutes else "."
    slowest = max(item.cells, key=lambda cell: cell.seconds, default=None)
    if slowest and slowest.seconds > SLOW_SECONDS:
        text += f" The slowest: {slowest.name}, {_seconds(slowest.seconds)}."
    return text


def write_class_pages(
    reports: list[Report],
    workshops: tuple[Workshop, ...],
    folders: dict[str, str],
    out: Path,
    weights: Weights = EQUAL,
    paces: Sequence[Pace] = (),
) -> None:
    """Write the class's page and ``gradebook.csv``; ``folders`` says where each report lies.

    With ``paces`` there is also a ``pace.json``, and the page has a part for them.
    """
    write_text(out / "gradebook.csv", gradebook(reports, weights))
    if paces:
        write_text(out / "pace.json", dump(pace_json(paces)))
    links = {name: f"{quote(folder)}/feedback.html" for name, folder in folders.items()}
    page = template(TEMPLATES, "index.html").render(
        reports=reports,
        held=[HELD[tier] for tier in sorted({report.sandbox for report in reports})],
        workshops=workshops,
        links=links,
        common=common_problems(reports),
        totals=totals(reports),
        outliers=outliers(reports),
        paces=paces,
        medians=medians,
        pace_rows=rows_of,
        marks=MARKS,
        words=WORDS,
    )
    write_text(out / "index.html", page)


def gradebook(reports: list[Report], weights: Weights = EQUAL) -> str:
    """Give the class as CSV: a row a submission, a column a graded block, then what to do first.

    ``points`` and ``max_points`` are both empty where a block could not be judged, so that no sum
    takes it for a zero.
    """
    columns = list(dict.fromkeys(name for report in reports for name, _ in _graded(report)))
    rest = ["reached", "blocks", "points", "max_points", "sandbox", "first_thing_to_do"]
    rows: list[list[object]] = [["submission", *columns, *rest]]
    for report in reports:
        outcomes = {name: block.outcome for name, block in _graded(report)}
        reached = sum(outcome == "pass" for outcome in outcomes.values())
        marks = [outcomes.get(column, "") for column in columns]
        summary = [reached, len(outcomes), *_points(report, weights), report.sandbox]
        rows.append([report.submission, *marks, *summary, report.first_thing_to_do])
    return csv_text(rows)


def _seconds(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"{seconds:.1f} seconds"


def _points(report: Report, weights: Weights) -> tuple[str, str]:
    points = points_of(report, weights)
    if points.earned is None:
        return "", ""
    return number_text(points.earned), number_text(points.possible)


def _graded(report: Report) -> list[tuple[str, BlockReport]]:
    return [
        (f"{workshop.id}.{block.id}", block)
        for workshop in report.workshops
        for block in workshop.blocks
    ]
