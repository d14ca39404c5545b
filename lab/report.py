"""The certificate of replay: one page that says what was reached, and how anyone can see it again.

It is for a portfolio or a supervisor. Nothing in it has to be believed: it names the files by their
digests and the command that judges them. There is no account, no network and no script in it.
"""

import html
import platform
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lab.cards import MARKS, Line, outcome_of
from lab.checks import Checks
from lab.digests import MISSING, SHOWN_DIGITS, digest, digests, whole, work_files
from lab.report_style import PAGE, SHEET
from lab.workshop import Block, Workshop

_WORDS = {"pass": "reached", "fail": "not yet", "blocked": "waits", "": "no check"}


@dataclass(frozen=True)
class Reached:
    """A block, and what the visible checks say of it now."""

    block: Block
    lines: tuple[Line, ...]

    @property
    def outcome(self) -> str:
        """Give ``pass``, ``fail``, ``blocked``, or "" where nothing is checked."""
        return outcome_of(self.lines)

    @property
    def count(self) -> str:
        """Say how many checks pass, of how many."""
        done = sum(line.outcome == "pass" for line in self.lines)
        return f"{done} of {len(self.lines)}" if self.lines else "–"


def certificate(root: Path, workshops: Sequence[Workshop], name: str, now: datetime) -> str:
    """Write the page: one sheet of A4 for each workshop, judged as the files are saved now."""
    sheets = "".join(_sheet(root, workshop, name, now) for workshop in workshops)
    titles = ", ".join(workshop.title for workshop in workshops)
    return PAGE.format(title=_text(titles), sheets=sheets)


def reached(root: Path, workshop: Workshop) -> list[Reached]:
    """Judge each block as ``lab check`` does; a check that breaks is a check that fails.

    It counts as no try: who writes a page does not ask for a solution.
    """
    checks = Checks(root, workshop)
    return [Reached(block, _lines(checks, block)) for block in workshop.all_blocks]


def changed_since(root: Path, page: str) -> list[str] | None:
    """Compare the digests on a certificate with the files here; None where it holds none."""
    reader = _Reader()
    reader.feed(page)
    if not reader.found:
        return None
    rows = []
    for file, then in reader.found.items():
        now = digest(root / file) if _is_inside(file) else MISSING
        if now != then:
            rows.append(f"{file}: {then[:SHOWN_DIGITS]} then, {now[:SHOWN_DIGITS]} now")
    return rows


def _is_inside(file: str) -> bool:
    """Tell whether a path of a certificate, which anyone may have written, stays in here."""
    path = Path(file)
    return not path.anchor and ".." not in path.parts


class _Reader(HTMLParser):
    """Collect ``data-file`` and ``data-sha256`` of a certificate's rows."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        file, digest = values.get("data-file"), values.get("data-sha256")
        if tag == "tr" and file and digest:
            self.found[file] = digest


def _lines(checks: Checks, block: Block) -> tuple[Line, ...]:
    try:
        return checks.lines(block.id)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's code may raise anything
        return (Line("the check of this block", "fail", f"it ends in {type(error).__name__}"),)


def _sheet(root: Path, workshop: Workshop, name: str, now: datetime) -> str:
    rows = reached(root, workshop)
    timed = [row for row in rows if row.block in workshop.blocks]
    done = sum(row.outcome == "pass" for row in timed)
    work = digests(root, work_files(workshop))
    given = digests(root, sorted(workshop.given))
    return SHEET.format(
        title=_text(workshop.title),
        rule=_text(workshop.rule),
        who=f"<p class='who'>{_text(name)}</p>" if name else "",
        summary=f"{done} of {len(timed)} blocks reached",
        when=now.strftime("%Y-%m-%d %H:%M %z").strip(),
        versions=_text(", ".join(_versions(root))),
        blocks="".join(map(_block_row, rows)),
        whole=whole(work),
        checks=whole(given),
        files="".join(_file_row(file, digest) for file, digest in work.items()),
        command=_text(f"uv run lab check {workshop.id}"),
        expected=_text(_expected(timed)),
    )


def _block_row(row: Reached) -> str:
    kind = row.outcome or "none"
    titles = " ".join(f"{MARKS[line.outcome]} {line.title}" for line in row.lines)
    return (
        f"<tr><td class='{kind}'>{MARKS.get(row.outcome, '–')} {_WORDS[row.outcome]}</td>"
        f"<td><b>{_text(row.block.title)}</b> ({row.block.minutes} min)"
        f"<div class='titles'>{_text(titles)}</div></td><td>{row.count}</td></tr>"
    )


def _file_row(file: str, digest: str) -> str:
    name = _text(file)
    shown = digest[:SHOWN_DIGITS]
    return (
        f"<tr data-file='{name}' data-sha256='{digest}'><td>{name}</td>"
        f"<td><code>{shown}</code></td></tr>"
    )


def _expected(timed: list[Reached]) -> str:
    """Say what the rerun must print, block by block."""
    return " · ".join(f"{row.block.title}: {row.count}" for row in timed)


def _versions(root: Path) -> Iterator[str]:
    yield f"Python {platform.python_version()}"
    for package in ("jsonschema", "pytest"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} not installed"
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        yield f"{project['name']} {project['version']}"
    except (OSError, ValueError, KeyError, TypeError):
        yield "workspace version unknown"


def _text(value: str) -> str:
    return html.escape(value, quote=True)
