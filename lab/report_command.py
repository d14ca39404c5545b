"""``lab report``: write the certificate of replay, or compare one with the files here."""

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

from lab import coach
from lab.report import certificate, changed_since
from lab.whole_file import write_whole
from lab.workshop import Workshop, WorkshopError, load_workshop, workshop_ids

LONGEST_PAGE = 5_000_000


def add(commands: Any) -> None:
    """Add the command to the command line."""
    report = commands.add_parser("report", help="write one page on what you reached, to keep")
    report.add_argument("workshop", nargs="?", help="for example plan_gate; all without it")
    report.add_argument("--out", default="report.html", metavar="FILE", help="where the page goes")
    report.add_argument("--name", default="", help="who did the work; nobody is named without it")
    report.add_argument("--verify", metavar="FILE", help="compare a page with the files here")
    report.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page, or verify one; 1 where a file differs from the page."""
    if options.verify:
        return _verify(Path(options.verify))
    page = certificate(
        coach.ROOT, _workshops(options.workshop), options.name, datetime.now().astimezone()
    )
    out = Path(options.out)
    _write(out, page)
    print(f"Written: {out}. Open it in a browser; it prints on one page for each workshop.")
    return 0


def _workshops(workshop_id: str | None) -> list[Workshop]:
    ids = [workshop_id] if workshop_id else workshop_ids(coach.ROOT)
    if not ids:
        raise WorkshopError("there is no workshop here. Run this in the folder of a workspace.")
    return [load_workshop(coach.ROOT, name) for name in ids]


def _verify(file: Path) -> int:
    try:
        with file.open("rb") as page:
            text = page.read(LONGEST_PAGE).decode("utf-8", "replace")
    except OSError as error:
        raise WorkshopError(f"{file} cannot be read: {error.strerror}. Name a page.") from error
    rows = changed_since(coach.ROOT, text)
    if rows is None:
        raise WorkshopError(f"{file} holds no digest. Give a page that `lab report` has written.")
    if rows:
        print(f"{len(rows)} of the page's files differ from those here:")
        print("\n".join(f"  {row}" for row in rows))
        return 1
    print("Every file that the page names is here, unchanged. Now run the command that it gives.")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise WorkshopError(
            f"{path} cannot be written: {error.strerror}. Give a free name with --out."
        ) from error
