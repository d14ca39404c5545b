"""The live board: each pair's blocks as their files stand, judged by what grading judges.

The event loop only waits: files are looked at in a thread and judged in worker processes.
"""

import asyncio
import contextlib
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from instructor import CourseError
from instructor.intake.bring import take_in
from instructor.judging import plain
from instructor.sandbox.quota import clear_away
from instructor.session.crew import Worker
from instructor.session.pairs import Pair, Work, find_work, list_pairs, look_over
from instructor.session.quick import Look, Seen, look
from instructor.session.rows import Row, States
from instructor.session.turns import Turns
from instructor.session.watch import Watch
from lab.suite import cut
from lab.workshop import Workshop

Callback = Callable[[dict[str, Any]], object]
# A look that takes longer is the pair's doing; then it must not take every worker.
SLOW_SECONDS = 4.0
LOST_SECONDS = 120.0
# Kinds of source that cannot be looked at where they lie.
FETCHED = ("git", "zip")
# No folder has this mark: the next look over finds a change, and asks again.
ASK_AGAIN = -1
# For the watch to begin anew, after folders came or went.
MOVED_SECONDS = 0.5


@dataclass(frozen=True)
class BoardOptions:
    """How to watch: how many workers, and how often what.

    ``polling`` asks the disk instead of waiting to be told, which a network disk never does.
    ``sweep_seconds`` is how often everything is looked over, ``fetch_seconds`` how often what has
    to be fetched is; ``seconds`` is the CPU time of one run of tests.
    """

    workers: int = 2
    polling: bool = False
    sweep_seconds: float = 10.0
    fetch_seconds: float = 60.0
    seconds: float = 2.0


class Board:
    """The blocks of every pair of a class, kept up to date while ``run`` runs."""

    def __init__(
        self,
        workshop: Workshop,
        folder: Path | None,
        roster: Path | None = None,
        options: BoardOptions = BoardOptions(),
    ) -> None:
        """Read who is in the room; raise ``CourseError`` where that cannot be read."""
        self._workshop = workshop
        self._class = (folder and folder.resolve(), roster and roster.resolve())
        self._options = options
        self._turns = Turns()
        self._asked = asyncio.Event()
        self._watch = Watch(options.polling)
        self._callbacks: list[Callback] = []
        self._blocks = [block.id for block in workshop.blocks]
        self._pairs: dict[str, Pair] = {}
        self._work: dict[str, Work] = {}
        self._rows: dict[str, Row] = {}
        self._states = States()
        self._owners: dict[Path, str] = {}
        # Whose last look took a worker down; it is tried once more.
        self._lost: set[str] = set()
        self._note = ""
        self._meet(list_pairs(*self._class, workshop))

    def snapshot(self) -> dict[str, Any]:
        """Give the whole board as plain JSON values; ``note`` says what is wrong with the class."""
        blocks = [{"id": block.id, "title": block.title} for block in self._workshop.blocks]
        rows = [self._rows[name].to_json() for name in sorted(self._rows)]
        return {"blocks": blocks, "pairs": rows, "note": self._note}

    def subscribe(self, callback: Callback) -> None:
        """Have every change told: ``{"pair": the row as in snapshot, "reached": [block ids]}``.

        ``reached`` holds the blocks that are a ``pass`` for the first time.
        """
        self._callbacks.append(callback)

    async def run(self) -> None:
        """Keep the board up to date until this is cancelled."""
        with _scratch() as scratch:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._watch.run(self._touched))
                tasks.create_task(self._sweep_often())
                tasks.create_task(self._fetch_often(scratch / "fetched"))
                for _ in range(self._options.workers):
                    tasks.create_task(self._work_off(scratch))

    def _meet(self, pairs: list[Pair]) -> None:
        for pair in pairs:
            self._pairs[pair.name] = pair
            self._rows.setdefault(pair.name, Row(pair.name, self._blocks))

    def _ask(self, name: str) -> None:
        self._turns.ask(name)
        self._asked.set()

    def _touched(self, paths: set[Path]) -> None:
        """Look again at whoever saved something."""
        for folder in {folder for path in paths for folder in (path, path.parent)}:
            if folder in self._owners:
                self._ask(self._owners[folder])

    async def _sweep_often(self) -> None:
        """Look over every folder now and then: for new ones, and for what nobody told."""
        while True:
            moved = False
            try:
                moved = await self.sweep()
            except OSError as error:  # a disk that is away for a while
                self._note = f"The class cannot be looked over: {error}. It is tried again."
            # What was saved while the watch moved was told to nobody.
            await asyncio.sleep(MOVED_SECONDS if moved else self._options.sweep_seconds)

    async def sweep(self) -> bool:
        """Look over every folder; say whether others are watched now than before."""
        pairs, note = await asyncio.to_thread(self._list)
        self._meet(pairs)
        local = [pair for pair in self._pairs.values() if pair.source.kind not in FETCHED]
        works = await asyncio.to_thread(lambda: [find_work(p, self._workshop) for p in local])
        for pair, work in zip(local, works, strict=True):
            self._found(pair.name, work)
        self._owners = {
            f: pair.name for pair, work in zip(local, works, strict=True) for f in work.watch
        }
        self._note = note
        return self._watch.over(self._owners)

    def _list(self) -> tuple[list[Pair], str]:
        """List who is there, and say what keeps that from being read."""
        try:
            return list_pairs(*self._class, self._workshop), ""
        except CourseError as error:
            return [], str(error)

    def _found(self, name: str, work: Work) -> None:
        """Look at a pair whose folder is another one, or has changed since it was looked at."""
        before = self._work.get(name)
        self._work[name] = work
        if before is None or (before.folder, before.mark) != (work.folder, work.mark):
            self._ask(name)

    async def _fetch_often(self, place: Path) -> None:
        """Fetch what lies elsewhere, one after another, and begin again after a while."""
        for turn in itertools.count():
            for number, pair in enumerate(list(self._pairs.values())):
                if pair.source.kind in FETCHED:
                    await self._fetch(pair, place / f"{number}-{turn % 2}")
            await asyncio.sleep(self._options.fetch_seconds)

    async def _fetch(self, pair: Pair, place: Path) -> None:
        # The one before the last; the last may be looked at just now.
        await asyncio.to_thread(clear_away, place)
        taken = await asyncio.to_thread(take_in, pair.source, place, [self._workshop])
        if taken.folder:
            self._found(pair.name, look_over(taken.folder))
        elif taken.finding:
            found, advice = taken.finding.found, taken.finding.next
            self._show(pair.name, Seen(trouble=plain(found), advice=plain(advice)))

    async def _work_off(self, scratch: Path) -> None:
        """Look at one pair after another, in a process of this one's own."""
        worker = Worker()
        try:
            while True:
                name = self._turns.take()
                if name is None:
                    self._asked.clear()
                    await self._asked.wait()
                else:
                    await self._serve(name, worker, scratch)
        finally:
            worker.end()

    async def _serve(self, name: str, worker: Worker, scratch: Path) -> None:
        work, known = self._work[name], self._states.known
        place = scratch / f"pair-{list(self._rows).index(name)}"
        job = Look(work.folder, self._workshop.id, place, known, self._options.seconds)
        begun = time.monotonic()
        try:
            seen = await worker.do(look, job, LOST_SECONDS)
            self._lost.discard(name)
        # Whatever keeps a worker from its job, a full disk or no memory: the others go on.
        except Exception as lost:  # noqa: BLE001
            mark = work.mark if name in self._lost else ASK_AGAIN
            self._lost ^= {name}
            seen = Seen(trouble=cut(plain(f"It could not be looked at: {lost}.")), mark=mark)
        self._work[name] = replace(self._work[name], mark=seen.mark)
        self._turns.done(name, slow=time.monotonic() - begun > SLOW_SECONDS)
        self._asked.set()
        self._show(name, seen)

    def _show(self, name: str, seen: Seen) -> None:
        """Put what was seen into the pair's row, and tell whoever wants to know of a change."""
        reached = self._rows[name].take(self._states.whole(seen))
        if reached is not None:
            change = {"pair": self._rows[name].to_json(), "reached": reached}
            for callback in self._callbacks:
                try:
                    callback(change)
                except Exception as error:  # noqa: BLE001  who listens must never stop the board
                    self._note = f"A change of {name} was not taken in: {error}."


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder for copies in which students' code runs, and delete it whatever it left."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        clear_away(folder)
