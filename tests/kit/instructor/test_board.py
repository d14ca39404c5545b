"""The live board: what is saved shows, and nothing that a pair does stops it."""

import asyncio
import errno
import os
import shutil
import time
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from watchfiles import Change

from instructor import CourseError
from instructor.commits import commit_all
from instructor.sandbox.quota import clear_away
from instructor.session import journal, pairs
from instructor.session.board import Board, BoardOptions
from instructor.session.crew import Worker, WorkerLost
from instructor.session.journal import open_journal
from instructor.session.log import read_log
from instructor.session.pairs import find_work, list_pairs
from instructor.session.plan import plan_of
from instructor.session.quick import Look, Seen
from instructor.session.room import Room as Session
from instructor.session.rows import STATES_KEPT, Row, States
from instructor.session.turns import Turns
from instructor.session.watch import Watch, counts
from lab.workshop import Workshop
from tests.kit.instructor.benches import nest

BEGAN = datetime(2026, 9, 5, 13, 0, tzinfo=UTC)
# For a change to show on a machine that is busy with other tests; most come in a second.
PATIENCE_SECONDS = 120.0


# Whose turn it is


def test_nobody_stands_in_line_twice() -> None:
    turns = Turns()
    for name in ("a", "b", "a", "a"):
        turns.ask(name)

    assert [turns.take(), turns.take(), turns.take()] == ["a", "b", None]


def test_who_saves_while_being_looked_at_is_looked_at_once_more_after_the_others() -> None:
    turns = Turns()
    turns.ask("chatty")
    assert turns.take() == "chatty"
    for name in ("chatty", "quiet", "chatty"):
        turns.ask(name)

    turns.done("chatty")

    assert [turns.take(), turns.take(), turns.take()] == ["quiet", "chatty", None]


def test_who_takes_long_never_takes_every_worker() -> None:
    turns = Turns()
    for name in ("slow", "slower"):
        turns.ask(name)
        turns.take()
        turns.done(name, slow=True)
    for name in ("slow", "slower", "quick"):
        turns.ask(name)

    assert [turns.take(), turns.take(), turns.take()] == ["slow", "quick", None]
    turns.done("slow", slow=False)
    assert turns.take() == "slower"


# A pair's row


@pytest.fixture
def row() -> Row:
    return Row("pair", ["one", "two"])


def seen(digest: str, **outcomes: str) -> Seen:
    return Seen(digest, {"one": "fail", "two": "fail", **outcomes})


def test_a_row_begins_with_nothing(row: Row) -> None:
    cell = {"outcome": "none"}

    assert row.to_json() == {"name": "pair", "cells": {"one": cell, "two": cell}, "latest": None}


def test_a_block_counts_as_reached_once_and_goes_red_again(row: Row) -> None:
    assert row.take(seen("a", one="pass")) == ["one"]
    assert row.take(seen("b")) == []
    assert row.to_json()["cells"]["one"] == {"outcome": "fail"}
    assert row.take(seen("c", one="pass")) == []
    assert row.to_json()["cells"] == {"one": {"outcome": "pass"}, "two": {"outcome": "fail"}}


def test_files_that_were_seen_before_show_what_was_found_in_them(row: Row) -> None:
    states = States()
    first, second = seen("a", one="pass"), seen("b")
    assert [states.whole(own) for own in (first, second)] == [first, second]
    row.take(second)

    assert states.whole(Seen("a")) == first
    assert row.take(first) == ["one"]
    assert row.take(first) is None


def test_only_the_states_seen_last_are_remembered() -> None:
    states = States()
    for number in range(STATES_KEPT + 3):
        states.whole(seen(str(number)))
    states.whole(Seen("3"))
    states.whole(seen("new"))

    assert "3" in states.known
    assert "4" not in states.known
    assert len(states.known) == STATES_KEPT


@pytest.mark.parametrize(("missing", "outcome"), [(True, "none"), (False, "error")])
def test_trouble_is_said_in_the_place_of_outcomes(row: Row, missing: bool, outcome: str) -> None:
    row.take(seen("a", one="pass"))

    row.take(Seen(trouble="The folder is closed.", missing=missing))

    shown = row.to_json()
    assert {cell["outcome"] for cell in shown["cells"].values()} == {outcome}
    assert shown["latest"]["found"] == "The folder is closed."


# The board


class Room:
    """A board that runs, and what it has told."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.told: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        board.subscribe(self._hear)

    def _hear(self, change: dict[str, Any]) -> None:
        self.told.append(change)
        self._news.set()

    def cells(self, name: str) -> dict[str, str]:
        row = next(row for row in self.board.snapshot()["pairs"] if row["name"] == name)
        return {block: cell["outcome"] for block, cell in row["cells"].items()}

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; it is looked at after every change that is told."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def running(board: Board) -> Any:
    task = asyncio.create_task(board.run())
    try:
        yield Room(board)
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def play(scene: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await scene()

    asyncio.run(whole())


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    folder.mkdir()
    return folder


def test_a_class_that_is_no_folder_is_said_at_once(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="is not a folder"):
        Board(workshop, tmp_path / "nowhere")


def test_what_a_pair_saves_shows_and_a_pair_that_comes_later_too(
    workshop: Workshop, released: Path, reference: Path, room: Path
) -> None:
    shutil.copytree(released, room / "early")

    async def scene() -> None:
        # Nothing but the watch tells of a save here.
        options = BoardOptions(workers=1, sweep_seconds=3600)
        async with running(Board(workshop, room, options=options)) as run:
            await run.until(lambda: run.cells("early")["contract"] == "fail")
            for file in ("lab/agent_plan.schema.json", workshop.gate.file):
                shutil.copyfile(reference / file, room / "early" / file)
            await run.until(lambda: run.cells("early")["validator"] == "pass")
            reached = [block for change in run.told for block in change["reached"]]
            assert reached == ["contract", "validator"]

    play(scene)


def test_what_nobody_tells_is_found_by_looking_over_and_what_is_gone_says_so(
    workshop: Workshop, released: Path, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "run", no_watch)
    shutil.copytree(released, room / "pair")

    async def scene() -> None:
        options = BoardOptions(workers=1, sweep_seconds=0.1)
        async with running(Board(workshop, room, options=options)) as run:
            await run.until(lambda: run.cells("pair")["contract"] == "fail")
            (room / "late").mkdir()
            (room / "pair").rename(room.parent / "away")
            await run.until(
                lambda: len(run.told) > 1 and set(run.cells("pair").values()) == {"none"}
            )
            rows = {row["name"]: row["latest"] for row in run.board.snapshot()["pairs"]}
            assert rows["pair"]["found"] == "There is no such folder now."
            await run.until(lambda: len(run.board.snapshot()["pairs"]) == 2)

    play(scene)


def test_a_roster_is_fetched_and_what_cannot_be_had_says_why(
    workshop: Workshop, released: Path, reference: Path, tmp_path: Path
) -> None:
    origin = tmp_path / "origin"
    shutil.copytree(released, origin)
    (tmp_path / "roster.csv").write_text(
        f"name,source\nfar,{origin.as_uri()}\nbroken,{(tmp_path / 'no').as_uri()}\nlate,\n"
    )

    async def scene() -> None:
        options = BoardOptions(workers=1, fetch_seconds=0.1)
        board = Board(workshop, None, tmp_path / "roster.csv", options)
        async with running(board) as run:
            await run.until(lambda: run.cells("far")["contract"] == "fail")
            file = "lab/agent_plan.schema.json"
            shutil.copyfile(reference / file, origin / file)
            commit_all(origin, BEGAN, "Freeze the contract")
            await run.until(lambda: run.cells("far")["contract"] == "pass")
            rows = {row["name"]: row["latest"] for row in board.snapshot()["pairs"]}
            assert set(run.cells("broken").values()) == {"error"}
            assert "there is no repository" in rows["broken"]["found"]
            assert set(run.cells("late").values()) == {"none"}

    play(scene)


def test_a_class_that_cannot_be_listed_any_more_is_noted_and_nothing_else_is_lost(
    workshop: Workshop, tmp_path: Path
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("name,source\npair,\n")
    board = Board(workshop, None, roster)
    roster.write_text("")

    asyncio.run(board.sweep())

    shown = board.snapshot()
    assert "roster.csv is empty" in shown["note"]
    assert [row["name"] for row in shown["pairs"]] == ["pair"]


def test_a_pair_with_folders_in_folders_without_end_leaves_the_others_their_rows(
    workshop: Workshop, released: Path, room: Path
) -> None:
    for name in ("deep", "good"):
        shutil.copytree(released, room / name)
    nest(room / "deep" / "lab", 1_500)

    async def scene() -> None:
        async with running(Board(workshop, room, options=BoardOptions(workers=1))) as run:
            for name in ("deep", "good"):
                await run.until(lambda name=name: run.cells(name)["contract"] == "fail")  # type: ignore[misc]
            assert run.board.snapshot()["note"] == ""

    try:
        play(scene)
    finally:
        clear_away(room / "deep")  # pytest cannot


def test_looking_over_a_class_writes_nothing_into_a_pairs_folder(
    workshop: Workshop, released: Path, room: Path
) -> None:
    (room / "pair").mkdir()
    with zipfile.ZipFile(room / "pair" / "work.zip", "w") as file:
        for path in released.rglob("*.py"):
            file.write(path, path.relative_to(released))

    asyncio.run(Board(workshop, room).sweep())

    assert [path.name for path in room.rglob("*")] == ["pair", "work.zip"]


def test_a_full_disk_under_the_log_does_not_stop_the_board(
    workshop: Workshop, room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("early", "late"):
        (room / name).mkdir()
    write, tried = journal._write, iter(range(1))

    def full_once(descriptor: int, line: str) -> None:
        if next(tried, None) is not None:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(descriptor, line)

    async def do(_worker: Worker, _function: object, job: Look, _seconds: float) -> Seen:
        return Seen(job.folder.name, {workshop.blocks[0].id: "pass"}, mark=1)

    monkeypatch.setattr(Worker, "do", do)
    path = tmp_path / "log.jsonl"

    async def scene() -> None:
        board = Board(workshop, room, options=BoardOptions(workers=1, sweep_seconds=3600))
        with open_journal(path, plan_of(workshop), BEGAN) as log:
            session = Session(log, lambda: BEGAN)
            board.subscribe(session.board_changed)
            monkeypatch.setattr(journal, "_write", full_once)
            async with running(board) as run:
                await run.until(lambda: len(run.told) == 2)
            # What could not be written is no less reached: it is written when it is told again.
            for change in run.told:
                session.board_changed(change)

    play(scene)

    assert sorted(str(event.pair) for event in read_log(path).events) == ["early", "late"]


def test_who_listens_and_fails_is_noted_and_the_others_are_told(
    workshop: Workshop, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "pair").mkdir()
    board, told = Board(workshop, room), []

    def fail(_: object) -> None:
        raise ValueError("a slip in a page")

    board.subscribe(fail)
    board.subscribe(told.append)

    async def scene() -> None:
        async def do(*_: object) -> Seen:
            return Seen("a")

        monkeypatch.setattr(Worker, "do", do)
        await board.sweep()
        await board._serve(board._turns.take() or "", Worker(), room)

    play(scene)

    assert [change["pair"]["name"] for change in told] == ["pair"]
    assert "a slip in a page" in board.snapshot()["note"]


def test_a_look_that_took_its_worker_down_is_tried_once_more_and_then_left(
    workshop: Workshop, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "pair").mkdir()
    board = Board(workshop, room)

    async def lose(*_: object) -> None:
        raise WorkerLost("it took the process down that looked at it")

    monkeypatch.setattr(Worker, "do", lose)

    async def scene() -> list[str | None]:
        asked = []
        for _ in range(3):
            await board.sweep()
            asked.append(name := board._turns.take())
            if name:
                await board._serve(name, Worker(), room)
        return asked

    assert asyncio.run(scene()) == ["pair", "pair", None]
    (latest,) = (row["latest"] for row in board.snapshot()["pairs"])
    assert "took the process down" in latest["found"]


# The processes that judge


def test_a_job_that_takes_its_worker_down_or_does_not_end_costs_only_itself() -> None:
    async def scene() -> None:
        worker = Worker()
        try:
            with pytest.raises(WorkerLost, match="took the process down"):
                await worker.do(os._exit, 3, PATIENCE_SECONDS)
            assert await worker.do(abs, -3, PATIENCE_SECONDS) == 3
            with pytest.raises(WorkerLost, match="not done after"):
                await worker.do(time.sleep, 3600, 0.1)
        finally:
            worker.end()

    play(scene)


def test_a_pair_that_nobody_can_look_at_and_a_disk_that_fails_do_not_stop_the_board(
    workshop: Workshop, released: Path, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(released, room / "pair")
    monkeypatch.setattr(Watch, "run", no_watch)

    async def fail(*_: object) -> None:
        raise OSError(24, "Too many open files")

    async def scene() -> None:
        tried = iter(range(2))
        loop, again = asyncio.get_running_loop(), asyncio.Event()

        def broken(*_: object) -> None:
            if next(tried, None) is None:
                loop.call_soon_threadsafe(again.set)
            raise OSError(116, "Stale file handle")

        board = Board(workshop, room, options=BoardOptions(workers=1, sweep_seconds=0.01))
        monkeypatch.setattr(Worker, "do", fail)
        async with running(board) as run:
            await run.until(lambda: set(run.cells("pair").values()) == {"error"})
            monkeypatch.setattr(pairs, "holds", broken)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await again.wait()
            assert "Stale file handle" in board.snapshot()["note"]

    play(scene)


async def no_watch(*_: object) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("name", "works"),
    [("gate.py", True), (".gate.py.swp", False), ("gate.py~", False), ("__pycache__", False)],
)
def test_what_a_tool_writes_beside_a_file_is_no_save(name: str, works: bool) -> None:
    assert counts(Change.modified, f"/class/pair/lab/{name}") == works


def test_who_lies_deeper_is_found_and_links_are_not_watched(
    workshop: Workshop, released: Path, room: Path, tmp_path: Path
) -> None:
    shutil.copytree(released, room / "home" / "plan_gate")
    (room / "home" / "plan_gate" / "lab" / "link").symlink_to(tmp_path)

    (pair,) = list_pairs(room, None, workshop)
    work = find_work(pair, workshop)

    assert work.folder == room / "home" / "plan_gate"
    assert work.folder / "fixtures" / "plan_gate" in work.watch
    assert work.folder / "lab" / "link" not in work.watch
