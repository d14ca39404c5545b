"""``instructor doctor``: is this machine ready, and what to do where it isn't."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from instructor.doctor import PROBLEM, Row, check_machine, check_workspace

MARKS = {"ok": "[green]✓[/green]", "warning": "[yellow]![/yellow]", "problem": "[red]✗[/red]"}
STUDENT_HELP = "Check a student's machine instead, with this workspace on it (one that you trust)."
NAME_WIDTH = 16


def doctor(
    student: Annotated[Path | None, typer.Option(help=STUDENT_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Check this machine before the day; each red line says what to do. Exits with 1 if any is."""
    if student is not None:
        rows = check_workspace(student, sys.executable)
    else:
        rows = check_machine(Path.cwd(), datetime.now().astimezone())
    seen = list(rows) if as_json else list(_printed(rows))
    if as_json:
        print(json.dumps([asdict(row) for row in seen], indent=2, ensure_ascii=False))
    if any(row.status == PROBLEM for row in seen):
        raise typer.Exit(1)


def _printed(rows: Iterable[Row]) -> Iterator[Row]:
    """Print each row as it comes, since some take seconds; sum up at the end."""
    console = Console()
    counts = {"problem": 0, "warning": 0}
    for row in rows:
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1)
        table.add_column(width=NAME_WIDTH)
        table.add_column(overflow="fold")
        table.add_row(MARKS[row.status], _plain(row.name), _plain(row.found))
        if row.next:
            table.add_row("", "", _plain(f"→ {row.next}"))
        console.print(table)
        if row.status in counts:
            counts[row.status] += 1
        yield row
    said = [f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items() if n]
    console.print(f"{' and '.join(said)} found." if said else "All is ready.")


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
