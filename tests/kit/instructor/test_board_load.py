"""Sixty pairs who save at once: each judged once, in time for two cores, and nothing piles up."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from instructor.session.board import Board, BoardOptions
from instructor.session.crew import Worker
from instructor.session.quick import Look, Seen, look
from lab.workshop import Workshop

PAIRS = 60
CORES = 2
SECONDS = 5.0
# CPU time that `yardstick` takes on the machine for which the seconds above are promised.
YARDSTICK_SECONDS = 0.04
PATIENCE_SECONDS = 300.0
# For a save to be told, and for what was found to come back.
WAITED_SECONDS = 3.0
# Two of three parts of a look may be waiting, before it is taken for idle.
IDLE = 3.0
GATE = "lab/plan_gate.py"


def yardstick() -> tuple[float, float]:
    """Say how many times slower this machine computes at the moment, and how crowded it is."""
    begun, began = time.process_time(), time.monotonic()
    sum(hash((number, str(number))) for number in range(180_000))
    used = time.process_time() - begun
    return max(1.0, used / YARDSTICK_SECONDS), max(1.0, (time.monotonic() - began) / used)


def cpu_seconds_below() -> float:
    """Add up the CPU time of all processes below this one, and of what they have waited for."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


def save(folder: Path, text: str) -> None:
    """Save a gate that is a little further: the pair's own, and still not done."""
    path = folder / GATE
    path.write_text(f"{path.read_text()}\n# {text}\n")


@dataclass
class Saves:
    """When each pair saved and was shown, and how long each look took: all by the wall clock."""

    saved: dict[str, float] = field(default_factory=dict)
    shown: dict[str, float] = field(default_factory=dict)
    walls: list[float] = field(default_factory=list)

    def forget(self) -> None:
        """Begin anew."""
        for kept in (self.saved, self.shown, self.walls):
            kept.clear()

    @property
    def waited(self) -> float:
        """Say for how long the last pair waited while nobody was looked at.

        A machine that is busy makes the looks longer, and so the time that a pair has to wait; it
        does not make this longer.
        """
        last = max(shown - self.saved[name] for name, shown in self.shown.items())
        return last - sum(self.walls) / CORES - max(self.walls, default=0)


@pytest.mark.parametrize(("walls", "waited"), [([], 10.0), ([1.0] * 8, 5.0), ([2.0] * 9, -1.0)])
def test_a_pair_that_waits_while_nobody_is_looked_at_waits_in_vain(
    walls: list[float], waited: float
) -> None:
    saves = Saves({"first": 1.0, "last": 2.0}, {"first": 2.0, "last": 12.0}, walls)

    assert saves.waited == waited


@pytest.mark.parametrize(
    ("source", "number", "seconds"), [("released", PAIRS, SECONDS), ("reference", 6, 1.5)]
)
def test_pairs_who_save_at_once_are_judged_once_each_and_in_time(  # noqa: PLR0917
    workshop: Workshop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    source: str,
    number: int,
    seconds: float,
) -> None:
    """Sixty who have only begun, and some whose every check has more to run: they have finished."""
    folders = [tmp_path / "class" / f"pair-{place:02}" for place in range(number)]
    for folder in folders:
        leave_out = shutil.ignore_patterns(".git", "notebooks")
        shutil.copytree(request.getfixturevalue(source), folder, ignore=leave_out)
    saves = Saves()
    monkeypatch.setattr(Worker, "do", timed(saves, Worker.do))

    async def scene() -> None:
        options = BoardOptions(workers=CORES, sweep_seconds=3600)
        board = Board(workshop, tmp_path / "class", options=options)
        judged = counted(board, saves)
        task = asyncio.create_task(board.run())
        try:
            await until(lambda: len(saves.shown) == number, judged)
            assert len(saves.walls) == number
            used, slower, crowded = await save_all(folders, saves, judged)
            # A save that is told in two parts may be looked at twice; most are not.
            assert len(saves.walls) < 1.2 * number + 1
            assert used / CORES / slower < seconds
            # Nobody waits for a worker that does nothing, and no worker waits while it looks.
            assert saves.waited < WAITED_SECONDS
            assert sum(saves.walls) < IDLE * crowded * used
            rows = board.snapshot()["pairs"]
            assert [bool(row["latest"]) for row in rows] == [source == "released"] * number
        finally:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())


async def save_all(
    folders: list[Path], saves: Saves, judged: asyncio.Event
) -> tuple[float, float, float]:
    """Let everybody save; give the CPU time that it took, and what ``yardstick`` says meanwhile."""
    saves.forget()
    measured, before = [yardstick()], cpu_seconds_below()
    for folder in folders:
        save(folder, folder.name)
        saves.saved[folder.name] = time.monotonic()
    for third in (1, 2, 3):
        await until(lambda third=third: 3 * len(saves.shown) >= third * len(folders), judged)  # type: ignore[misc]
        measured.append(yardstick())
    slower, crowded = map(max, zip(*measured, strict=True))
    return cpu_seconds_below() - before, slower, crowded


def counted(board: Board, saves: Saves) -> asyncio.Event:
    """Note who was looked at and when, also where nothing new was seen."""
    judged, show = asyncio.Event(), board._show

    def noted(name: str, seen: Seen) -> None:
        show(name, seen)
        saves.shown[name] = time.monotonic()
        judged.set()

    board._show = noted  # type: ignore[method-assign]
    return judged


def timed(
    saves: Saves, do: Callable[..., Awaitable[Seen]]
) -> Callable[..., Coroutine[None, None, Seen]]:
    """Note how long each job keeps a worker."""

    async def noted(*given: object) -> Seen:
        begun = time.monotonic()
        seen = await do(*given)
        saves.walls.append(time.monotonic() - begun)
        return seen

    return noted


async def until(holds: Callable[[], bool], judged: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            judged.clear()
            await judged.wait()


def test_what_is_kept_of_a_pair_does_not_grow_with_its_saves(
    released: Path, tmp_path: Path
) -> None:
    folder, place = tmp_path / "pair", tmp_path / "board" / "pair"
    shutil.copytree(released, folder, ignore=shutil.ignore_patterns(".git", "notebooks"))
    job = Look(folder, "plan_gate", place)

    def rounds(number: int) -> tuple[int, int, int]:
        for round_ in range(number):
            path = folder / GATE
            path.write_text(f"{path.read_text().partition('# round')[0]}# round {round_:03}\n")
            assert look(job).outcomes["validator"] == "fail"
        files = [path for path in place.rglob("*") if path.is_file()]
        return len(files), sum(path.stat().st_size for path in files), memory_below()

    rounds(5)
    before, after = rounds(5), rounds(30)

    assert after[:2] == before[:2]
    assert after[2] - before[2] < 8_000_000


def memory_below() -> int:
    """Add up the memory of this process and its fork servers, in bytes."""
    own = psutil.Process()
    processes: list[Any] = [own, *own.children(recursive=True)]
    return sum(process.memory_info().rss for process in processes)
