"""The file behind a plan record, given: JSON Lines, only ever appended to, read anew each time.

It lies outside the message list, so it survives compaction and a restart. A line counts once it is
on the disk with its end; what a crash left of a last line was never acknowledged, so it is ignored
(``torn`` shows it) and cut off before the next line is written. Who writes holds a lock on the file
from reading it to the end of the line; a system without ``flock`` has room for one writer only.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.strict_json import MAX_BYTES, NotStrictJson, parse_json, structure_problem

try:
    import fcntl
except ImportError:  # Windows has no flock; its own locks would keep this very module from reading.
    fcntl = None  # type: ignore[assignment]

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
        try:
            self._file = Path(file)
        except TypeError as error:
            raise PlanRecordError("a record is opened by the path of its file") from error
        self._state()

    @property
    def versions(self) -> list[dict[str, Any]]:
        """Give every accepted plan, with its version and the time from which it is in force."""
        return self._state().versions

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
        return self._state().trace

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
        row = self._append(
            lambda state: {
                "event": "plan", "at": now, "version": len(state.versions) + 1, "plan": plan
            }
        )  # fmt: skip
        return int(row["version"])

    def add_refusal(self, now: str) -> None:
        """Count one refusal. The plan itself is not kept."""
        self._append(lambda _: {"event": "refused", "at": now})

    def hand_back(self, now: str) -> dict[str, Any]:
        """Give the task back to a person, and the answer that says so."""
        _own_time(now)
        if not self.handed_back:
            self._append(lambda _: {"event": "handed_back", "at": now})
        return {"status": "handed_back", "attempts_left": 0}

    def add_step(self, row: dict[str, Any]) -> dict[str, Any]:
        """Store what became of one step, and give it back."""
        self._append(lambda _: {"event": "step", **row})
        return row

    def _state(self) -> State:
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            data = b""
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

    def _append(self, event_after: Callable[[State], dict[str, Any]]) -> dict[str, Any]:
        """Write the event that comes after what stands there, and wait until it is on the disk."""
        _own_time(event_after(State())["at"])
        try:
            with self._file.open("ab") as file:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                state = self._state()
                row = event_after(state)
                line = _line(row, state)
                if state.torn:
                    file.truncate(state.whole_bytes)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise PlanRecordError(f"{self._file.name} cannot be written: {error}") from error
        return row


def _line(row: dict[str, Any], state: State) -> bytes:
    """Make the line of an event; refuse one that a reader of the file would refuse."""
    try:
        state.add(row)
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
    except ValueError as error:
        raise PlanRecordError(f"nothing was written: {error}") from error
    if len(line) > MAX_BYTES:
        raise PlanRecordError(f"nothing was written: a line longer than {MAX_BYTES:,} bytes")
    return line


def parse_time(text: object) -> datetime:
    """Read an ISO 8601 time with its zone; raise ``ValueError`` for anything else."""
    try:
        time = datetime.fromisoformat(text) if type(text) is str else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        found = ascii(text)[:60] if type(text) is str else f"a value of type {type(text).__name__}"
        raise ValueError(f"{found} is no ISO 8601 time with a zone, like 2026-03-31T09:12:04Z")
    return time


def _own_time(text: object) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise PlanRecordError(str(error)) from error


def _check_form(row: Any) -> None:
    """Raise ``ValueError`` where an event does not have exactly the fields of its kind."""
    # The plan by itself, as the check saw it: in its row it lies one level deeper.
    parts = [row]
    if type(row) is dict and type(row.get("plan")) is dict:
        parts = [{**row, "plan": {}}, row["plan"]]
    for problem in filter(None, map(structure_problem, parts)):
        raise ValueError(problem)
    kind = row.get("event") if type(row) is dict else None
    fields = _FIELDS.get(kind) if type(kind) is str else None
    if fields is None:
        raise ValueError("not an event of a plan record")
    wanted = {"event": str, "at": str, **fields}
    if row.keys() != wanted.keys() or any(type(row[k]) is not t for k, t in wanted.items()):
        raise ValueError(f"an event {kind!r} has other fields than it must have")
