"""The bench on which one submission lies while its evidence is judged."""

import functools
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instructor.answer_key import AnswerKey
from instructor.conflicts import conflict_line
from instructor.evidence.desk import Desk, Rows
from instructor.sandbox import ChildRun, Limits, run_child
from instructor.sandbox.allowance import Allowance
from instructor.sandbox.process import Message
from instructor.sandbox.quota import clear_away
from lab.strict_json import NotStrictJson, load_json, structure_problem
from lab.workshop import Evidence, Workshop

# How often a job is taken up again after a row has ended its child.
RESTARTS = 2
# For starting Python and what it imports, by the clock, on a machine that is busy.
START_SECONDS = 30.0
# For all that gates of ours answer outside of the sandbox on one bench, by the clock. A finished
# submission takes some seconds of it.
ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Finding:
    """The judgement on one piece of evidence; ``next`` overrides the evidence's own advice.

    ``details`` are lines beside it. ``seconds`` and ``cells`` (a cell's name, its seconds) say how
    long a notebook ran, ``minutes`` what the timing plan gives to its blocks.
    """

    outcome: str
    found: str
    expected: str = ""
    next: str = ""
    details: tuple[str, ...] = ()
    seconds: float | None = None
    minutes: int | None = None
    cells: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class TestsRun:
    """A pair's tests on every gate: what is wrong with them on the reference, and their catches."""

    trouble: str
    caught: frozenset[str]


Judge = Callable[[Evidence, "Bench"], Finding]


class Unusable(Exception):  # noqa: N818  a finding, not a fault of ours
    """A file of the submission cannot be used; the text is what the student reads."""


@dataclass
class Bench:
    """A submission's snapshot, a workshop, its answers, and a place to work."""

    workshop: Workshop
    answers: AnswerKey
    snapshot: Path
    scratch: Path
    seconds: float = 10.0
    cell_seconds: float = 10.0
    replays: dict[tuple[str, str], Rows] = field(default_factory=dict)
    suites: dict[str, Rows] = field(default_factory=dict)
    tests: dict[str, TestsRun] = field(default_factory=dict)
    survivors: set[str] = field(default_factory=set)
    allowance: Allowance = field(default_factory=lambda: Allowance(ANSWER_SECONDS))

    def load(self, file: str) -> Any:
        """Read one JSON file of the submission; raise ``Unusable`` with what is wrong."""
        path = self.snapshot / file
        if not path.is_file():
            raise Unusable(f"{file} is missing.")
        try:
            document = load_json(path)
        except NotStrictJson as error:
            if line := conflict_line(path.read_bytes().decode(errors="replace")):
                raise Unusable(
                    f"{file} holds a merge conflict that nobody has settled, at line {line}."
                ) from error
            raise Unusable(f"{file} cannot be read as JSON: {error}.") from error
        if problem := structure_problem(document):
            raise Unusable(f"{file} cannot be used: {problem}.")
        return document

    def shown(self, text: str) -> str:
        """Shorten the paths of this bench's copies to what a student knows them as."""
        place = re.escape(str(self.scratch))
        return re.sub(rf"{place}\S*", "…", re.sub(rf"{place}/\S*?/workspace/", "", text))

    @functools.cached_property
    def _snapshot_read(self) -> tuple[list[str], dict[str, bytes]]:
        """Read the folders and files of the snapshot once: it is copied for every job."""
        paths = sorted(self.snapshot.rglob("*"))
        folders = [str(path.relative_to(self.snapshot)) for path in paths if path.is_dir()]
        files = {
            str(path.relative_to(self.snapshot)): path.read_bytes()
            for path in paths
            if path.is_file()
        }
        return folders, files

    @contextmanager
    def copy(self) -> Iterator[tuple[Path, Path]]:
        """Give a fresh copy of the submission and an empty scratch folder; both go away again."""
        place = Path(tempfile.mkdtemp(dir=self.scratch))
        workspace = place / "workspace"
        try:
            workspace.mkdir()
            folders, files = self._snapshot_read
            for name in folders:
                (workspace / name).mkdir()
            for name, data in files.items():
                (workspace / name).write_bytes(data)
            yield workspace, place / "scratch"
        finally:
            clear_away(place)

    def run(
        self,
        job: Message,
        answer: Callable[[Message], Message],
        limits: Limits,
    ) -> ChildRun:
        """Run one job in the sandbox, on a copy of its own."""
        with self.copy() as (workspace, scratch):
            job = {**job, "workspace": str(workspace)}
            run = run_child(job, scratch, limits, answer)
        self.survivors |= set(run.survivors)
        return run

    def run_rows(
        self,
        job: Message,
        rows: list[Message],
        seconds: float,
        total: float,
        answer: Callable[[Message], Message] | None = None,
    ) -> Rows:
        """Run the rows of a job and gather what is said about each.

        A row may use ``seconds`` of CPU time, all of them ``total`` by the clock once they begin.
        A row that ends the child gets its ending as its answer, and the rows after it go on in
        another child, ``RESTARTS`` times.
        """
        job = {**job, "seconds": seconds}
        total += START_SECONDS
        limits = Limits(wall_seconds=total, cpu_seconds=math.ceil(total))
        answers: dict[str, Message] = {}
        left = rows
        for _ in range(RESTARTS + 1):
            desk = Desk(left, answer)
            run = self.run(job, desk.answer, limits)
            answers |= desk.gather(run)
            if run.finished:
                break
            if not desk.handed:
                return Rows(answers, run.ending)
            left = [row for row in left if row["id"] not in answers]
        return Rows(answers, self.shown(desk.trouble(run)))
