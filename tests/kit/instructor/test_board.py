"""The live board: what is saved shows, and nothing that a pair does stops it."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from instructor import CourseError
from instructor.session.board import Board, BoardOptions
from instructor.session.quick import Seen
from instructor.session.rows import STATES_KEPT, Row, States
from instructor.session.turns import Turns
from lab.workshop import Workshop

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
    return Row("pair", ["one", "two"], BEGAN)


def seen(digest: str, **outcomes: str) -> Seen:
    return Seen(digest, {"one": "fail", "two": "fail", **outcomes})


def test_a_row_begins_with_nothing(row: Row) -> None:
    cell = {"outcome": "none", "since": BEGAN.isoformat()}

    assert row.to_json() == {
        "name": "pair",
        "cells": {"one": cell, "two": cell},
        "latest": None,
        "updated": BEGAN.isoformat(),
    }


def test_a_block_counts_as_reached_once_and_goes_red_again(row: Row) -> None:
    at = [BEGAN + timedelta(minutes=minute) for minute in range(4)]

    assert row.take(seen("a", one="pass"), at[1]) == ["one"]
    assert row.take(seen("b"), at[2]) == []
    assert row.to_json()["cells"]["one"] == {"outcome": "fail", "since": at[2].isoformat()}
    assert row.take(seen("c", one="pass"), at[3]) == []
    assert row.to_json()["cells"]["two"]["since"] == at[1].isoformat()


def test_files_that_were_seen_before_show_what_was_found_in_them(row: Row) -> None:
    states = States()
    first, second = seen("a", one="pass"), seen("b")
    assert [states.whole(own) for own in (first, second)] == [first, second]
    row.take(second, BEGAN)

    assert states.whole(Seen("a")) == first
    assert row.take(first, BEGAN) == ["one"]
    assert row.take(first, BEGAN) is None


def test_a_row_stays_as_it_was_where_files_changed_while_they_were_looked_at(row: Row) -> None:
    row.take(seen("a", one="pass"), BEGAN)

    assert row.take(Seen(), BEGAN) is None
    assert row.to_json()["cells"]["one"]["outcome"] == "pass"


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
    row.take(seen("a", one="pass"), BEGAN)

    row.take(Seen(trouble="The folder is closed.", missing=missing), BEGAN)

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
        options = BoardOptions(workers=1, sweep_seconds=0.2)
        async with running(Board(workshop, room, options=options)) as run:
            await run.until(lambda: run.cells("early")["contract"] == "fail")
            for file in ("lab/agent_plan.schema.json", workshop.gate.file):
                shutil.copyfile(reference / file, room / "early" / file)
            await run.until(lambda: run.cells("early")["validator"] == "pass")
            assert ["contract", "validator"] in [change["reached"] for change in run.told]
            (room / "late").mkdir()
            await run.until(lambda: len(run.board.snapshot()["pairs"]) == 2)
            assert set(run.cells("late").values()) == {"none"}

    play(scene)
