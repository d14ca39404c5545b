"""What the room takes, out of the logs of its sessions, beside what the plan gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from instructor.session.clock import state_at
from instructor.session.log import SessionLog
from instructor.session.minutes import propose
from instructor.session.plan import Plan
from instructor.session.state import MINUTE, State

# Whoever presses a key some seconds late is on plan.
OFF_MINUTES = 2


@dataclass(frozen=True)
class Sitting:
    """One session: the minutes that each block took, by its id; only of blocks that came to an end.

    ``reached`` holds the minutes of the session at which pairs had a block, by its id.
    """

    name: str
    taken: dict[str, float]
    reached: dict[str, tuple[float, ...]]
    cut: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockPace:
    """One block: what the plan gives, what each session took, and what to try the next time."""

    id: str
    title: str
    planned: int
    taken: tuple[float, ...]
    proposed: int
    keep: bool = False
    cut: int = 0
    ends: int = 0
    reached: tuple[float, ...] = ()

    @property
    def median(self) -> float | None:
        """Give the minutes of the median session, None where there is none."""
        return median(self.taken) if self.taken else None

    @property
    def over(self) -> int:
        """Count the sessions that took clearly more than planned."""
        return sum(taken >= self.planned + OFF_MINUTES for taken in self.taken)

    @property
    def under(self) -> int:
        """Count the sessions that took clearly less than planned."""
        return sum(taken <= self.planned - OFF_MINUTES for taken in self.taken)

    @property
    def said(self) -> str:
        """Say where most sessions part from the plan; "" where they do not."""
        number = max(self.over, self.under)
        if self.median is None or 2 * number <= len(self.taken):
            return ""
        return (
            f"{self.title}: {round(self.median)} of {self.planned} minutes "
            f"in {number} of {in_words(self.taken)}"
        )


def in_words(sessions: Sequence[object]) -> str:
    """Count sessions, with the word that goes with the number."""
    return f"{len(sessions)} {'session' if len(sessions) == 1 else 'sessions'}"


@dataclass(frozen=True)
class RoomPace:
    """A workshop's blocks over several sessions, and what is to be said about the logs."""

    workshop: str
    title: str
    blocks: tuple[BlockPace, ...]
    sittings: tuple[Sitting, ...]

    @property
    def planned(self) -> int:
        """Add up what the plan gives."""
        return sum(block.planned for block in self.blocks)

    @property
    def taken(self) -> float:
        """Add up the median minutes, with the plan's where nobody knows."""
        return sum(b.planned if b.median is None else b.median for b in self.blocks)

    @property
    def parts(self) -> tuple[BlockPace, ...]:
        """List the blocks in which most sessions part from the plan."""
        return tuple(block for block in self.blocks if block.said)


def sitting_of(name: str, log: SessionLog, plan: Plan) -> Sitting:
    """Read one session out of its log; ``plan`` is the one to compare with."""
    ids = [block.id for block in log.plan.blocks]
    state = state_at(log.plan, log.events, log.events[-1].at if log.events else log.began)
    seen = sorted({stretch.block for stretch in state.stretches if not stretch.paused})
    whole = [place for place in seen if place < state.block or state.phase == "ended"]
    cut = {log.plan.cuts[item.cut].block for item in state.taken}
    return Sitting(
        name,
        {ids[place]: state.used[place] / MINUTE for place in whole},
        _reached(log, state),
        frozenset(cut),
        tuple(_remarks(log, state, plan)),
    )


def room_pace(plan: Plan, sittings: Sequence[Sitting]) -> RoomPace:
    """Set the sessions of one workshop against its plan, and share the minutes out anew."""
    columns = [
        tuple(item.taken[block.id] for item in sittings if block.id in item.taken)
        for block in plan.blocks
    ]
    keep = [block.id in plan.keep for block in plan.blocks]
    planned = [block.minutes for block in plan.blocks]
    proposed = propose(planned, [median(own) if own else None for own in columns], keep)
    blocks = tuple(
        BlockPace(
            block.id,
            block.title,
            block.minutes,
            columns[place],
            proposed[place],
            keep[place],
            sum(block.id in item.cut for item in sittings),
            plan.begins(place + 1),
            tuple(at for item in sittings for at in item.reached.get(block.id, ())),
        )
        for place, block in enumerate(plan.blocks)
    )
    if not any(block.said for block in blocks):
        blocks = tuple(replace(block, proposed=block.planned) for block in blocks)
    return RoomPace(plan.workshop, plan.title, blocks, tuple(sittings))


def _reached(log: SessionLog, state: State) -> dict[str, tuple[float, ...]]:
    """Gather the minutes, from the start, at which pairs had each block for the first time."""
    found: dict[str, list[float]] = {}
    for event in log.events:
        if event.event == "outcome" and event.block and state.started and event.at > state.started:
            found.setdefault(event.block, []).append((event.at - state.started) / MINUTE)
    return {block: tuple(minutes) for block, minutes in found.items()}


def _remarks(log: SessionLog, state: State, plan: Plan) -> Iterator[str]:
    if log.cut_off:
        yield "its last line is cut off and was left out"
    if state.phase == "ready":
        yield "it was never started"
    elif state.phase != "ended":
        yield "it has no end, so the block that it stops in was left out"
    then = {block.id: block.minutes for block in log.plan.blocks}
    now = {block.id: block.minutes for block in plan.blocks}
    if then.keys() != now.keys():
        yield "its plan had other blocks; those of the same name were counted"
    changed = [f"{id_} {then[id_]} minutes" for id_ in now if id_ in then and then[id_] != now[id_]]
    if changed:
        yield f"its plan gave {', '.join(changed)}; it is compared with the plan of today"
