"""The timing plan as the clock reads it: blocks, cues, and what may be cut."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from lab.workshop import Block, Cue, Cut, Exercise, Workshop


@dataclass(frozen=True)
class Plan:
    """What a session is run by; a log begins with it, so the log can be read without the course.

    ``starts`` is the time on the invitation, where there is one: a late start counts as over.
    """

    workshop: str
    title: str
    blocks: tuple[Block, ...]
    cuts: tuple[Cut, ...] = ()
    keep: tuple[str, ...] = ()
    station: Block | None = None
    starts: datetime | None = None

    @property
    def total(self) -> timedelta:
        """Add up the planned minutes of the blocks; the station lies outside."""
        return timedelta(minutes=sum(block.minutes for block in self.blocks))

    def index(self, block_id: str) -> int | None:
        """Give the place of a timed block, or None."""
        ids = [block.id for block in self.blocks]
        return ids.index(block_id) if block_id in ids else None

    def begins(self, index: int) -> int:
        """Give the minute of the session at which a block is planned to begin."""
        return sum(block.minutes for block in self.blocks[:index])

    def to_json(self) -> dict[str, Any]:
        """Give the plan as plain JSON values, without the event and time of its line."""
        starts = self.starts.isoformat() if self.starts else None
        return {**asdict(self), "starts": starts}


def plan_of(workshop: Workshop, starts: datetime | None = None) -> Plan:
    """Take from a workshop what the clock needs."""
    return Plan(
        workshop=workshop.id,
        title=workshop.title,
        blocks=workshop.blocks,
        cuts=workshop.cuts,
        keep=workshop.keep,
        station=workshop.station,
        starts=starts,
    )


def plan_from_json(row: dict[str, Any]) -> Plan:
    """Give the plan that the first line of a log describes."""
    return Plan(
        workshop=row["workshop"],
        title=row["title"],
        blocks=tuple(_block(item) for item in row["blocks"]),
        cuts=tuple(Cut(**item) for item in row["cuts"]),
        keep=tuple(row["keep"]),
        station=_block(row["station"]) if row["station"] else None,
        starts=datetime.fromisoformat(row["starts"]) if row["starts"] else None,
    )


def _block(row: dict[str, Any]) -> Block:
    exercises = tuple(Exercise(**item) for item in row["exercises"])
    return Block(**{**row, "exercises": exercises, "cues": tuple(Cue(**c) for c in row["cues"])})
