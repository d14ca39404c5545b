"""The clock of a session: one pure function, ``state_at(plan, log, now)``.

All that a page, the log's reader or a notebook says about time comes out of here. Nothing in here
reads a clock, a file or the network, and any list of events gives a state: an event that makes no
sense where it stands (a pause while paused, a cut of what must stay) changes nothing. A time that
lies before the one already counted to, after a clock was set back, counts as no time.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from instructor.session.log import Event
from instructor.session.moves import CHANGES, counted
from instructor.session.plan import Plan
from instructor.session.state import MINUTE, ZERO, State, freed_by, is_station


def state_at(plan: Plan, log: Iterable[Event], now: datetime) -> State:
    """Give the state of a session: its plan, what happened so far, and the time."""
    events = [event for event in log if event.event in CHANGES]
    minutes = tuple(timedelta(minutes=block.minutes) for block in plan.blocks)
    first = events[0].at if events else now
    state = State(plan, first, "ready", 0, minutes, tuple(ZERO for _ in minutes))
    for event in events:
        state = CHANGES[event.event](counted(state, event.at), event)
    return counted(state, now)


def proposals(state: State) -> list[int]:
    """List the cuts to propose, the first first: none while the session is on plan."""
    if whole_minutes(state.over) < 1:
        return []
    return [cut for cut in possible_cuts(state) if cut not in state.declined]


def possible_cuts(state: State) -> list[int]:
    """List the cuts that can still be taken: the station first, then in the order of the plan."""
    found = [index for index in range(len(state.plan.cuts)) if freed_by(state, index) is not None]
    return sorted(found, key=lambda index: not is_station(state.plan, index))


def due_cues(state: State) -> list[int]:
    """List the places of the cues of this block that were due so far, the newest last."""
    return sorted(cue for block, cue in state.said if block == state.block)


def whole_minutes(time: timedelta) -> int:
    """Give the full minutes in a time, towards zero."""
    return int(time / MINUTE)
