"""A session's log: what is no log is said so, and what was written is never lost."""

import errno
import json
import os
from pathlib import Path

import pytest

from instructor import CourseError
from instructor.session.clock import state_at
from instructor.session.journal import choose_log, open_journal
from instructor.session.log import SCHEMA_FILE, Event, event_line, plan_line, read_log
from instructor.session.plan import Plan
from instructor.session.room import Room
from tests.kit.instructor.rooms import NOON, PLAN, clock, events

FIRST = plan_line(PLAN, NOON)
START = event_line(Event(NOON, "start"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin with a plan"),
        (FIRST.rstrip(), "does not begin with a plan"),
        (START, "does not begin with a plan"),
        (FIRST + FIRST, "holds two plans"),
        (FIRST + "{}\n" + START, "line 2 is no event"),
        (FIRST + "[]\n", "line 2 is no event"),
        (FIRST + "what\n", "line 2 is no event"),
        (FIRST + "[" * 100_000 + "\n", "line 2 is no event"),
        (FIRST + START.replace("start", "begin"), "line 2 is no event"),
        (FIRST + START.replace("}", ', "cut": 1}'), "line 2 is no event"),
        (FIRST + START.replace("+00:00", ""), "line 2 is no event"),
        (FIRST + START.replace("T12", "T25"), "line 2 is no event"),
        (FIRST.replace('"minutes": 10', '"minutes": 0'), "line 1 is no event"),
        (FIRST.replace('"version": 1', '"version": 2'), "line 1 is no event"),
    ],
)
def test_what_is_no_log_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text)

    with pytest.raises(CourseError, match=said):
        read_log(path)


def test_a_log_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="cannot be read"):
        read_log(tmp_path / "log.jsonl")


def test_every_event_comes_back_as_it_was_written(tmp_path: Path) -> None:
    rows = events("0 start, 1 pause, 2 resume, 3 next talk, 4 back build, 5 end")
    rows += [
        Event(NOON, "minutes", block="talk", minutes=-1),
        Event(NOON, "cut", cut=3, block="close", minutes=6),
        Event(NOON, "restore", cut=3),
        Event(NOON, "decline", cut=1),
        Event(NOON, "outcome", block="talk", pair="pair_7 ✓", outcome="pass"),
    ]
    path = tmp_path / "log.jsonl"
    path.write_text(FIRST + "".join(map(event_line, rows)))

    log = read_log(path)

    assert log.plan == PLAN
    assert list(log.events) == rows
    known = json.loads(SCHEMA_FILE.read_text())["properties"]["event"]["enum"]
    assert sorted(known) == sorted({"plan", *(row.event for row in rows)})


def test_another_session_cannot_write_to_the_same_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with (
        open_journal(path, PLAN, NOON),
        pytest.raises(CourseError, match="Another session writes"),
        open_journal(path, PLAN, NOON),
    ):
        pass


def test_the_log_of_another_workshop_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with open_journal(path, PLAN, NOON):
        pass
    other = Plan("other", "Another", PLAN.blocks)

    with pytest.raises(CourseError, match="log of toy"), open_journal(path, other, NOON):
        pass


def test_a_folder_in_the_place_of_a_log_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="cannot be written"), open_journal(tmp_path, PLAN, NOON):
        pass


def test_a_session_goes_on_where_a_crash_left_its_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with open_journal(path, PLAN, NOON) as journal:
        journal.append(Event(NOON, "start"))
    with path.open("a") as file:
        file.write('{"at": "2026-09-05T12:0')

    with open_journal(path, PLAN, NOON) as journal:
        journal.append(Event(NOON + clock("12"), "next", block="talk"))

    log = read_log(path)
    assert [event.event for event in log.events] == ["start", "next"]
    state = state_at(log.plan, log.events, NOON + clock("13"))
    assert [used.total_seconds() / 60 for used in state.used] == [12, 1, 0]


def test_an_event_is_on_the_disk_before_anybody_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    seen = []
    with open_journal(path, PLAN, NOON) as journal:
        room = Room(journal, lambda: NOON)
        room.listeners.add(lambda what: seen.append((what, len(read_log(path).events))))

        assert room.press({"do": "start", "block": "talk"})

    assert seen == [("state", 1)]


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        {},
        {"do": "start"},
        {"do": ["start"], "block": "talk"},
        {"do": "start", "block": "build"},
        {"do": "pause", "block": "talk"},
        {"do": "outcome", "block": "talk"},
        {"do": "plan", "block": "talk"},
        {"do": "cut", "block": "talk"},
        {"do": "cut", "block": "talk", "cut": True},
        {"do": "cut", "block": "talk", "cut": 2},
        {"do": "cut", "block": "talk", "cut": 99},
        {"do": "decline", "block": "talk", "cut": -1},
        {"do": "restore", "block": "talk", "cut": 1},
    ],
)
def test_a_request_that_makes_no_sense_leaves_no_line(tmp_path: Path, request_: object) -> None:
    with open_journal(tmp_path / "log.jsonl", PLAN, NOON) as journal:
        assert not Room(journal, lambda: NOON).press(request_)
        assert journal.events == []


def test_an_outcome_is_written_once_for_each_pair_and_block(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    change = {"pair": {"name": "pair_7"}, "reached": ["talk"]}
    with open_journal(path, PLAN, NOON) as journal:
        room = Room(journal, lambda: NOON)
        room.board_changed(change)
        room.board_changed(change)
    with open_journal(path, PLAN, NOON) as journal:
        Room(journal, lambda: NOON).board_changed(change)

    assert [(e.pair, e.block) for e in read_log(path).events] == [("pair_7", "talk")]


def test_an_event_that_a_full_disk_refuses_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(errno.ENOSPC, "no space")
        return write(descriptor, data[:9])

    with open_journal(path, PLAN, NOON) as journal:
        room, write = Room(journal, lambda: NOON), os.write
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(OSError, match="no space"):
                room.press({"do": "start", "block": "talk"})
        assert room.press({"do": "start", "block": "talk"})

    assert [event.event for event in read_log(path).events] == ["start"]


def test_sixty_pairs_who_save_at_once_are_told_of_once(tmp_path: Path) -> None:
    told: list[str] = []
    with open_journal(tmp_path / "log.jsonl", PLAN, NOON) as journal:
        room = Room(journal, lambda: NOON, lambda: 0.0)
        room.tick()
        room.listeners.add(told.append)

        for number in range(60):
            room.board_changed({"pair": {"name": f"pair_{number}"}, "reached": ["talk"]})
        room.tick()
        room.tick()

        assert told == ["board"]
        assert len(journal.events) == 60


def test_the_log_of_the_day_is_gone_on_with_until_it_has_ended(tmp_path: Path) -> None:
    def chosen() -> str:
        return choose_log(tmp_path, "toy", "2026-09-05").name

    assert chosen() == "toy-2026-09-05.jsonl"
    with open_journal(tmp_path / chosen(), PLAN, NOON) as journal:
        journal.append(Event(NOON, "start"))
        assert chosen() == "toy-2026-09-05.jsonl"
        journal.append(Event(NOON, "end"))
    assert chosen() == "toy-2026-09-05-2.jsonl"


def test_a_room_tells_of_a_change_of_a_jump_in_time_and_now_and_then(tmp_path: Path) -> None:
    told: list[str] = []
    now, passed = [NOON], [0.0]

    def tick(minutes: str, seconds: float) -> list[str]:
        now[0], passed[0] = NOON + clock(minutes), seconds
        told.clear()
        room.tick()
        return list(told)

    with open_journal(tmp_path / "log.jsonl", PLAN, NOON) as journal:
        journal.append(Event(NOON, "start"))
        room = Room(journal, lambda: now[0], lambda: passed[0])
        room.listeners.add(told.append)

        assert tick("0", 0) == ["board", "state"]  # the first time
        assert tick("0:01", 1) == []
        assert tick("0:05", 5) == ["state"]  # every so often
        assert tick("0:06", 6) == []
        assert tick("2:00", 7) == ["state"]  # the laptop was asleep
        assert tick("1:58", 8) == ["state"]  # its clock was set
        assert tick("4:59", 189) == ["state"]
        assert tick("5:00", 190) == ["state"]  # five minutes left
        assert tick("5:01", 191) == []
