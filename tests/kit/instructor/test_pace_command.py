"""``instructor pace``: what is wrong with a log is said, and proposed minutes add up."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instructor import CourseError
from instructor.commands.pace import pace
from instructor.session.log import Event, event_line, plan_line, read_log
from instructor.session.minutes import FLOOR_MINUTES, propose
from instructor.session.pace import Sitting, room_pace, sitting_of
from instructor.session.plan import Plan
from instructor.session.plot import described, pace_svg
from lab.workshop import Block

BEGAN = datetime(2026, 9, 5, 13, 0, tzinfo=UTC)


def block(name: str, minutes: int) -> Block:
    return Block(name, name.title(), minutes, "1.ipynb", "Something is there.")


@pytest.fixture
def plan() -> Plan:
    blocks = (block("read", 10), block("build", 15), block("talk", 15))
    return Plan("gates", "Gates", blocks, keep=("build",))


def lines(plan: Plan, minutes: Sequence[float], *, end: bool = True) -> str:
    """Write a session in which each block takes so many minutes; the first pair has it half-way."""
    at, text = BEGAN, plan_line(plan, BEGAN) + event_line(Event(BEGAN, "start"))
    for own, taken in zip(plan.blocks, minutes, strict=False):
        half = at + timedelta(minutes=taken / 2)
        text += event_line(Event(half, "outcome", own.id, pair="pair", outcome="pass"))
        at += timedelta(minutes=taken)
        text += event_line(Event(at, "next", own.id))
    return text + event_line(Event(at, "end")) * end


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# Logs that are not what they should be


def test_a_log_that_is_none_is_said_and_nothing_else_is_done(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="does not begin with a plan"):
        pace([write(tmp_path, "a.jsonl", "")])


def test_one_broken_log_is_left_out_and_the_rest_is_read(
    tmp_path: Path, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(tmp_path, "good.jsonl", lines(plan, [10, 15, 15]))
    bad = write(tmp_path, "bad.jsonl", plan_line(plan, BEGAN) + '{"at": 5}\n')

    pace([bad, good, good])

    said = capsys.readouterr().out
    assert f"Left out: {bad}, line 2 is no event" in said
    assert "1 session\n" in said
    assert "Plan and room agree." in said


def test_a_plot_of_two_workshops_is_refused(tmp_path: Path, plan: Plan) -> None:
    other = Plan("others", "Others", plan.blocks)
    logs = [write(tmp_path, f"{p.workshop}.jsonl", lines(p, [9, 9, 9])) for p in (plan, other)]

    with pytest.raises(CourseError, match=r"2 workshops \(gates, others\)"):
        pace(logs, tmp_path / "plot.svg")
    pace(logs)


def test_a_session_that_was_never_started_counts_for_nothing(
    tmp_path: Path, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    pace([write(tmp_path, "a.jsonl", plan_line(plan, BEGAN))])

    said = capsys.readouterr().out
    assert "a.jsonl: it was never started." in said
    assert "nothing to compare yet" in said


def test_a_log_that_stops_in_a_block_counts_the_blocks_before_it(
    tmp_path: Path, plan: Plan
) -> None:
    path = write(tmp_path, "a.jsonl", lines(plan, [12, 20], end=False) + '{"at": "2026-09-')

    sitting = sitting_of("a", read_log(path), plan)

    assert sitting.taken == {"read": 12.0, "build": 20.0}
    assert sitting.remarks == (
        "its last line is cut off and was left out",
        "it has no end, so the block that it stops in was left out",
    )


def test_a_plan_that_has_changed_since_is_said(tmp_path: Path, plan: Plan) -> None:
    before = Plan("gates", "Gates", (block("read", 20), *plan.blocks[1:]))
    log = read_log(write(tmp_path, "a.jsonl", lines(before, [21, 15, 15])))

    sitting = sitting_of("a", log, plan)

    assert sitting.remarks == (
        "its plan gave read 20 minutes; it is compared with the plan of today",
    )
    assert room_pace(plan, [sitting]).blocks[0].said == "Read: 21 of 10 minutes in 1 of 1 session"


def test_other_blocks_are_said_and_those_of_one_name_counted(tmp_path: Path, plan: Plan) -> None:
    before = Plan("gates", "Gates", (block("hello", 5), *plan.blocks))
    log = read_log(write(tmp_path, "a.jsonl", lines(before, [5, 11, 15, 15])))

    sitting = sitting_of("a", log, plan)

    assert sitting.remarks == ("its plan had other blocks; those of the same name were counted",)
    assert room_pace(plan, [sitting]).blocks[0].taken == (11.0,)


def test_a_session_that_ends_early_says_nothing_of_what_it_left_out(
    tmp_path: Path, plan: Plan
) -> None:
    log = read_log(write(tmp_path, "a.jsonl", lines(plan, [10])))

    assert "talk" not in sitting_of("a", log, plan).taken


# Where plan and room part


def sessions(*rows: Sequence[float]) -> list[Sitting]:
    names = ("read", "build", "talk")
    return [Sitting(str(n), dict(zip(names, row, strict=True)), {}) for n, row in enumerate(rows)]


def test_most_sessions_have_to_part_from_the_plan_before_anything_is_proposed(plan: Plan) -> None:
    agreeing = room_pace(plan, sessions([10, 22, 15], [10, 15, 15], [11, 16, 14], [10, 22, 15]))
    parting = room_pace(plan, sessions([10, 22, 11], [10, 22, 9], [11, 16, 14], [10, 22, 10]))

    assert not agreeing.parts
    assert [own.proposed for own in agreeing.blocks] == [10, 15, 15]
    assert [own.said for own in parting.parts] == [
        "Build: 22 of 15 minutes in 3 of 4 sessions",
        "Talk: 10 of 15 minutes in 3 of 4 sessions",
    ]
    assert [own.proposed for own in parting.blocks] == [9, 21, 10]


@given(st.data())
def test_proposed_minutes_add_up_and_stay_above_their_floors(data: st.DataObject) -> None:
    planned = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=8))
    size = {"min_size": len(planned), "max_size": len(planned)}
    taken = data.draw(st.lists(st.none() | st.floats(0, 300), **size))
    keep = data.draw(st.lists(st.booleans(), **size))

    found = propose(planned, taken, keep)

    assert sum(found) == sum(planned)
    assert all(isinstance(minutes, int) for minutes in found)
    for new, old, kept in zip(found, planned, keep, strict=True):
        assert new >= (old if kept else min(old, FLOOR_MINUTES))


def test_who_takes_what_was_planned_gets_what_was_planned() -> None:
    assert propose([10, 15, 5], [10.0, None, 5.0], [False, True, False]) == [10, 15, 5]


def test_a_block_of_which_nothing_is_left_keeps_its_floor() -> None:
    assert propose([10, 15, 15], [0.0, 40.0, 15.0], [False, False, True]) == [5, 20, 15]


# What is shown


def test_the_command_says_where_the_room_parts_and_what_to_try(
    tmp_path: Path, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [
        write(tmp_path, f"{n}.jsonl", lines(plan, row))
        for n, row in enumerate([[10, 22, 10], [9, 22, 9], [10, 15, 10]])
    ]

    pace(logs, tmp_path / "plot.svg")

    said = capsys.readouterr().out
    assert "Build: 22 of 15 minutes in 2 of 3 sessions." in said
    assert "To try, within the same 40 minutes: build 15 → 21, talk 15 → 9." in said
    assert "Build (stays)" in said
    assert ElementTree.parse(tmp_path / "plot.svg").getroot().get("role") == "img"  # noqa: S314


def test_a_plot_says_in_words_what_it_shows_and_escapes_a_title(plan: Plan) -> None:
    blocks = (block("<b>&\x07", 10), *plan.blocks[1:])
    found = room_pace(Plan("gates", "<i>", blocks), [Sitting("a", {"build": 22.0}, {})])

    root = ElementTree.fromstring(pace_svg(found))  # noqa: S314  our own

    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}title") == "<i>: minutes planned, and minutes taken"
    assert "Build: 15 minutes planned, 22 in the median of 1 session." in (
        root.findtext(f"{space}desc") or ""
    )
    assert len(root.findall(f"{space}circle")) == 1 + 1  # the legend has one too
    assert described(found.blocks[2]) == "Talk: 15 minutes planned, no session."


def test_green_outcomes_are_shown_beside_the_end_of_their_block(
    tmp_path: Path, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.jsonl", lines(plan, [12, 20, 10]))
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[2])["event"] == "outcome"

    pace([path])

    assert "22 of 25" in capsys.readouterr().out
