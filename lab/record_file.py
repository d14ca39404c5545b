"""The file behind a plan record, given: JSON Lines, only ever appended to, read anew each time.

It lies outside the message list, so it survives compaction and a restart. A line counts once it is
on the disk with its end; what a crash left of a last line was never acknowledged, so it is ignored
(``torn`` shows it) and cut off before the next line is written.
"""

import copy
import json
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.strict_json import NotStrictJson, parse_json, structure_problem

# How many plans in a row may be refused before the task goes back to a person.
ATTEMPTS = 2
_FIELDS: dict[str, dict[str, type]] = {
    "plan": {"version": int, "plan": dict},
    "refused": {},
    "handed_back": {},
    "step": {
        "version": int, "n": int, "tool": str, "status": str, "problems": list, "snapshots": list,
    },
}  # fmt: skip


class PlanRecordError(ValueError):
    """Something of the harness's own cannot be used: a file, a time, a policy.

    ``problems`` holds one text for each thing that is wrong. A refused plan is no such error: it
    comes back as a list of problems.
    """

    def __init__(self, *problems: str) -> None:
        """Take the problems."""
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass
class State:
    """What the lines of a record add up to."""

    versions: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)
    refusals: int = 0
    handed_back: bool = False
    last: datetime | None = None
    torn: str = ""
    whole_bytes: int = 0

    def add(self, row: Any) -> None:
        """Take one event; raise ``ValueError`` where it cannot come next."""
        _check_form(row)
        at = parse_time(row["at"])
        if self.last is not None and at < self.last:
            raise ValueError(f"{row['at']} lies before the line above it")
        if self.handed_back:
            raise ValueError("the task was handed back, nothing comes after that")
        self.last = at
        {"plan": self._plan, "step": self._step}.get(row["event"], self._attempt)(row)

    def _plan(self, row: dict[str, Any]) -> None:
        if row["version"] != len(self.versions) + 1:
            raise ValueError(f"version {row['version']} is not {len(self.versions) + 1}")
        self.versions.append({key: row[key] for key in ("version", "at", "plan")})
        self.refusals = 0

    def _step(self, row: dict[str, Any]) -> None:
        if row["version"] != len(self.versions) or not self.versions:
            raise ValueError(f"a step of version {row['version']}, which is not in force")
        self.trace.append({key: value for key, value in row.items() if key != "event"})

    def _attempt(self, row: dict[str, Any]) -> None:
        self.handed_back = row["event"] == "handed_back"
        self.refusals += not self.handed_back


class RecordFile:
    """Versions, refusals and the trace of one task, as they stand in one file."""

    def __init__(self, file: str | Path) -> None:
        """Open a record, or begin one; raise ``PlanRecordError`` where the file is broken."""
        self._file = Path(file)
        self._state()

    @property
    def versions(self) -> list[dict[str, Any]]:
        """Give every accepted plan, with its version and the time from which it is in force."""
        return copy.deepcopy(self._state().versions)

    @property
    def revisions(self) -> int:
        """Count the plans after the first: the cheapest sign of how a run is doing."""
        return max(0, len(self._state().versions) - 1)

    @property
    def refusals(self) -> int:
        """Count the refused plans in a row. An accepted plan sets it to 0, a restart does not."""
        return self._state().refusals

    @property
    def handed_back(self) -> bool:
        """Tell whether the task is back with a person. It goes on under a new record, or never."""
        return self._state().handed_back

    @property
    def trace(self) -> list[dict[str, Any]]:
        """Give the steps of every dry run, each with the version it ran under."""
        return copy.deepcopy(self._state().trace)

    @property
    def torn(self) -> str:
        """Give what a crash left of the last line, "" where nothing is left over."""
        return self._state().torn

    def version_at(self, time: str) -> int:
        """Give the version in force at a time (ISO 8601, with its zone), 0 before the first."""
        moment = _own_time(time)
        rows = self._state().versions
        return max((row["version"] for row in rows if parse_time(row["at"]) <= moment), default=0)

    def plan_at(self, time: str) -> dict[str, Any] | None:
        """Give the plan in force at a time (ISO 8601, with its zone), None before the first."""
        version = self.version_at(time)
        plan: dict[str, Any] | None = self.versions[version - 1]["plan"] if version else None
        return plan

    def add_plan(self, plan: dict[str, Any], now: str) -> int:
        """Store a plan as the next version, and give its number."""
        version = len(self._state().versions) + 1
        self._append({"event": "plan", "at": now, "version": version, "plan": plan})
        return version

    def add_refusal(self, now: str) -> None:
        """Count one refusal. The plan itself is not kept."""
        self._append({"event": "refused", "at": now})

    def hand_back(self, now: str) -> dict[str, Any]:
        """Give the task back to a person, and the answer that says so."""
        _own_time(now)
        if not self.handed_back:
            self._append({"event": "handed_back", "at": now})
        return {"status": "handed_back", "attempts_left": 0}

    def add_step(self, row: dict[str, Any]) -> dict[str, Any]:
        """Store what became of one step, and give it back."""
        self._append({"event": "step", **row})
        return row

    def _state(self) -> State:
        try:
            data = self._file.read_bytes() if self._file.exists() else b""
        except (OSError, ValueError) as error:
            raise PlanRecordError(f"{self._file.name} cannot be read: {error}") from error
        *lines, rest = data.split(b"\n")
        state = State(torn=rest.decode(errors="replace"), whole_bytes=len(data) - len(rest))
        for number, line in enumerate(lines, start=1):
            try:
                state.add(parse_json(line))
            except (NotStrictJson, ValueError) as error:
                place = f"{self._file.name}, line {number}"
                raise PlanRecordError(f"{place}: {error}. Look at the file by hand.") from error
        return state

    def _append(self, row: dict[str, Any]) -> None:
        """Write one event and wait until it is on the disk."""
        _own_time(row["at"])
        state = self._state()
        try:
            state.add(row)
        except ValueError as error:
            raise PlanRecordError(f"nothing was written: {error}") from error
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
        try:
            with self._file.open("ab") as file:
                file.truncate(state.whole_bytes)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise PlanRecordError(f"{self._file.name} cannot be written: {error}") from error


def parse_time(text: object) -> datetime:
    """Read an ISO 8601 time with its zone; raise ``ValueError`` for anything else."""
    try:
        time = datetime.fromisoformat(text) if type(text) is str else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        found = ascii(text)[:60]
        raise ValueError(f"{found} is no ISO 8601 time with a zone, like 2026-03-31T09:12:04Z")
    return time


def _own_time(text: object) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise PlanRecordError(str(error)) from error


def _check_form(row: Any) -> None:
    """Raise ``ValueError`` where an event does not have exactly the fields of its kind."""
    if problem := structure_problem(row):
        raise ValueError(problem)
    kind = row.get("event") if type(row) is dict else None
    fields = _FIELDS.get(kind) if type(kind) is str else None
    if fields is None:
        raise ValueError("not an event of a plan record")
    wanted = {"event": str, "at": str, **fields}
    if row.keys() != wanted.keys() or any(type(row[k]) is not t for k, t in wanted.items()):
        raise ValueError(f"an event {kind!r} has other fields than it must have")
