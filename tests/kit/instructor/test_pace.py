"""Pace: the minutes of commits against those of the plan; it marks nobody down."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from instructor import COURSE
from instructor.history import QUICK, Commit, History, State, WorkshopHistory
from instructor.report.pace import LATE_MINUTES, Pace, medians, pace_of, rows_of, to_json
from lab.workshop import load_workshop
from tests.kit.conftest import NOW

WORKSHOP = load_workshop(COURSE, "assumption_gate")
BLOCKS = [block.id for block in WORKSHOP.blocks]
REPAIRED = "gate.repaired"


def history(*rows: tuple[float, str], red: Mapping[int, str] | None = None) -> History:
    """Make a history: each row a commit's minute and the blocks that are green after it.

    ``red`` names an evidence that is red after a commit all the same.
    """
    commits, states = [], []
    for number, (minute, blocks) in enumerate(rows):
        at = int(NOW.timestamp() + 60 * minute)
        commits.append(Commit(f"{number:040x}", at, {"lab/assumption_gate.py": str(number)}))
        green = {
            item.id: "pass" if item.block in blocks.split() else "fail"
            for item in WORKSHOP.evidence
            if item.kind in QUICK
        }
        green |= {name: "fail" for at_commit, name in (red or {}).items() if at_commit == number}
        states.append(State(number, green))
    return History(tuple(commits), (WorkshopHistory(WORKSHOP, tuple(states)),))


def minutes(pace: Pace) -> dict[str, int | None]:
    return {block.id: block.minute for block in pace.workshops[0].blocks}


def test_a_block_that_is_never_green_has_no_minute_and_is_not_late() -> None:
    (own,) = pace_of("pair", history((0, ""), (500, ""))).workshops

    assert [(block.minute, block.over, block.late) for block in own.blocks] == [
        (None, 0, False)
    ] * len(BLOCKS)


def test_a_history_that_cannot_be_read_keeps_its_note() -> None:
    pace = pace_of("pair", History(note="it has no git history"))

    assert (pace.note, pace.workshops, pace.commits) == ("it has no git history", (), 0)


def test_minutes_count_from_the_commit_before_the_first_change() -> None:
    pace = pace_of("pair", history((0, ""), (6, "bug"), (20, "bug ledger"), (33, "bug ledger")))

    assert minutes(pace) == {"bug": 6, "ledger": 20, "gate": None, "exercises": None,
                             "debrief": None}  # fmt: skip


def test_the_first_time_counts_also_where_a_block_turns_red_again() -> None:
    pace = pace_of("pair", history((0, ""), (6, "bug"), (9, ""), (12, "bug")))

    assert minutes(pace)["bug"] == 6


def test_a_break_is_not_counted() -> None:
    pace = pace_of("pair", history((0, ""), (6, "bug"), (6 + 24 * 60, ""), (1456, "ledger")))

    assert minutes(pace)["ledger"] == 16


def test_a_clock_that_runs_backwards_takes_nothing_away() -> None:
    pace = pace_of("pair", history((0, ""), (6, "bug"), (-500, ""), (-490, "ledger")))

    assert minutes(pace)["ledger"] == 16


def test_where_the_session_s_start_is_known_minutes_are_those_of_the_session() -> None:
    pace = pace_of("pair", history((-300, ""), (6, "bug"), (40, "ledger")), NOW)

    assert minutes(pace)["bug"] == 6
    assert minutes(pace)["ledger"] == 40


@pytest.mark.parametrize(("over", "late"), [(LATE_MINUTES, False), (LATE_MINUTES + 1, True)])
def test_a_block_is_late_when_it_comes_well_after_its_time(over: int, late: bool) -> None:
    planned = WORKSHOP.blocks[0].minutes

    (own,) = pace_of("pair", history((0, ""), (planned + over, "bug"))).workshops

    assert (own.blocks[0].planned_minute, own.blocks[0].over) == (planned, over)
    assert own.blocks[0].late is late


def test_blocks_that_arrive_in_one_commit_are_said_with_the_commit_and_its_time() -> None:
    at_once = history((0, ""), (30, "bug ledger gate"), (31, "bug ledger gate exercises"))

    (own,) = pace_of("pair", at_once).workshops

    said = "3 of 5 blocks arrive in one commit (0000000, 2026-09-05 12:30 UTC)."
    assert said in own.remarks
    assert len([remark for remark in own.remarks if "one commit" in remark]) == 1


def test_two_blocks_in_one_commit_are_nothing_to_speak_of() -> None:
    (own,) = pace_of("pair", history((0, ""), (9, "bug ledger"))).workshops

    assert own.remarks == ()


def test_what_the_lab_wants_red_first_and_never_was_is_said() -> None:
    never = history((0, ""), (30, "bug ledger gate"))
    before = history((0, ""), (20, "bug ledger gate"), (30, "bug ledger gate"), red={1: REPAIRED})

    said = [
        [remark for remark in pace_of("pair", told).workshops[0].remarks if "red" in remark]
        for told in (never, before)
    ]

    title = next(item.title for item in WORKSHOP.evidence if item.id == REPAIRED)
    assert said == [[f"No commit of the pair's has this red before it is green: {title}"], []]


def test_the_median_is_of_those_who_have_the_block() -> None:
    paces = [
        pace_of("a", history((0, ""), (6, "bug"))),
        pace_of("b", history((0, ""), (10, "bug ledger"))),
        pace_of("c", History(note="it has no git history")),
        pace_of("d", history((0, ""), (3, ""))),
    ]

    assert medians("assumption_gate", paces) == [8, 10, None, None, None]
    assert medians("plan_gate", paces) == []
    assert [pace.submission for pace, _ in rows_of("assumption_gate", paces)] == ["a", "b", "d"]


def test_as_json_a_pace_says_all_that_it_knows_and_no_name_of_an_author() -> None:
    paces = [pace_of("a", history((0, ""), (6, "bug")), datetime.now(UTC) - timedelta(days=9999))]

    written = to_json(paces)

    (row,) = written["submissions"]
    assert written["version"] == 1
    assert row.keys() == {"submission", "commits", "note", "workshops"}
    assert row["workshops"][0]["blocks"][0].keys() == {"id", "planned_minute", "minute", "commit"}
