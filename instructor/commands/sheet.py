"""``instructor sheet``: a session on one printed page."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from instructor import COURSE
from instructor.commands.times import today_at
from lab.workshop import load_workshop


def sheet(
    workshop: Annotated[str, typer.Argument(help="For example plan_gate.")],
    start: Annotated[str, typer.Option(help="When the session begins, as 13:00.")] = "13:00",
    out: Annotated[Path | None, typer.Option(help="By default <workshop>_sheet.html here.")] = None,
) -> None:
    """Write a page to print: times on the clock, what to say, what to cut, what to have ready."""
    from instructor.report.model import write_text
    from instructor.session.sheet import sheet as written

    loaded = load_workshop(COURSE, workshop)
    path = out or Path(f"{workshop}_sheet.html")
    write_text(path, written(loaded, today_at(start, datetime.now().astimezone())))
    typer.echo(f"Run sheet: {path}")
