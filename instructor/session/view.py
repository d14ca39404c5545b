"""A state as the pages show it: words, clock times and absolute ends, as plain JSON values.

A page adds nothing of its own but counting from its clock, set by ``now``, to these ends.
"""

from datetime import datetime, timedelta
from typing import Any

from instructor.session.clock import due_cues, possible_cuts, proposals, whole_minutes
from instructor.session.state import MINUTE, ZERO, State, cue_after, freed_by

# What is announced of the minutes left, the smallest first.
NOTICES = ((ZERO, "Time is up"), (MINUTE, "1 minute left"), (5 * MINUTE, "5 minutes left"))


def view_of(state: State, now: datetime) -> dict[str, Any]:
    """Give what the projector shows; ``now`` is the time, also where the state stands still."""
    block = state.plan.blocks[state.block]
    ends = state.block_ends
    return {
        "now": _stamp(now),
        "workshop": state.plan.workshop,
        "title": state.plan.title,
        "phase": state.phase,
        "phase_text": _phase_text(state),
        "block": {
            "id": block.id,
            "title": block.title,
            "outcome": block.outcome,
            "number": state.block + 1,
            "of": len(state.plan.blocks),
            "minutes": minutes_text(state.allotted[state.block]),
        },
        "ends": _stamp(ends) if ends else None,
        "left": int(state.left.total_seconds() * 1000),
        "notice": notice(state),
        "next": _next(state),
        "over": whole_minutes(state.over),
        "over_text": over_text(state),
        "begin_text": clock_text(_begin(state)),
        "end_text": clock_text(state.ends),
        "planned_end": _stamp(state.planned_end),
        "planned_end_text": clock_text(state.planned_end),
        "timeline": timeline(state),
        "cue": _cue(state),
        "proposal": _proposal(state),
    }


def teacher_view(state: State, now: datetime) -> dict[str, Any]:
    """Give what the teacher's screen shows: the projector's, every cue and every cut."""
    block = state.plan.blocks[state.block]
    due = due_cues(state)
    cues = [
        {
            "say": cue.say,
            "due": place in due,
            "at": clock_text(state.now + cue_after(state, state.block, place) - _used(state)),
        }
        for place, cue in enumerate(block.cues)
    ]
    cuts = [_cut(state, index) for index in range(len(state.plan.cuts))]
    return {**view_of(state, now), "cues": cues, "cuts": cuts}


def signature(state: State) -> tuple[object, ...]:
    """Give what a page has to be told of at once when it changes; the rest it counts by itself."""
    over = whole_minutes(state.over)
    moved = (state.phase, state.block, state.allotted, state.taken, state.declined)
    return (*moved, state.said, over, notice(state))


def notice(state: State) -> str:
    """Say in words that minutes run out; "" while there are plenty."""
    if state.phase not in {"running", "paused"}:
        return ""
    allotted = state.allotted[state.block]
    found = (text for limit, text in NOTICES if state.left <= limit < max(allotted, MINUTE))
    return next(found, "")


def over_text(state: State) -> str:
    """Say whether the room is on plan, in words that need no colour."""
    minutes = whole_minutes(state.over)
    if not minutes:
        return "On plan"
    unit = "minute" if abs(minutes) == 1 else "minutes"
    return f"{minutes} {unit} over" if minutes > 0 else f"{-minutes} {unit} in hand"


def timeline(state: State) -> list[dict[str, Any]]:
    """Lay out the session: what was, the block at hand up to its end, and what is to come."""
    rows = [_piece(state, s.block, s.begin, s.end, "pause" if s.paused else "done")
            for s in state.stretches]  # fmt: skip
    begin = _begin(state) if state.phase == "ready" else state.now
    for place in state.ahead if state.phase != "ended" else ():
        end = begin + state.rest(place)
        here = place == state.block
        last = rows[-1] if rows else None
        if here and last and (last["block"], last["kind"]) == (place, "done"):
            rows[-1] = {**last, "to": _stamp(end), "kind": "now"}
        elif end > begin or here:
            rows.append(_piece(state, place, begin, end, "now" if here else "next"))
        begin = end
    return rows


def clock_text(time: datetime) -> str:
    """Give a time as the clock on this machine's wall shows it."""
    return time.astimezone().strftime("%H:%M")


def minutes_text(time: timedelta) -> str:
    """Give a time in minutes, to the half."""
    minutes = round(time / MINUTE * 2) / 2
    shown = f"{minutes:g}"
    return f"{shown} minute" if shown == "1" else f"{shown} minutes"


def _phase_text(state: State) -> str:
    if state.phase == "paused" and state.stretches and state.stretches[-1].paused:
        return f"Paused since {clock_text(state.stretches[-1].begin)}"
    words = {"ready": "Not started", "paused": "Paused", "ended": "The session is over"}
    return words.get(state.phase, "")


def _begin(state: State) -> datetime:
    return state.started or max(state.now, state.plan.starts or state.now)


def _used(state: State) -> timedelta:
    return state.used[state.block]


def _next(state: State) -> dict[str, str] | None:
    place = state.block + 1
    if place == len(state.plan.blocks):
        return None
    block = state.plan.blocks[place]
    return {"title": block.title, "minutes": minutes_text(state.rest(place))}


def _cue(state: State) -> dict[str, str] | None:
    due = due_cues(state)
    if not due or state.phase == "ended":
        return None
    block = state.plan.blocks[state.block]
    return {"id": f"{block.id}-{due[-1]}", "say": block.cues[due[-1]].say}


def _proposal(state: State) -> dict[str, Any] | None:
    open_cuts = proposals(state)
    return _cut(state, open_cuts[0]) if open_cuts else None


def _cut(state: State, index: int) -> dict[str, Any]:
    """Describe a cut: what it frees, the end that it leads to, and whether it can be taken."""
    cut, freed = state.plan.cuts[index], freed_by(state, index)
    block = next((b for b in _blocks(state) if b.id == cut.block), None)
    return {
        "cut": index,
        "what": cut.what,
        "title": block.title if block else cut.block,
        "frees": minutes_text(freed) if freed else "",
        "end_text": clock_text(state.ends - (freed or ZERO)),
        "status": _cut_status(state, index),
    }


def _cut_status(state: State, index: int) -> str:
    if any(taken.cut == index for taken in state.taken):
        return "taken"
    if index not in possible_cuts(state):
        return "gone"
    if index in state.declined:
        return "declined"
    return "proposed" if index in proposals(state) else "possible"


def _blocks(state: State) -> list[Any]:
    return [*state.plan.blocks, *([state.plan.station] if state.plan.station else [])]


def _piece(state: State, place: int, begin: datetime, end: datetime, kind: str) -> dict[str, Any]:
    title = state.plan.blocks[place].title
    span = {"from": _stamp(begin), "to": _stamp(end)}
    return {"block": place, "title": title, "kind": kind, **span}


def _stamp(time: datetime) -> int:
    """Give a time as milliseconds since 1970, as a browser counts."""
    return round(time.timestamp() * 1000)
