"""``instructor session``: run a workshop in the room."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from instructor import COURSE
from instructor.commands.times import today_at
from lab.workshop import load_workshop

LOGS = COURSE / "sessions"
ROSTER_HELP = "A CSV with name and source, as for grade: who is on the live board."
CLASS_HELP = "A folder with the pairs' workspaces, for the live board."
POLL_HELP = "Ask the disk what was saved instead of waiting to be told; a network disk never tells."
FETCH_HELP = "Seconds between two times that a repository or zip of the roster is fetched."
LAN_HELP = "Let other machines in, each with a link that works once."
LOG_HELP = "The session's log; by default in sessions/. One that is there is gone on with."
START_HELP = "When the session was announced to begin, as 13:00: a late start counts as over."
TIER_HELP = "For the live board: run students' code in this tier or a better one: A, B, or C."
NAMES_HELP = "Show the pairs' names on the projector, and not numbers."


def session(  # noqa: PLR0913, PLR0917  each is an option of the command
    workshop: Annotated[str, typer.Argument(help="For example plan_gate.")],
    folder: Annotated[Path | None, typer.Option("--class", help=CLASS_HELP)] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8710,
    lan: Annotated[bool, typer.Option("--lan", help=LAN_HELP)] = False,
    log: Annotated[Path | None, typer.Option(help=LOG_HELP)] = None,
    start: Annotated[str | None, typer.Option(help=START_HELP)] = None,
    names: Annotated[bool, typer.Option("--names", help=NAMES_HELP)] = False,
    roster: Annotated[Path | None, typer.Option(help=ROSTER_HELP)] = None,
    poll: Annotated[bool, typer.Option("--poll", help=POLL_HELP)] = False,
    fetch: Annotated[float, typer.Option(min=10, help=FETCH_HELP)] = 60,
    require_tier: Annotated[str, typer.Option(help=TIER_HELP)] = "B",
) -> None:
    """Serve a page for the projector: minutes left, what to reach, what to cut."""
    from instructor.sandbox.tiers import expect_tier
    from instructor.session.access import read_secret
    from instructor.session.board import Board, BoardOptions
    from instructor.session.journal import choose_log, open_journal
    from instructor.session.plan import plan_of
    from instructor.session.room import Room
    from instructor.session.run import Options, serve_until_stopped

    now = _now()
    loaded = load_workshop(COURSE, workshop)
    watching = BoardOptions(polling=poll, fetch_seconds=fetch)
    board = Board(loaded, folder, roster, watching) if folder or roster else None
    if board:
        expect_tier(require_tier)
    plan = plan_of(loaded, today_at(start, now) if start else None)
    path = log or choose_log(LOGS, workshop, now.strftime("%Y-%m-%d"))
    with open_journal(path, plan, now) as journal:
        said = "goes on" if journal.events else "begins"
        typer.echo(f"The log {said}: {_from_here(path)}")
        room = Room(journal, _now)
        options = Options(port, lan, names, folder)
        serve_until_stopped(room, read_secret(path), options, board, typer.echo)
    typer.echo("Stopped. The same command goes on where the log ends.")


def _from_here(path: Path) -> Path:
    """Give a path as somebody in this folder would write it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _now() -> datetime:
    return datetime.now().astimezone()
