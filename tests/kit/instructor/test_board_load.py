"""Sixty pairs who save at once: each judged once, in time for two cores, and nothing piles up."""

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from instructor.session.board import Board, BoardOptions
from instructor.session.quick import Look, Seen, look
from lab.workshop import Workshop

PAIRS = 60
CORES = 2
SECONDS = 5.0
# CPU time that `yardstick` takes on the machine for which the seconds above are promised.
YARDSTICK_SECONDS = 0.04
PATIENCE_SECONDS = 300.0
GATE = "lab/plan_gate.py"


def yardstick() -> float:
    """Say how many times slower this machine computes at the moment."""
    begun = time.process_time()
    sum(hash((number, str(number))) for number in range(180_000))
    return max(1.0, (time.process_time() - begun) / YARDSTICK_SECONDS)


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


def test_sixty_pairs_who_save_at_once_are_judged_once_each_and_in_time(
    workshop: Workshop, released: Path, tmp_path: Path
) -> None:
    room = tmp_path / "class"
    folders = [room / f"pair-{number:02}" for number in range(PAIRS)]
    for folder in folders:
        shutil.copytree(released, folder, ignore=shutil.ignore_patterns(".git", "notebooks"))
    told: list[str] = []
    looks: list[str] = []

    async def scene() -> None:
        board = Board(workshop, room, options=BoardOptions(workers=CORES, sweep_seconds=3600))
        board.subscribe(lambda change: told.append(change["pair"]["name"]))
        judged = counted(board, looks)
        task = asyncio.create_task(board.run())
        try:
            await until(lambda: len(told) == PAIRS, judged)
            assert len(looks) == PAIRS
            looks.clear()
            slower, before = yardstick(), cpu_seconds_below()
            for folder in folders:
                save(folder, folder.name)
            await until(lambda: len(set(looks)) == PAIRS, judged)
            used = cpu_seconds_below() - before
            slower = max(slower, yardstick())
            # A save that is told in two parts may be looked at twice; most are not.
            assert len(looks) < 1.2 * PAIRS
            assert used / CORES / slower < SECONDS
            assert all(row["latest"] for row in board.snapshot()["pairs"])
        finally:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())


def counted(board: Board, looks: list[str]) -> asyncio.Event:
    """Note who was looked at, also where nothing new was seen."""
    judged, show = asyncio.Event(), board._show

    def noted(name: str, seen: Seen) -> None:
        show(name, seen)
        looks.append(name)
        judged.set()

    board._show = noted  # type: ignore[method-assign]
    return judged


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
