"""Lint by grading: the untouched release, the reference, and every pair of the sample class."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path

from instructor import CourseError
from instructor.classroom import CLASSROOM, Pair, build_class, build_reference, load_pairs
from instructor.grade import Options, grade_class
from instructor.release import release
from instructor.report.model import Report
from instructor.report.points import points_of, total_text
from instructor.report.weights import Weights, load_weights
from lab.workshop import Workshop

UNTOUCHED, REFERENCE = "untouched-release", "reference-solution"
# A fixed time: a release's commit must not differ from run to run.
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def areas(
    workshops: list[Workshop], folder: Path, workers: int, names: Collection[str] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Build and grade the submissions, then yield what they show.

    ``names`` keeps to some of the sample pairs; then not every evidence has to be red in one.
    """
    try:
        release(workshops, folder / "class" / UNTOUCHED, NOW)
    except CourseError as error:
        yield "a release holds nothing that must stay with the teacher", [str(error)]
        return
    yield "a release holds nothing that must stay with the teacher", []
    build_reference(workshops, folder / "class" / REFERENCE)
    build_class(folder / "class", NOW, names)
    options = Options(workers=workers, cell_seconds=20.0)
    graded = grade_class(folder / "class", folder / "out", options, lambda *_: None)
    reports = {report.submission: report for report in graded}
    pairs = [pair for pair in load_pairs() if pair.name in reports]
    yield "each exercise starts red in a fresh release", list(_starts_red(reports[UNTOUCHED]))
    earned = _earns_nothing(reports[UNTOUCHED], workshops, load_weights(None, workshops))
    yield "only guards are green in it, and it earns nothing", list(earned)
    yield "each is green with the reference", list(_all_green(reports[REFERENCE]))
    yield f"the {len(pairs)} sample pairs show what they are there for", _pairs(pairs, reports)
    if not names:
        yield "each evidence has a red and a green submission", list(_red_and_green(graded))


def _starts_red(report: Report) -> Iterator[str]:
    for workshop in report.workshops:
        for block in workshop.blocks:
            if block.outcome == "pass":
                yield f"{workshop.id}.{block.id} passes before anybody has done anything."


def _earns_nothing(report: Report, workshops: list[Workshop], weights: Weights) -> Iterator[str]:
    """Compare what is green before anybody has done anything with the guards."""
    guards = {f"{w.id}: {item.id}" for w in workshops for item in w.evidence if item.guard}
    green = {
        f"{workshop.id}: {item.id}"
        for workshop in report.workshops
        for item in workshop.all_evidence
        if item.graded and item.outcome == "pass"
    }
    for name in sorted(green - guards):
        yield f"{name} passes before anybody has done anything, and is no guard."
    for name in sorted(guards - green):
        yield f"{name} is a guard, and does not pass in a fresh release."
    points = points_of(report, weights)
    if points.earned != 0:
        yield f"A fresh release earns {total_text(points)} points."


def _all_green(report: Report) -> Iterator[str]:
    for workshop in report.workshops:
        for item in workshop.all_evidence:
            if item.outcome != "pass":
                name = f"{workshop.id}: {item.id}"
                yield f"{name} is {item.outcome} with the reference: {item.found}"


def _pairs(pairs: list[Pair], reports: dict[str, Report]) -> list[str]:
    folders = {path.name for path in CLASSROOM.iterdir() if path.is_dir()}
    unlisted = sorted(folders - {pair.name for pair in load_pairs()})
    found = [f"fixtures/classroom/{name} is not listed in class.toml." for name in unlisted]
    for pair in pairs:
        report = reports[pair.name]
        outcomes = {
            block.id if len(pair.workshops) == 1 else f"{workshop.id}.{block.id}": block.outcome
            for workshop in report.workshops
            for block in workshop.blocks
        }
        if outcomes != pair.outcomes:
            found.append(f"{pair.name}: the blocks are {outcomes}, not {pair.outcomes}.")
        problem = report.first_problem
        if (problem.id if problem else "") != pair.first:
            said = f"{problem.id} ({problem.found})" if problem else "nothing"
            found.append(
                f"{pair.name}: the first problem is {said}, not {pair.first or 'nothing'}."
            )
    return found


def _red_and_green(reports: list[Report]) -> Iterator[str]:
    outcomes: dict[str, set[str]] = {}
    for workshop in (workshop for report in reports for workshop in report.workshops):
        for item in workshop.all_evidence:
            outcomes.setdefault(f"{workshop.id}: {item.id}", set()).add(item.outcome)
    for name, seen in outcomes.items():
        for wanted in ("fail", "pass"):
            if wanted not in seen:
                yield f"No submission shows {name} as {wanted}."
