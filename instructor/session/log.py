"""The log of a session: what happened in the room, one JSON object a line, in the order of time.

The first line is the plan, so that a log can be read without the course::

    {"at": "2026-09-05T13:00:02+02:00", "event": "plan", "version": 1, "workshop": "…",
     "title": "…", "starts": null, "blocks": [{"id": "…", "minutes": 10, …}, …], "cuts": […], …}

Every further line is an event, with ``at`` as an ISO time with its zone:

========== ====================== ===============================================================
event      with                   means
========== ====================== ===============================================================
start                             the first block begins
pause                             the block stops counting
resume                            it counts on
next       block                  that block is over, the next one begins
back       block                  from that block to the one before; within a minute, it undoes next
minutes    block, minutes         that block gets so many minutes more, or less (-1)
cut        cut, block, minutes    the plan's cut with that index is taken: so many minutes less
restore    cut                    a cut is taken back
decline    cut                    the page proposes that cut no more
end                               the session is over
outcome    pair, block, outcome   the board saw that block of a pair turn to ``pass``, for the first
                                  time
========== ====================== ===============================================================

Planned minutes stand in the plan; actual ones come out of the clock::

    log = read_log(path)
    state = state_at(log.plan, log.events, log.events[-1].at)   # state.used, block by block

``session.schema.json`` describes a line. A last line that was cut off by a crash is left out.
"""

import functools
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from instructor import COURSE, CourseError
from instructor.session.plan import Plan, plan_from_json

VERSION = 1
SCHEMA_FILE = COURSE / "instructor" / "schemas" / "session.schema.json"


@dataclass(frozen=True)
class Event:
    """One thing that happened; which of the fields count depends on ``event``."""

    at: datetime
    event: str
    block: str | None = None
    minutes: int | None = None
    cut: int | None = None
    pair: str | None = None
    outcome: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the event as plain JSON values, without the fields that it does not use."""
        row = {**asdict(self), "at": self.at.isoformat()}
        return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True)
class SessionLog:
    """A log as it was read; ``cut_off`` counts the bytes of a last line without an end."""

    plan: Plan
    began: datetime
    events: tuple[Event, ...]
    cut_off: int = 0

    @property
    def ended(self) -> bool:
        """Tell whether the session is over."""
        said = [event.event for event in self.events if event.event != "outcome"]
        return bool(said) and said[-1] == "end"


def plan_line(plan: Plan, at: datetime) -> str:
    """Give the first line of a log."""
    row = {"at": at.isoformat(), "event": "plan", "version": VERSION, **plan.to_json()}
    return json.dumps(row, ensure_ascii=False) + "\n"


def event_line(event: Event) -> str:
    """Give an event as a line of a log."""
    return json.dumps(event.to_json(), ensure_ascii=False) + "\n"


def read_log(path: Path) -> SessionLog:
    """Read a log; raise ``CourseError`` naming the line that is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error}. Name the log of a session.") from error
    whole, newline, rest = data.rpartition(b"\n")
    rows = [_row(path, number, line) for number, line in enumerate(whole.splitlines(), start=1)]
    if not newline or rows[0]["event"] != "plan":
        raise CourseError(f"{path} does not begin with a plan. Name the log of a session.")
    if any(row["event"] == "plan" for row in rows[1:]):
        raise CourseError(f"{path} holds two plans. Give each session a log of its own.")
    events = tuple(_event(row) for row in rows[1:])
    return SessionLog(plan_from_json(rows[0]), _time(rows[0]), events, len(rest))


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        worst = next(_validator().iter_errors(row), None)
        wrong = worst.message[:200] if worst else ""
        if not wrong:
            _time(row)
    except (ValueError, RecursionError) as error:
        wrong = str(error)[:200]
    if wrong:
        raise CourseError(
            f"{path}, line {number} is no event of a session: {wrong}. "
            "Take the line out, or name another log."
        )
    return row  # type: ignore[no-any-return]


def _event(row: dict[str, Any]) -> Event:
    return Event(**{**row, "at": _time(row)})


def _time(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["at"])


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
