"""GitHub Actions: a summary of the step in Markdown, and annotations on the files to mend.

The summary is added to the file that ``GITHUB_STEP_SUMMARY`` names, or goes to ``summary.md``.
Annotations go to ``annotations.txt``, and in a run of Actions to the step's output as well, since
that is where GitHub reads them. GitHub shows ten of each level a step.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from instructor.report.exports.gradebook import Gradebook, Scored
from instructor.report.model import BlockReport, EvidenceReport, WorkshopReport, write_text
from instructor.report.pages import MARKS
from instructor.report.points import WorkshopPoints, number_text, total_text

LEVELS = {"fail": "error", "error": "warning"}
# All that Markdown reads as more than text, and the dot that would make a link.
_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+!|~&@:$^\"']|(?<=www)\.", re.IGNORECASE)


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write the summary and the annotations; print the latter in a run of Actions."""
    annotations = list(_annotations(book))
    write_text(out / "annotations.txt", "".join(f"{line}\n" for line in annotations))
    if book.environment.get("GITHUB_ACTIONS") == "true":
        print(*annotations, sep="\n")
    named = book.environment.get("GITHUB_STEP_SUMMARY")
    path = Path(named) if named else out / "summary.md"
    before = path.read_text(encoding="utf-8", errors="replace") if named and path.exists() else ""
    write_text(path, before + _summary(book))
    return [path, out / "annotations.txt"]


def escape_data(text: str) -> str:
    """Escape an annotation's message, so that it stays on its line and starts no other command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property of an annotation, such as its file."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def escape_markdown(text: str) -> str:
    """Write any text as one line of Markdown that shows it as it is."""
    return _MARKUP.sub(lambda found: f"&#{ord(found.group())};", " ".join(text.split()))


def _summary(book: Gradebook) -> str:
    tables = [_table(book, workshop, title) for workshop, title in book.shown.items()]
    legend = "✓ reached   ✗ not yet   … waits for an earlier block   ! could not be judged\n"
    return "\n".join([*tables, legend])


def _table(book: Gradebook, workshop: str, title: str) -> str:
    rows = [
        (scored, report, points)
        for scored in book.submissions
        for report, points in scored.by_workshop
        if report.id == workshop
    ]
    blocks = [escape_markdown(block.id) for block in rows[0][1].blocks]
    head = ["Submission", *blocks, "Points", "First thing to do"]
    lines = [head, ["---"] * len(head), *(_row(*row) for row in rows)]
    return f"## {escape_markdown(title)}\n\n" + "".join(f"| {' | '.join(x)} |\n" for x in lines)


def _row(scored: Scored, report: WorkshopReport, points: WorkshopPoints) -> list[str]:
    marks = [MARKS[block.outcome] for block in report.blocks]
    texts = (scored.name, *marks, total_text(points), report.first_thing_to_do)
    return [escape_markdown(text) for text in texts]


def _annotations(book: Gradebook) -> Iterator[str]:
    files = {
        (workshop.id, item.id): str(item.options.get("file", ""))
        for workshop in book.workshops
        for item in workshop.evidence
    }
    for scored in book.submissions:
        # One submission is the repository itself; of several, each is a folder in it.
        folder = f"{scored.name}/" if len(book.submissions) > 1 else ""
        for report, points in scored.by_workshop:
            for block in report.blocks:
                yield from _problem(report, block, files, folder)
            yield _command("notice", report.title, "", f"{scored.name}: {_points(points)}")


def _problem(
    report: WorkshopReport, block: BlockReport, files: Mapping[tuple[str, str], str], folder: str
) -> Iterator[str]:
    """Annotate the first check that keeps a block from being reached."""
    problems = (i for i in block.evidence if i.graded and i.outcome == block.outcome)
    item = next(problems, None) if block.outcome in LEVELS else None
    if item is not None:
        file = files.get((report.id, item.id), "")
        yield _command(
            LEVELS[item.outcome],
            f"{report.title}: {block.title}",
            f"{folder}{file}" if file else "",
            _message(item),
        )


def _message(item: EvidenceReport) -> str:
    expected = f"\nExpected: {item.expected}" if item.expected else ""
    return f"{item.found}{expected}\nNext: {item.next}"


def _points(points: WorkshopPoints) -> str:
    blocks = ", ".join(
        f"{block.id} {'not judged' if block.earned is None else number_text(block.earned)}"
        for block in points.blocks
    )
    return f"points {total_text(points)} ({blocks})"


def _command(level: str, title: str, file: str, message: str) -> str:
    properties = [f"file={escape_property(file)}"] if file else []
    properties.append(f"title={escape_property(title)}")
    return f"::{level} {','.join(properties)}::{escape_data(message)}"
