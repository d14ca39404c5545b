"""The clock of a session, without a browser: a plan, a log and a time give a state."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instructor.classroom import load_workshops
from instructor.session.clock import due_cues, possible_cuts, proposals, state_at, whole_minutes
from instructor.session.log import Event, event_line, plan_line, read_log
from instructor.session.plan import Plan, plan_of
from instructor.session.state import ZERO, State, cue_after, freed_by
from lab.workshop import workshop_ids
from tests.kit.command import COURSE
from tests.kit.instructor.rooms import NOON, PLAN, after, clock, events

PLANS = [plan_of(workshop) for workshop in load_workshops(tuple(workshop_ids(COURSE)))]


def text(time: timedelta) -> str:
    """Write a time as in a script: ``-1:30`` is a minute and a half over."""
    seconds = int(abs(time).total_seconds())
    return f"{'-' if time < ZERO else ''}{seconds // 60}:{seconds % 60:02}"


def shown(state: State) -> tuple[str, str, str, int]:
    """Give phase, block, time left and minutes over: what a room reads first."""
    name = state.plan.blocks[state.block].id
    return state.phase, name, text(state.left), whole_minutes(state.over)


@pytest.mark.parametrize(
    ("script", "at", "expected"),
    [
        # Before the start, nothing counts.
        ("", "500", ("ready", "talk", "10:00", 0)),
        ("5 minutes 2", "6", ("ready", "talk", "12:00", 2)),
        ("0 pause", "6", ("ready", "talk", "10:00", 0)),
        ("0 next", "6", ("ready", "talk", "10:00", 0)),
        ("0 back", "6", ("ready", "talk", "10:00", 0)),
        ("0 resume", "6", ("ready", "talk", "10:00", 0)),
        ("0 end", "6", ("ready", "talk", "10:00", 0)),
        # Down to nothing, then up.
        ("0 start", "0", ("running", "talk", "10:00", 0)),
        ("0 start", "9:59", ("running", "talk", "0:01", 0)),
        ("0 start", "10", ("running", "talk", "0:00", 0)),
        ("0 start", "10:01", ("running", "talk", "-0:01", 0)),
        ("0 start", "13:30", ("running", "talk", "-3:30", 3)),
        ("0 start, 4 start", "5", ("running", "talk", "5:00", 0)),
        # Next, early and late.
        ("0 start, 8 next", "8", ("running", "build", "20:00", -2)),
        ("0 start, 12 next", "12", ("running", "build", "20:00", 2)),
        ("0 start, 12 next", "32", ("running", "build", "0:00", 2)),
        ("0 start, 10 next, 30 next, 40 next", "90", ("ended", "close", "0:00", 0)),
        ("0 start, 10 next, 30 next, 46 next", "90", ("ended", "close", "-6:00", 6)),
        ("0 start, 10 next, 30 next, 36 next", "90", ("ended", "close", "4:00", -4)),
        # A click that was meant for the block before does nothing.
        ("0 start, 10 next talk, 10 next talk", "11", ("running", "build", "19:00", 0)),
        ("0 start, 10 next talk, 11 minutes 3", "11", ("running", "build", "22:00", 3)),
        ("0 start, 10 next talk, 15 back talk", "16", ("running", "build", "14:00", 0)),
        # Back: sooner than a minute it undoes next, later it does not.
        ("0 start, 4 next, 4:59 back", "6", ("running", "talk", "4:00", 0)),
        ("0 start, 4 next, 5 back", "6", ("running", "talk", "5:00", 0)),
        ("0 start, 0 next, 0:30 back", "6", ("running", "talk", "4:00", 0)),
        ("0 start, 4 next, 4:30 pause, 9 back", "9", ("paused", "talk", "5:30", 4)),
        ("0 start, 5 back", "6", ("running", "talk", "4:00", 0)),
        ("0 start, 4 next, 8 next, 12 back", "12", ("running", "build", "16:00", -6)),
        # To a block and back to it again: it has what it had left.
        ("0 start, 4 next, 8 back, 9 next", "9", ("running", "build", "16:00", -5)),
        ("0 start, 4 next, 8 back, 8:30 back, 9 next", "9", ("running", "build", "16:00", -5)),
        # The end was a slip: it counts as if there had been none.
        ("0 start, 10 next, 20 next, 25 next, 26 back", "27", ("running", "close", "3:00", -10)),
        ("0 start, 10 end, 11 back", "12", ("running", "talk", "-2:00", 2)),
        ("0 start, 5 pause, 6 end, 9 back", "9", ("paused", "talk", "5:00", 4)),
        ("0 start, 10 end, 11 start, 12 next, 13 pause", "20", ("ended", "talk", "0:00", -30)),
        # A pause stops the block and moves the end; longer than a block, too.
        ("0 start, 3 pause", "8", ("paused", "talk", "7:00", 5)),
        ("0 start, 3 pause, 4 pause", "8", ("paused", "talk", "7:00", 5)),
        ("0 start, 3 pause, 48 resume", "49", ("running", "talk", "6:00", 45)),
        ("0 start, 3 pause, 4 next, 5 resume", "6", ("running", "build", "19:00", -5)),
        ("0 start, 10 next, 30 next, 31 pause, 32 end", "90", ("ended", "close", "9:00", -8)),
        # A minute more, a minute less; what is used up cannot be taken.
        ("0 start, 5 minutes 1", "5", ("running", "talk", "6:00", 1)),
        ("0 start, 5 minutes -1", "5", ("running", "talk", "4:00", -1)),
        ("0 start, 9:30 minutes -1", "9:30", ("running", "talk", "0:00", 0)),
        ("0 start, 12 minutes -1", "12", ("running", "talk", "-2:00", 2)),
        ("0 start, 12 minutes 1", "12", ("running", "talk", "-1:00", 2)),
        ("0 start, 12 minutes 5", "12", ("running", "talk", "3:00", 5)),
        ("0 minutes -60", "0", ("ready", "talk", "0:00", -10)),
        ("0 start, 5 end, 6 minutes 5", "6", ("ended", "talk", "5:00", -35)),
        # A laptop asleep for two hours: time went by in the room.
        ("0 start", "130", ("running", "talk", "-120:00", 120)),
        ("0 start, 9 pause", "129", ("paused", "talk", "1:00", 120)),
        # A clock that was set back: no time, never less than none.
        ("0 start, 5 pause, 4 resume", "3", ("running", "talk", "5:00", 0)),
        ("5 start, 3 next", "4", ("running", "build", "20:00", -10)),
        # Cuts: taken, taken twice, taken back.
        ("0 start, 5 cut 3", "5", ("running", "talk", "5:00", -6)),
        ("0 start, 5 cut 3, 6 cut 3", "6", ("running", "talk", "4:00", -6)),
        ("0 start, 5 cut 3, 6 restore 3", "6", ("running", "talk", "4:00", 0)),
        ("0 start, 6 restore 3", "6", ("running", "talk", "4:00", 0)),
        ("0 start, 5 cut 0", "5", ("running", "talk", "1:00", -4)),
        ("0 start, 8 cut 0", "8", ("running", "talk", "0:00", -2)),
        ("0 start, 5 cut 1", "5", ("running", "talk", "5:00", 0)),
        # What must stay, what is over, and what is no cut are never cut.
        ("0 start, 5 cut 2", "5", ("running", "talk", "5:00", 0)),
        ("0 start, 5 cut 9", "5", ("running", "talk", "5:00", 0)),
        ("0 start, 5 cut -1", "5", ("running", "talk", "5:00", 0)),
        ("0 start, 5 cut", "5", ("running", "talk", "5:00", 0)),
        ("0 start, 5 next, 6 cut 0", "6", ("running", "build", "19:00", -5)),
        ("0 start, 9:30 cut 0", "9:30", ("running", "talk", "0:30", 0)),
    ],
)
def test_a_log_and_a_time_give_phase_block_time_left_and_minutes_over(
    script: str, at: str, expected: tuple[str, str, str, int]
) -> None:
    assert shown(after(script, at)) == expected


@pytest.mark.parametrize(
    ("script", "at", "expected"),
    [
        ("0 start", "10:59", []),  # not a whole minute over
        ("", "500", []),
        ("0 start", "11", [1, 3]),  # the station first, then in order; never build
        ("0 start, 4 minutes 3", "5", [1, 0, 3]),
        ("0 start, 11 decline 1", "12", [3]),
        ("0 start, 11 decline 3, 11 decline 1", "12", []),
        ("0 start, 11 cut 1", "12", [3]),
        ("0 start, 13 cut 3", "13", []),  # on plan again
        ("0 start, 18 cut 3", "18", [1]),  # nothing is left but the station
        ("0 start, 10 next, 40 next, 44 pause", "44", [1, 3]),
        ("0 start, 10 next, 40 next, 49:30 pause", "60", [1]),  # half a minute is no cut
        ("0 start, 60 end", "60", []),
    ],
)
def test_cuts_are_proposed_in_their_order_and_only_when_the_room_runs_over(
    script: str, at: str, expected: list[int]
) -> None:
    assert proposals(after(script, at)) == expected


def test_a_cut_that_was_declined_can_still_be_taken() -> None:
    state = after("0 start, 11 decline 3", "12")

    assert 3 in possible_cuts(state)


@pytest.mark.parametrize(
    ("script", "at", "expected"),
    [
        ("", "9", []),
        ("0 start", "0", [0]),
        ("0 start", "7:59", [0]),
        ("0 start", "8", [0, 1]),
        ("0 start, 10 next", "19:59", []),
        ("0 start, 10 next", "20", [0]),
        # It goes with its block, however late that began.
        ("0 start, 15 next", "24:59", []),
        ("0 start, 15 next", "25", [0]),
        ("0 start, 2 pause, 9 resume", "14:59", [0]),
        ("0 start, 2 pause, 9 resume", "15", [0, 1]),
        # A shorter block brings it sooner, in proportion; a longer one leaves it.
        ("0 start, 0 minutes -5", "4", [0, 1]),
        ("0 start, 0 minutes -5", "3:59", [0]),
        ("0 start, 0 minutes 5", "8", [0, 1]),
        # What was due stays due.
        ("0 start, 0 minutes -5, 4 minutes 5", "4:30", [0, 1]),
        # Next by mistake, and back: its cues were never due.
        ("0 start, 10 next, 10:30 back, 15 next", "16", []),
        ("0 start, 10 next, 20 back, 25 next", "25", [0]),
    ],
)
def test_a_cue_is_due_at_its_minute_of_the_block(script: str, at: str, expected: list[int]) -> None:
    assert due_cues(after(script, at)) == expected


@pytest.mark.parametrize(
    ("start", "at", "over"),
    [("", "-3", 0), ("", "7", 7), ("7 start", "7", 7), ("7 start", "18", 8), ("-2 start", "0", -2)],
)
def test_with_a_time_on_the_invitation_a_late_start_counts_as_over(
    start: str, at: str, over: int
) -> None:
    plan = replace(PLAN, starts=NOON)

    state = after(start, at, plan)

    assert whole_minutes(state.over) == over
    assert state.planned_end == NOON + clock("40")


def test_a_stretch_for_each_stay_tells_what_really_happened() -> None:
    state = after("0 start, 4 pause, 6 resume, 9 next, 9:30 back, 12 next", "15")

    rows = [(s.block, s.paused, text(s.begin - NOON), text(s.end - NOON)) for s in state.stretches]
    assert rows == [
        (0, False, "0:00", "4:00"),
        (0, True, "4:00", "6:00"),
        (0, False, "6:00", "9:30"),
        (0, False, "9:30", "12:00"),
        (1, False, "12:00", "15:00"),
    ]


def test_outcomes_of_pairs_change_nothing_about_time() -> None:
    outcome = Event(NOON + clock("3"), "outcome", block="talk", pair="pair_7", outcome="pass")

    log = [*events("0 start"), outcome]

    assert state_at(PLAN, log, NOON + clock("5")) == after("0 start", "5")


# --- What holds for any log whatever ------------------------------------------------------------
MOVES = ["start", "start", "pause", "resume", "next", "next", "next", "back", "end"]
NAMES = [*MOVES, "minutes", "cut", "restore", "decline"]
EVENTS = st.builds(
    Event,
    at=st.integers(-3, 8000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    event=st.sampled_from(NAMES),
    block=st.sampled_from([None, None, None, "talk", "build", "close", "nowhere"]),
    minutes=st.integers(-60, 60),
    cut=st.integers(-1, 4),
)
IN_ORDER = st.lists(EVENTS, max_size=25).map(lambda rows: sorted(rows, key=lambda row: row.at))
LOGS = IN_ORDER | st.lists(EVENTS, max_size=10)
CHEAP = settings(max_examples=40, deadline=None)
NOWS = st.integers(-3, 9000).map(lambda seconds: NOON + timedelta(seconds=seconds))


@CHEAP
@given(LOGS, NOWS)
def test_every_second_since_the_start_is_used_by_a_block_or_a_pause(
    log: list[Event], now: datetime
) -> None:
    state = state_at(PLAN, log, now)

    paused = sum((s.end - s.begin for s in state.stretches if s.paused), ZERO)
    counted = sum(state.used, paused)
    assert counted == (state.now - state.started if state.started else ZERO)
    lengths = sum((stretch.end - stretch.begin for stretch in state.stretches), ZERO)
    assert lengths == counted
    joints = zip(state.stretches, state.stretches[1:], strict=False)
    assert all(left.end == right.begin for left, right in joints)
    for place in range(3):
        own = [s for s in state.stretches if s.block == place and not s.paused]
        assert sum((s.end - s.begin for s in own), ZERO) == state.used[place]


@CHEAP
@given(LOGS, NOWS)
def test_no_time_is_ever_negative_but_what_runs_over(log: list[Event], now: datetime) -> None:
    state = state_at(PLAN, log, now)

    assert min(state.allotted) >= ZERO
    assert min(state.used) >= ZERO
    assert all(stretch.end >= stretch.begin for stretch in state.stretches)
    assert state.ends >= state.now or state.phase == "ended"
    assert all(taken.freed >= ZERO for taken in state.taken)


@CHEAP
@given(LOGS, NOWS)
def test_the_allotted_minutes_are_the_plan_and_what_was_changed(
    log: list[Event], now: datetime
) -> None:
    unchanged = [event for event in log if event.event != "minutes"]

    state = state_at(PLAN, unchanged, now)

    freed = sum((taken.freed for taken in state.taken), ZERO)
    assert sum(state.allotted, freed) == PLAN.total
    assert state.allotted[1] == clock("20")  # build is kept


@CHEAP
@given(LOGS, NOWS)
def test_what_must_stay_and_what_frees_nothing_is_never_proposed(
    log: list[Event], now: datetime
) -> None:
    state = state_at(PLAN, log, now)

    for cut in proposals(state):
        assert PLAN.cuts[cut].block not in PLAN.keep
        assert freed_by(state, cut) is not None
        assert state.plan.cuts[cut].block == "station" or freed_by(state, cut)
    assert not proposals(state) or whole_minutes(state.over) >= 1


@CHEAP
@given(LOGS, NOWS, st.integers(0, 4))
def test_a_cut_brings_the_end_forward_by_exactly_what_it_promises(
    log: list[Event], now: datetime, cut: int
) -> None:
    state = state_at(PLAN, log, now)
    promised = freed_by(state, cut)

    taken = state_at(PLAN, [*log, Event(state.now, "cut", cut=cut)], state.now)

    assert state.ends - taken.ends == (promised or ZERO)


@CHEAP
@given(LOGS, NOWS, st.integers(0, 4000))
def test_a_running_block_counts_to_one_absolute_end(
    log: list[Event], now: datetime, seconds: int
) -> None:
    state = state_at(PLAN, log, now)
    later = state_at(PLAN, log, state.now + timedelta(seconds=seconds))

    assert state.block_ends == later.block_ends
    assert state.said <= later.said


@CHEAP
@given(IN_ORDER, NOWS)
def test_reading_the_log_again_gives_the_same_state(log: list[Event], now: datetime) -> None:
    """So a reload, a second browser or a start after a crash lose nothing."""
    kept = [as_a_page_sends(event) for event in log]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        text = plan_line(PLAN, NOON) + "".join(event_line(event) for event in kept)
        path.write_text(text, encoding="utf-8")
        read = read_log(path)

    assert state_at(read.plan, read.events, now) == state_at(PLAN, kept, now)


def as_a_page_sends(event: Event) -> Event:
    """Leave out what the log has no place for."""
    block = event.block or "talk"
    match event.event:
        case "next" | "back":
            return Event(event.at, event.event, block=block)
        case "minutes":
            return Event(event.at, event.event, block=block, minutes=event.minutes)
        case "cut":
            minutes = abs(event.minutes or 0)
            cut = max(0, event.cut or 0)
            return Event(event.at, event.event, block=block, cut=cut, minutes=minutes)
        case "restore" | "decline":
            return Event(event.at, event.event, cut=max(0, event.cut or 0))
    return Event(event.at, event.event)


@CHEAP
@given(st.lists(st.integers(0, 1200), min_size=3, max_size=3))
def test_whatever_the_blocks_took_the_last_next_ends_the_session(seconds: list[int]) -> None:
    at, rows = NOON, [Event(NOON, "start")]
    for item in seconds:
        at += timedelta(seconds=item)
        rows.append(Event(at, "next"))

    state = state_at(PLAN, rows, at + timedelta(hours=5))

    assert state.phase == "ended"
    assert [int(used.total_seconds()) for used in state.used] == seconds
    assert state.ends == at


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.workshop)
def test_the_course_s_own_plans_run_to_their_minutes(plan: Plan) -> None:
    rows = [Event(NOON, "start")]
    for place in range(len(plan.blocks)):
        end = NOON + timedelta(minutes=plan.begins(place + 1))
        rows.append(Event(end, "next"))

    state = state_at(plan, rows, NOON + timedelta(hours=3))

    assert (state.phase, state.over) == ("ended", ZERO)
    said = [(b, c) for b, block in enumerate(plan.blocks) for c in range(len(block.cues))]
    assert sorted(state.said) == said
    late = state_at(plan, rows[:1], NOON + timedelta(minutes=plan.blocks[0].minutes + 5))
    assert late.plan.cuts[proposals(late)[0]].block == "station"


def test_a_cue_of_a_block_of_nothing_is_due_at_once() -> None:
    state = after("0 minutes -60", "0")

    assert cue_after(state, 0, 1) == ZERO


def ids(rows: Sequence[Event]) -> list[str]:
    return [row.event for row in rows]


def test_the_scripts_of_these_tests_say_what_they_mean() -> None:
    rows = events("0 start, 9:30 minutes -2, 10 next talk, 11 cut 3")

    assert ids(rows) == ["start", "minutes", "next", "cut"]
    assert (rows[1].minutes, rows[2].block, rows[3].cut) == (-2, "talk", 3)
    assert rows[1].at == NOON + timedelta(minutes=9, seconds=30)
