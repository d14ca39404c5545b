"""A session served for a test: on a free port, in a thread, by a clock that the test sets."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from instructor.session.journal import open_journal
from instructor.session.plan import Plan
from instructor.session.room import Room, Watched
from instructor.session.run import Options, serve
from tests.kit.instructor.rooms import NOON, PLAN, clock

SECRET = b"a secret of thirty-two bytes, no?"


@dataclass
class Dial:
    """A clock that stands still until it is set."""

    time: datetime = NOON

    def __call__(self) -> datetime:
        return self.time

    def at(self, text: str) -> None:
        """Set it to so long after noon."""
        self.time = NOON + clock(text)


@dataclass
class FakeBoard:
    """Stands in for the live board: a test says what is on it."""

    shown: dict[str, Any]
    _told: list[Callable[[dict[str, Any]], object]] = field(default_factory=list)

    async def run(self) -> None:
        await asyncio.Event().wait()

    def snapshot(self) -> dict[str, Any]:
        return self.shown

    def subscribe(self, callback: Callable[[dict[str, Any]], object]) -> None:
        self._told.append(callback)

    def show(self, shown: dict[str, Any]) -> None:
        self.shown = shown
        for row in shown["pairs"]:
            reached = [block for block, cell in row["cells"].items() if cell["outcome"] == "pass"]
            for callback in self._told:
                callback({"pair": row, "reached": reached})


@dataclass
class Served:
    """A session that is being served, and every line that was said in its terminal."""

    dial: Dial
    room: Room
    said: list[str]
    board: Watched | None = None

    @property
    def url(self) -> str:
        return self.link("Projector").removesuffix("/")

    def link(self, who: str) -> str:
        """Give the newest link for somebody."""
        return next(line for line in reversed(self.said) if line.startswith(who)).split()[-1]

    @property
    def events(self) -> list[str]:
        return [event.event for event in self.room.journal.events]


@contextmanager
def served(
    log: Path,
    *,
    plan: Plan = PLAN,
    lan: bool = False,
    board: Watched | None = None,
    at: str = "0",
    folder: Path | None = None,
) -> Iterator[Served]:
    """Serve a session on a free port; the clock stands at noon, or so long after it."""
    dial = Dial(NOON + clock(at))
    with open_journal(log, plan, dial()) as journal:
        shown = Served(dial, Room(journal, dial), [], board)
        ready, ended = threading.Event(), threading.Event()

        def say(line: str) -> None:
            shown.said.append(line)
            if line.startswith("Teacher"):
                ready.set()

        async def main() -> None:
            stop = asyncio.create_task(asyncio.to_thread(ended.wait))
            options = Options(0, lan, folder=folder)
            task = asyncio.create_task(serve(shown.room, SECRET, options, board, say))
            await asyncio.wait({stop, task}, return_when=asyncio.FIRST_COMPLETED)
            task.cancel()
            ready.set()
            ended.set()
            await asyncio.gather(task, return_exceptions=True)

        thread = threading.Thread(target=lambda: asyncio.run(main()))
        thread.start()
        try:
            assert ready.wait(30)
            yield shown
        finally:
            ended.set()
            thread.join(30)


def pair(name: str, *outcomes: str, latest: dict[str, str] | None = None) -> dict[str, Any]:
    """Write a row of the board of the small plan."""
    seen = zip(PLAN.blocks, outcomes, strict=False)
    cells = {block.id: {"outcome": outcome} for block, outcome in seen}
    return {"name": name, "cells": cells, "latest": latest}


def board_of(*pairs: dict[str, Any], note: str = "") -> dict[str, Any]:
    """Write a board of the small plan."""
    blocks = [{"id": block.id, "title": block.title} for block in PLAN.blocks]
    return {"blocks": blocks, "pairs": list(pairs), "note": note}
