"""The board in the terminal: pairs down, blocks across."""

from textwrap import shorten

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from instructor.judging import plain
from instructor.report.model import Report, WorkshopReport
from instructor.report.pages import MARKS

STYLES = {"pass": "green", "fail": "bold red", "blocked": "dim", "error": "bold magenta"}


def print_board(reports: list[Report], console: Console) -> None:
    """Print one table a workshop, and what the marks mean."""
    shown = {workshop.id: workshop for report in reports for workshop in report.workshops}
    for workshop in shown.values():
        table = Table(
            title=workshop.title,
            title_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        table.add_column("submission", overflow="fold", max_width=26)
        for number, _ in enumerate(workshop.blocks):
            table.add_column(str(number), justify="center", width=1)
        table.add_column("first thing to do", overflow="fold")
        for report in reports:
            for own in report.workshops:
                if own.id == workshop.id:
                    name = Text(plain(report.submission))
                    # Text, not a string: a name with square brackets in it is no markup.
                    table.add_row(name, *_marks(own), Text(_first(report, own)))
        console.print(table)
        names = "  ".join(f"{number} {block.id}" for number, block in enumerate(workshop.blocks))
        console.print(f"Blocks: {names}")
    console.print(
        "Marks:  ✓ reached   ✗ not yet   … waits for an earlier block   ! could not be judged"
    )


def _marks(workshop: WorkshopReport) -> list[Text]:
    return [Text(MARKS[b.outcome], style=STYLES[b.outcome]) for b in workshop.blocks]


def _first(report: Report, workshop: WorkshopReport) -> str:
    remarks = len(report.remarks)
    note = f" ({remarks} remark{'' if remarks == 1 else 's'})" if remarks else ""
    return shorten(workshop.first_thing_to_do, 80, placeholder=" …") + note
