"""The bench on which one submission lies while its evidence is judged."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instructor.answer_key import AnswerKey
from instructor.sandbox import ChildRun, Limits, run_child
from instructor.sandbox.process import Message
from lab.strict_json import NotStrictJson, load_json
from lab.suite import SuiteReport
from lab.workshop import Evidence, Workshop


@dataclass(frozen=True)
class Finding:
    """The judgement on one piece of evidence; ``next`` overrides the evidence's own advice."""

    outcome: str
    found: str
    expected: str = ""
    next: str = ""


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
    limits: Limits = field(default_factory=Limits)
    cell_seconds: float = 10.0
    replays: dict[str, dict[str, Message]] = field(default_factory=dict)
    baselines: dict[str, SuiteReport | None] = field(default_factory=dict)

    def load(self, file: str) -> Any:
        """Read one JSON file of the submission; raise ``Unusable`` with what is wrong."""
        path = self.snapshot / file
        if not path.is_file():
            raise Unusable(f"{file} is missing.")
        try:
            return load_json(path)
        except NotStrictJson as error:
            raise Unusable(f"{file} cannot be read as JSON: {error}.") from error

    @contextmanager
    def copy(self) -> Iterator[tuple[Path, Path]]:
        """Give a fresh copy of the submission and an empty scratch folder; both go away again."""
        place = Path(tempfile.mkdtemp(dir=self.scratch))
        workspace = place / "workspace"
        try:
            shutil.copytree(self.snapshot, workspace)
            yield workspace, place / "scratch"
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def run(
        self,
        job: Message,
        answer: Callable[[Message], Message] | None = None,
        limits: Limits | None = None,
    ) -> tuple[ChildRun, Path]:
        """Run one job in the sandbox, on a copy of its own; give the run and the copy's path."""
        with self.copy() as (workspace, scratch):
            job = {**job, "workspace": str(workspace)}
            run = run_child(job, scratch, limits or self.limits, answer)
        return run, workspace
