"""Pace: when each block's checks were first green in git, against the timing plan. Never graded."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from instructor.history import QUICK, History, WorkshopHistory
from lab.workshop import Workshop

VERSION = 1
# A longer gap between two commits is a break, not work; no session is as long.
LONGEST_GAP_MINUTES = 120
# From here on a block counts as late, and so many blocks in one commit as arriving at once.
LATE_MINUTES = 10
AT_ONCE = 3


@dataclass(frozen=True)
class BlockPace:
    """One block: the minute at which the plan ends it, and that of the first commit that has it."""

    id: str
    planned_minute: int
    minute: int | None = None
    commit: str = ""

    @property
    def over(self) -> int:
        """Give the minutes over the plan; less than 0 is early, and 0 where it was not reached."""
        return 0 if self.minute is None else self.minute - self.planned_minute

    @property
    def late(self) -> bool:
        """Tell whether the block came well after its time."""
        return self.over > LATE_MINUTES


@dataclass(frozen=True)
class WorkshopPace:
    """One submission's pace in one workshop, and what else its commits show."""

    id: str
    blocks: tuple[BlockPace, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Pace:
    """One submission's pace; ``note`` says why there is none."""

    submission: str
    commits: int
    note: str
    workshops: tuple[WorkshopPace, ...]


def pace_of(submission: str, history: History, began: datetime | None = None) -> Pace:
    """Set a history against the timing plans; ``began`` is when the session did, if it is known."""
    workshops = tuple(_workshop_pace(own, history, began) for own in history.workshops)
    return Pace(submission, len(history.commits), history.note, workshops)


def medians(workshop: str, paces: Sequence[Pace]) -> list[int | None]:
    """Give for each block the minute at which the median pair had it; None where nobody has."""
    rows = [own.blocks for _, own in rows_of(workshop, paces)]
    columns = [[block.minute for block in column] for column in zip(*rows, strict=True)]
    known = [[minute for minute in column if minute is not None] for column in columns]
    return [round(median(minutes)) if minutes else None for minutes in known]


def rows_of(workshop: str, paces: Sequence[Pace]) -> list[tuple[Pace, WorkshopPace]]:
    """List who has a history of one workshop, each with its pace there."""
    return [(pace, own) for pace in paces for own in pace.workshops if own.id == workshop]


def to_json(paces: Sequence[Pace]) -> dict[str, Any]:
    """Give the paces as plain JSON values, the version first."""
    return {"version": VERSION, "submissions": [asdict(pace) for pace in paces]}


def _workshop_pace(own: WorkshopHistory, history: History, began: datetime | None) -> WorkshopPace:
    start = max(own.states[1].commit - 1, 0) if len(own.states) > 1 else 0
    minutes = _minutes(history, start, began)
    blocks, arrived = [], dict[int, list[str]]()
    for block, planned in _plan(own.workshop):
        wanted = [e.id for e in own.workshop.evidence_of(block) if e.kind in QUICK and e.graded]
        first = _first_green(own, wanted)
        if first is None:
            blocks.append(BlockPace(block, planned))
            continue
        arrived.setdefault(first, []).append(block)
        commit = history.commits[first].id[:7]
        blocks.append(BlockPace(block, planned, minutes[first], commit))
    remarks = (*_at_once(arrived, len(blocks), history), *_never_red(own))
    return WorkshopPace(own.workshop.id, tuple(blocks), remarks)


def _plan(workshop: Workshop) -> Iterator[tuple[str, int]]:
    """Yield each timed block with the minute at which the plan ends it."""
    minute = 0
    for block in workshop.blocks:
        minute += block.minutes
        yield block.id, minute


def _minutes(history: History, start: int, began: datetime | None) -> list[int]:
    """Give each commit's minute: of the session, or of work since ``start`` without the breaks."""
    times = [commit.at for commit in history.commits]
    if began:
        return [max(0, round((at - began.timestamp()) / 60)) for at in times]
    minutes, passed = [0] * len(times), 0.0
    for number in range(start + 1, len(times)):
        gap = (times[number] - times[number - 1]) / 60
        passed += gap if 0 < gap <= LONGEST_GAP_MINUTES else 0
        minutes[number] = round(passed)
    return minutes


def _first_green(own: WorkshopHistory, wanted: list[str]) -> int | None:
    """Find the first commit after which all of this evidence is green."""
    if not wanted:
        return None
    green = (s for s in own.states if all(s.outcomes[name] == "pass" for name in wanted))
    return next((state.commit for state in green), None)


def _at_once(arrived: dict[int, list[str]], total: int, history: History) -> Iterator[str]:
    for number, blocks in arrived.items():
        if len(blocks) >= min(AT_ONCE, total):
            commit = history.commits[number]
            when = datetime.fromtimestamp(commit.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
            yield f"{len(blocks)} of {total} blocks arrive in one commit ({commit.id[:7]}, {when})."


def _never_red(own: WorkshopHistory) -> Iterator[str]:
    """Name evidence that the lab wants to be red first, and that was green from its first commit.

    The oldest state is what the pair was given, unless it has done everything in one commit.
    """
    for evidence in own.workshop.evidence:
        green = _first_green(own, [evidence.id]) if evidence.options.get("red_first") else None
        if green is not None and not any(state.commit < green for state in own.states[1:]):
            yield f"No commit of the pair's has this red before it is green: {evidence.title}"
