"""What every export is made of: a class's reports with their points."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from instructor.judging import plain
from instructor.report.model import EvidenceReport, Report, WorkshopReport, write_text
from instructor.report.pages import MARKS
from instructor.report.points import ReportPoints, WorkshopPoints, points_of
from instructor.report.weights import EQUAL, Weights
from lab.workshop import Workshop


@dataclass(frozen=True)
class Scored:
    """One submission: its report, its points, and a folder name that can always be made.

    ``ids`` are what a roster says of it: ``IDENTITIES`` of ``instructor.roster``.
    """

    report: Report
    points: ReportPoints
    folder: str
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Give the submission's name; it may hold anything but a slash."""
        return self.report.submission

    @property
    def by_workshop(self) -> Iterator[tuple[WorkshopReport, WorkshopPoints]]:
        """Go through the submission's workshops, each with its points."""
        return zip(self.report.workshops, self.points.workshops, strict=True)


@dataclass(frozen=True)
class Judged:
    """One submission's points in one workshop, where every block could be judged."""

    name: str
    report: WorkshopReport
    earned: Decimal
    possible: Decimal
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Gradebook:
    """A class's scored reports, the workshops that were graded, and the run's environment.

    Two exports read the environment: ``github`` and ``classroom50``. It is empty by default.
    """

    submissions: tuple[Scored, ...]
    workshops: tuple[Workshop, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, str]:
        """Map the id of each workshop that some submission has to its title, in order."""
        return {w.id: w.title for scored in self.submissions for w in scored.report.workshops}

    def judged(self, workshop: str) -> list[Judged]:
        """List who has this workshop with every block of it judged."""
        return [
            Judged(scored.name, report, points.earned, points.possible, scored.ids)
            for scored in self.submissions
            for report, points in scored.by_workshop
            if report.id == workshop and points.earned is not None
        ]


def score(
    reports: list[Report],
    folders: Mapping[str, str],
    workshops: tuple[Workshop, ...] = (),
    weights: Weights = EQUAL,
    environment: Mapping[str, str] | None = None,
    ids: Mapping[str, Mapping[str, str]] | None = None,
) -> Gradebook:
    """Derive the points of a class; ``folders`` and ``ids`` go by a submission's name."""
    known = ids or {}
    rows = tuple(
        Scored(
            report,
            points_of(report, weights),
            folders[report.submission],
            known.get(report.submission, {}),
        )
        for report in reports
    )
    return Gradebook(rows, workshops, environment or {})


def evidence_text(item: EvidenceReport) -> str:
    """Say one check in plain text: its mark and title, then what was found, expected, and next."""
    lines = [f"{MARKS[item.outcome]} {item.title}"]
    if item.outcome != "pass":
        facts = (("Found", item.found), ("Expected", item.expected), ("Next", item.next))
        lines += [f"  {name}: {text}" for name, text in facts if text]
    return "\n".join(lines)


def write_left_out(book: Gradebook, out: Path) -> list[Path]:
    """Say which submissions an export leaves out, because some block could not be judged.

    A consumer that only knows numbers would take what is missing for a zero.
    """
    lines = [
        f"{plain(scored.name)}: {points.id} ({', '.join(b.id for b in points.not_judged)})\n"
        for scored in book.submissions
        for points in scored.points.workshops
        if points.not_judged
    ]
    if not lines:
        return []
    head = (
        "Left out of this export, because these blocks could not be judged. That is the grader's\n"
        "problem, not the submission's. Look at its report.json, then grade it again.\n\n"
    )
    write_text(out / "not_judged.txt", head + "".join(lines))
    return [out / "not_judged.txt"]
