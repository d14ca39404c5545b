"""The same work by plain means: nbclient, ``python -m pytest`` and a script, with no sandbox.

What is plain is chosen to be quick: nbclient is imported once for all notebooks, pytest loads no
plugins of our environment, a file of visible checks runs once for all its evidence, tests stop at
the first failure, and all cases of a submission are decided in one process. Its answers are judged
by the same code as ours.
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from instructor import COURSE
from instructor.answer_key import Case, load_answer_key
from instructor.benchmark.spent import CASES, NOTEBOOKS, RUNS, SUITES, Judged, Spent
from instructor.evidence import Bench
from instructor.evidence.bench import TestsRun, Unusable
from instructor.evidence.cases import AGAIN, asked_cases, gate_names
from instructor.evidence.desk import Rows
from instructor.judging import judge_evidence
from instructor.submission import take_snapshot
from lab.workshop import Workshop, load_workshop

SCRIPT = Path(__file__).with_name("stock_cases.py")
# As quick as it gets: compiled code is kept, and of pytest's plugins only those of a workspace run.
PLAIN = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
OUTCOMES = {"failure": "failed", "error": "error", "skipped": "skipped"}


def judge_plainly(folder: str, workshop_id: str, scratch: str) -> dict[str, Any]:
    """Judge one submission on one workshop; a function of plain data, for a pool of processes.

    ``scratch`` is a folder for copies.
    """
    workshop = load_workshop(COURSE, workshop_id)
    with tempfile.TemporaryDirectory(dir=scratch) as place:
        return Plain(Path(folder), workshop, Path(place)).judge().to_json()


class Plain:
    """One submission on its way through plain tools."""

    def __init__(self, folder: Path, workshop: Workshop, place: Path) -> None:
        """Take the same snapshot as grading does, below ``place``."""
        self._workshop, self._answers = workshop, load_answer_key(workshop)
        self._root = take_snapshot(folder, place / "snapshot", [workshop]).path
        self._place = place
        self.bench = Bench(workshop, self._answers, self._root, place)
        self.spent = Spent()

    def judge(self) -> Judged:
        """Do all work, then judge what was said; give the outcome of each evidence by its id."""
        ran = self.notebooks()
        self.suites()
        self.wrong_gates()
        self.cases()
        kinds = {item.kind for item in self._workshop.evidence} - {"notebook"}
        found = judge_evidence(self._workshop, self.bench, kinds)
        outcomes = {name: finding.outcome for name, finding in found.items()}
        return Judged({**outcomes, **ran}, self.spent)

    def notebooks(self) -> dict[str, str]:
        """Execute each notebook with nbclient, in a kernel of its own."""
        outcomes = {}
        for item in self._evidence("notebook"):
            file = item.options["file"]
            with self._copy() as workspace, self.spent.on(NOTEBOOKS):
                path = workspace / file
                outcomes[item.id] = _execute(path, workspace) if path.is_file() else "fail"
        return outcomes

    def suites(self) -> None:
        """Run each file of visible checks once."""
        for file in dict.fromkeys(item.options["file"] for item in self._evidence("suite")):
            rows = [item.id for item in self._evidence("suite") if item.options["file"] == file]
            if not (self._root / file).is_file():
                continue
            with self._copy() as workspace, self.spent.on(SUITES):
                _, report = _pytest(workspace, file)
            self.bench.suites[file] = Rows({name: {"report": report} for name in rows})

    def wrong_gates(self) -> None:
        """Run a pair's tests with each gate written in the place of its own."""
        for file in dict.fromkeys(item.options["file"] for item in self._evidence("wrong_gates")):
            if (self._root / file).is_file():
                with self._copy() as workspace:
                    self.bench.tests[file] = self._tests_run(workspace, file)

    def _tests_run(self, workspace: Path, file: str) -> TestsRun:
        gate = workspace / self._workshop.gate.file
        reference = (COURSE / self._workshop.gate.file).read_text(encoding="utf-8")
        trouble = ""
        right = [rewrite.source for rewrite in self._answers.rewrites]
        for source in (reference, *right):
            trouble = trouble or ("" if self._passes(workspace, file, gate, source) else "red")
        if trouble:
            return TestsRun(trouble, frozenset())
        wrong = self._answers.wrong_gates
        caught = {w.id for w in wrong if not self._passes(workspace, file, gate, w.source)}
        return TestsRun(trouble, frozenset(caught))

    def _passes(self, workspace: Path, file: str, gate: Path, source: str) -> bool:
        gate.write_text(source, encoding="utf-8")
        for compiled in gate.parent.glob(f"__pycache__/{gate.stem}.*"):
            compiled.unlink()
        with self.spent.on(RUNS):
            code, _ = _pytest(workspace, file, "-x")
        return code == 0

    def cases(self) -> None:
        """Decide every case of every subject in one process."""
        asked = dict(self._asked())
        if not asked:
            return
        gate, subjects = gate_names(self._workshop.gate), list(asked.values())
        request = {"gate": gate, "again": AGAIN, "subjects": subjects}
        with self._copy() as workspace:
            number = sum(len(subject["rows"]) for subject in asked.values())
            with self.spent.on(CASES, number):
                done = subprocess.run(  # noqa: S603  our own script, by its full path
                    [sys.executable, str(SCRIPT)],
                    input=json.dumps(request),
                    cwd=workspace,
                    env=PLAIN,
                    capture_output=True,
                    text=True,
                    check=True,
                )
        for key, answers in zip(asked, json.loads(done.stdout), strict=True):
            self.bench.replays[key] = Rows(answers)

    def _asked(self) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        rules, workshop = self._answers.rules, self._workshop
        for item in self._evidence("cases"):
            subject, file = rules[item.options["rule"]].subject, item.options.get("file", "")
            rows = [_row(c) for c in asked_cases(workshop, self._answers, subject, file)]
            try:
                schema = self.bench.load(file) if subject == "schema" else None
            except Unusable:
                continue
            there = schema is not None or (self._root / self._workshop.gate.file).is_file()
            if subject != "data" and there:
                yield (subject, file), {"rows": rows, "schema": schema}

    def _evidence(self, kind: str) -> list[Any]:
        return [item for item in self._workshop.evidence if item.kind == kind]

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self._place) as place:
            yield Path(copytree(self._root, Path(place) / "workspace"))


def _row(case: Case) -> dict[str, Any]:
    return {"id": case.id, "document": case.document, "named": case.named, "text": case.text}


def _execute(path: Path, workspace: Path) -> str:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    )
    try:
        # In a pair's own environment, lab is the workspace's.
        client.execute(env={**PLAIN, "PYTHONPATH": str(workspace)}, stderr=subprocess.DEVNULL)
    except CellExecutionError:
        return "fail"
    return "pass"


def _pytest(workspace: Path, file: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Run one file of tests in a fresh process; give its exit code and what each test said."""
    result = workspace.parent / "result.xml"
    result.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", f"--junitxml={result}", *more]
    done = subprocess.run(  # noqa: S603  pytest on a copy
        [*command, file], cwd=workspace, capture_output=True, check=False, env=PLAIN
    )
    tests = [_test(case) for case in ET.parse(result).iter("testcase")]  # noqa: S314  pytest's own
    return done.returncode, {"complete": True, "tests": tests, "trouble": ""}


def _test(case: ET.Element) -> dict[str, str]:
    said = next((child for child in case if child.tag in OUTCOMES), None)
    outcome = "passed" if said is None else OUTCOMES[said.tag]
    message = "" if said is None else str(said.get("message"))
    return {"name": str(case.get("name")), "outcome": outcome, "title": "", "message": message}


def ready() -> bool:
    """Do nothing; a worker that has done it has imported what it needs."""
    return True
