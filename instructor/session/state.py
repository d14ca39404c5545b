"""Where a session stands: plain values, and what follows from them alone."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from instructor.session.plan import Plan

ZERO = timedelta()
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Stretch:
    """A stretch of time in the room: in a block, or a pause in it."""

    block: int
    paused: bool
    begin: datetime
    end: datetime


@dataclass(frozen=True)
class Taken:
    """A cut that was accepted, and the time that it freed."""

    cut: int
    freed: timedelta


@dataclass(frozen=True)
class State:
    """Where a session stands at a time.

    ``phase`` is ``ready``, ``running``, ``paused`` or ``ended``. ``allotted`` and ``used`` hold a
    time for each block: what it has now, after cuts and minutes more or less, and what it took.
    ``now`` stands still once the session has ended. ``said`` holds the cues that were due so far,
    as pairs of places: of the block, and of the cue in it. The last four fields are for going back:
    time in this stay, where its stretches begin, how it came about, and the phase before the end.
    """

    plan: Plan
    now: datetime
    phase: str
    block: int
    allotted: tuple[timedelta, ...]
    used: tuple[timedelta, ...]
    started: datetime | None = None
    stretches: tuple[Stretch, ...] = ()
    taken: tuple[Taken, ...] = ()
    declined: frozenset[int] = frozenset()
    said: frozenset[tuple[int, int]] = frozenset()
    stay: timedelta = ZERO
    entered: int = 0
    by_next: bool = False
    before_end: str = ""

    @property
    def left(self) -> timedelta:
        """Give the time that the block has left; negative when it runs over."""
        return self.allotted[self.block] - self.used[self.block]

    @property
    def block_ends(self) -> datetime | None:
        """Give the time at which the block's minutes are up; None unless they are running."""
        return self.now + self.left if self.phase == "running" else None

    @property
    def ends(self) -> datetime:
        """Give the time at which the session ends if the rest goes by its minutes."""
        if self.phase == "ended":
            return self.now
        begins = max(self.now, self.plan.starts or self.now) if not self.started else self.now
        return begins + sum((self.rest(place) for place in self.ahead), ZERO)

    @property
    def planned_end(self) -> datetime:
        """Give the time at which the plan wants the session to end."""
        return (self.plan.starts or self.started or self.now) + self.plan.total

    @property
    def over(self) -> timedelta:
        """Give how much later than planned it ends; negative when there is time in hand."""
        return self.ends - self.planned_end

    @property
    def ahead(self) -> range:
        """Give the places of the block at hand and of those to come."""
        return range(self.block, len(self.plan.blocks))

    def rest(self, place: int) -> timedelta:
        """Give the time that a block still has, never negative."""
        return max(ZERO, self.allotted[place] - self.used[place])


def freed_by(state: State, cut: int) -> timedelta | None:
    """Give the time that a cut frees now, or None where it cannot be taken.

    The station lies outside the plan, so it frees none. A block frees what it has left at most,
    and a cut that frees less than a minute is none.
    """
    plan = state.plan
    known = 0 <= cut < len(plan.cuts) and state.phase != "ended"
    if not known or cut in {taken.cut for taken in state.taken}:
        return None
    item = plan.cuts[cut]
    if item.block in plan.keep:
        return None
    if is_station(plan, cut):
        return ZERO
    place = plan.index(item.block)
    if place is None or place not in state.ahead:
        return None
    freed = min(timedelta(minutes=item.minutes), state.rest(place))
    return freed if freed >= MINUTE else None


def cue_after(state: State, block: int, cue: int) -> timedelta:
    """Give the time within its block after which a cue is due.

    Cues go with their block, however late it begins. In a block with fewer minutes than planned
    they come sooner in proportion; in one with more they stay.
    """
    item = state.plan.blocks[block]
    planned = timedelta(minutes=item.minutes)
    after = timedelta(minutes=item.cues[cue].minute - state.plan.begins(block))
    return after * (min(state.allotted[block], planned) / planned)


def is_station(plan: Plan, cut: int) -> bool:
    """Tell whether a cut is of the station, which lies outside the minutes."""
    return plan.station is not None and plan.cuts[cut].block == plan.station.id
