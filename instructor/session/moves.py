"""What each event changes. One that makes no sense where it stands changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from instructor.session.log import Event
from instructor.session.state import MINUTE, ZERO, State, Stretch, Taken, cue_after, freed_by

# Whoever goes back sooner than this pressed next by mistake: the time belongs to the block before.
UNDO = MINUTE


def counted(state: State, to: datetime) -> State:
    """Count on to a time, in the block or in its pause."""
    if state.phase == "ended" or to <= state.now:
        return with_cues(state)
    passed = to - state.now
    if state.phase == "ready":
        return replace(state, now=to)
    paused = state.phase == "paused"
    stretch = Stretch(state.block, paused, state.now, to)
    state = replace(state, now=to, stretches=_joined(state.stretches, stretch, state.entered))
    if paused:
        return state
    used = _changed(state.used, state.block, state.used[state.block] + passed)
    return with_cues(replace(state, used=used, stay=state.stay + passed))


def with_cues(state: State) -> State:
    """Remember which cues are due, so that a minute more does not take one back."""
    if state.phase == "ready":
        return state
    place, used = state.block, state.used[state.block]
    cues = range(len(state.plan.blocks[place].cues))
    due = {(place, cue) for cue in cues if used >= cue_after(state, place, cue)}
    return replace(state, said=state.said | due)


def _joined(stretches: tuple[Stretch, ...], new: Stretch, entered: int) -> tuple[Stretch, ...]:
    """Add a stretch; it continues the last one where nothing changed in between."""
    last = stretches[-1] if len(stretches) > entered else None
    if last and (last.block, last.paused) == (new.block, new.paused):
        return (*stretches[:-1], replace(last, end=new.end))
    return (*stretches, new)


def _start(state: State, event: Event) -> State:
    if state.phase != "ready":
        return state
    return replace(state, phase="running", started=max(event.at, state.now))


def _pause(state: State, _: Event) -> State:
    return replace(state, phase="paused") if state.phase == "running" else state


def _resume(state: State, _: Event) -> State:
    return replace(state, phase="running") if state.phase == "paused" else state


def _next(state: State, event: Event) -> State:
    if state.phase not in {"running", "paused"} or _elsewhere(state, event):
        return state
    if state.block + 1 == len(state.plan.blocks):
        return _end(state, event)
    return replace(_entered(state, state.block + 1), by_next=True)


def _back(state: State, event: Event) -> State:
    """Go to the block before; what was next for less than a minute was never next."""
    if _elsewhere(state, event):
        return state
    if state.phase == "ended":
        return replace(state, phase=state.before_end)
    if state.phase == "ready" or state.block == 0:
        return state
    before = state.block - 1
    if state.by_next and state.stay < UNDO:
        state = _given_back(state, before)
    return _entered(state, before)


def _given_back(state: State, before: int) -> State:
    """Give the time of this stay to the block before, as if next had not been pressed."""
    used = _changed(state.used, state.block, state.used[state.block] - state.stay)
    used = _changed(used, before, used[before] + state.stay)
    stretches = state.stretches[: state.entered]
    for stretch in state.stretches[state.entered :]:
        stretches = _joined(stretches, replace(stretch, block=before), 0)
    said = frozenset(pair for pair in state.said if pair[0] != state.block)
    return replace(state, used=used, stretches=stretches, said=said)


def _entered(state: State, place: int) -> State:
    entered = len(state.stretches)
    return with_cues(replace(state, block=place, stay=ZERO, entered=entered, by_next=False))


def _minutes(state: State, event: Event) -> State:
    """Give a block minutes, or take some; what it has used already cannot be taken."""
    if state.phase == "ended" or _elsewhere(state, event):
        return state
    allotted, used = state.allotted[state.block], state.used[state.block]
    changed = allotted + timedelta(minutes=event.minutes or 0)
    allotted = max(changed, min(allotted, used))
    return with_cues(replace(state, allotted=_changed(state.allotted, state.block, allotted)))


def _cut(state: State, event: Event) -> State:
    cut = -1 if event.cut is None else event.cut
    freed = freed_by(state, cut)
    if freed is None:
        return state
    state = replace(state, taken=(*state.taken, Taken(cut, freed)))
    place = state.plan.index(state.plan.cuts[cut].block)
    return state if place is None else _allotted(state, place, -freed)


def _restore(state: State, event: Event) -> State:
    taken = next((item for item in state.taken if item.cut == event.cut), None)
    if taken is None or state.phase == "ended":
        return state
    state = replace(state, taken=tuple(item for item in state.taken if item is not taken))
    place = state.plan.index(state.plan.cuts[taken.cut].block)
    return state if place is None else _allotted(state, place, taken.freed)


def _decline(state: State, event: Event) -> State:
    known = event.cut is not None and 0 <= event.cut < len(state.plan.cuts)
    return replace(state, declined=state.declined | {event.cut or 0}) if known else state


def _end(state: State, _: Event) -> State:
    if state.phase not in {"running", "paused"}:
        return state
    return replace(state, phase="ended", before_end=state.phase)


def _allotted(state: State, place: int, more: timedelta) -> State:
    changed = _changed(state.allotted, place, state.allotted[place] + more)
    return with_cues(replace(state, allotted=changed))


def _changed(times: tuple[timedelta, ...], place: int, time: timedelta) -> tuple[timedelta, ...]:
    return (*times[:place], time, *times[place + 1 :])


def _elsewhere(state: State, event: Event) -> bool:
    """Tell whether an event is about another block than the one at hand, as a late click is."""
    return event.block is not None and event.block != state.plan.blocks[state.block].id


CHANGES: dict[str, Callable[[State, Event], State]] = {
    "start": _start,
    "pause": _pause,
    "resume": _resume,
    "next": _next,
    "back": _back,
    "minutes": _minutes,
    "cut": _cut,
    "restore": _restore,
    "decline": _decline,
    "end": _end,
}
