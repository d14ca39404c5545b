"""What a notebook calls: the block at hand, a first look at a fixture, and the check of an outcome.

Every function takes the files as they were last saved, so there is no kernel to restart after an
edit. Nothing here needs the network, and only ``holes`` starts a process.
"""

import importlib
import json
import logging
import sys
import types
from pathlib import Path

from lab.cards import Card, Line, Note
from lab.clock import BlockClock, with_clock
from lab.holes import holes as holes  # noqa: PLC0414  notebooks say coach.holes(...)
from lab.replay import load_and_decide
from lab.strict_json import NotStrictJson, differences, load_json
from lab.suite import SuiteReport, SuiteVerdict, cut, judge, judge_own, run_suite
from lab.workshop import Evidence, Workshop, WorkshopError, load_workshop

ROOT = Path(__file__).resolve().parents[1]
# These stay loaded; every other module of lab/ is read again from its file.
_KEPT = frozenset({
    "lab", "lab.__main__", "lab.cards", "lab.clock", "lab.coach", "lab.replay",
    "lab.strict_json", "lab.suite", "lab.workshop",
    "lab.report", "lab.report_command", "lab.report_style",
    "lab.holes", "lab.hole_probes", "lab.holes_command", "lab.quick_start",
})  # fmt: skip


class _Log(logging.Handler):
    """Keep what ``lab/`` logs while this is entered, and show it nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._logger = logging.getLogger("lab")

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"logged: {record.getMessage()}")

    def __enter__(self) -> None:
        self._logger.addHandler(self)
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(logging.NOTSET)
        self._logger.propagate = True


def block(workshop: str, block_id: str) -> Note | BlockClock:
    """Show a block's minutes, the outcome to reach, and in JupyterLab a clock."""
    try:
        found = load_workshop(ROOT, workshop)
        item = found.block(block_id)
    except WorkshopError as error:
        return Note(f"{error}")
    start = 0
    for other in found.blocks:
        if other.id == block_id:
            span = f"minutes {start} to {start + item.minutes}"
            heading = f"{item.title}: {item.minutes} minutes ({span})."
            return with_clock(Note(heading, f"Outcome: {item.outcome}"), item, workshop, ROOT)
        start += other.minutes
    note = Note(f"{item.title}: {item.minutes} minutes, outside the timing plan.", item.outcome)
    return with_clock(note, item, workshop, ROOT)


def check(workshop: str, block_id: str) -> Card:
    """Check what can be seen of a block's outcome; the grader runs the same checks and more."""
    try:
        found = load_workshop(ROOT, workshop)
        item = found.block(block_id)
    except WorkshopError as error:
        return Card("This check cannot run.", (Line(str(error), "fail"),))
    runs = _Runs(found, block_id)
    lines = tuple(
        line
        for evidence in found.evidence_of(block_id)
        if evidence.kind == "suite"
        for line in _lines(evidence, found, runs)
    )
    if not lines:
        return Card(f"{item.title}: nothing is checked here; grading looks at the files.", ())
    done = sum(line.outcome == "pass" for line in lines)
    hidden = sum(e.graded and e.kind != "suite" for e in found.evidence_of(block_id))
    heading = f"{item.title}: {done} of {len(lines)} checks pass."
    if done == len(lines) and hidden:
        more = "1 check that runs" if hidden == 1 else f"{hidden} checks that run"
        heading += f" Grading adds {more} only there."
    return Card(heading, lines)


def try_gate(workshop: str, fixture: str, predict: str, **named: str) -> Note:
    """Give one of your fixtures to your own gate, and compare its verdict with your prediction.

    ``predict`` is "accept" or "refuse". Further names give the gate another fixture as that
    argument, for example ``inventory="inventory.json"``.
    """
    if predict not in ("accept", "refuse"):
        return Note(f'Predict first: predict="accept" or predict="refuse". Found: {predict!r}.')
    try:
        found = load_workshop(ROOT, workshop)
        verdict, text = _decide(found, fixture, named)
    except (WorkshopError, NotStrictJson) as error:
        return Note(str(error))
    agrees = "as you predicted" if verdict == predict else f"and you predicted: {predict}"
    words = {"accept": "accepted", "refuse": "refused", "crash": "no verdict: your gate crashes"}
    aloud = " Read the reject string aloud:" if verdict == "refuse" else ""
    return Note(f"{fixture}: {words[verdict]}, {agrees}.{aloud}", cut(text, 1500))


def try_function(workshop: str, name: str, fixture: str) -> Note:
    """Call one function of ``lab/`` on one of your fixtures: its result, its log, or its error.

    ``name`` is the module and the function, for example ``plan_gate.validate_schema``.
    """
    module, _, function = f"lab.{name}".rpartition(".")
    log = _Log()
    try:
        plan = load_json(ROOT / "fixtures" / workshop / fixture)
        with log:
            value = getattr(fresh(module), function)(plan)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's code may raise anything
        return Note(
            f"{name} on {fixture} gives no result.", cut(f"{type(error).__name__}: {error}")
        )
    lines = [*log.lines, f"returned: {value!r}"]
    return Note(f"{name} on {fixture}:", cut("\n  ".join(lines), 1500))


def compare(workshop: str, left: str, right: str) -> Note:
    """Show the places in which two fixtures differ, as JSON Pointers (RFC 6901)."""
    folder = ROOT / "fixtures" / workshop
    try:
        places = differences(load_json(folder / left), load_json(folder / right))
    except NotStrictJson as error:
        return Note(str(error))
    number = len(places)
    values = "value" if number == 1 else "values"
    return Note(f"{left} and {right} differ in {number} {values}.", "\n  ".join(places[:20]))


def fresh(module: str) -> types.ModuleType:
    """Import a module of ``lab/`` as it stands in its file now."""
    forget()
    return importlib.import_module(module)


def forget() -> None:
    """Drop what was imported from ``lab/`` before, so that the next import reads the files."""
    importlib.invalidate_caches()
    # Two saves within one second can leave compiled code that looks up to date.
    sys.dont_write_bytecode = True
    package = sys.modules["lab"]
    for name in [n for n in sys.modules if n.startswith("lab.") and n not in _KEPT]:
        del sys.modules[name]
        package.__dict__.pop(name.removeprefix("lab."), None)


def _lines(evidence: Evidence, workshop: Workshop, runs: "_Runs") -> list[Line]:
    """Judge a suite test by test, so that each check has a line of its own."""
    for needed in evidence.needs:
        if not _block_passes(needed, workshop, runs):
            title = workshop.block(needed).title
            return [
                Line(
                    evidence.title,
                    "blocked",
                    f"It builds on “{title}”.",
                    "",
                    f"Finish “{title}” first.",
                )
            ]
    report = runs.report(evidence.options["file"])
    if "tests" not in evidence.options:
        return [_line(evidence, evidence.title, _verdict(evidence, report))]
    titles = {test.name: test.title for test in report.tests}
    return [
        _line(evidence, titles.get(name, name), judge(report, [name]))
        for name in evidence.options["tests"]
    ]


def _line(evidence: Evidence, title: str, verdict: SuiteVerdict) -> Line:
    if verdict.passed:
        return Line(title, "pass")
    expected = "" if verdict.expected == title else verdict.expected
    unreadable = any(sign in verdict.found for sign in ("is not JSON", "cannot be imported"))
    advice = "Mend the place that is named, save the file, and check again."
    return Line(title, "fail", verdict.found, expected, advice if unreadable else evidence.next)


def _block_passes(block_id: str, workshop: Workshop, runs: "_Runs") -> bool:
    suites = [e for e in workshop.evidence_of(block_id) if e.kind == "suite"]
    return all(_verdict(e, runs.report(e.options["file"])).passed for e in suites)


def _verdict(evidence: Evidence, report: SuiteReport) -> SuiteVerdict:
    """Judge the named tests of a suite, or all of a pair's own."""
    if "tests" in evidence.options:
        return judge(report, evidence.options["tests"])
    return judge_own(report, evidence.options["at_least"])


class _Runs:
    """The visible tests of one block and of what it builds on, each file of them run once."""

    def __init__(self, workshop: Workshop, block_id: str) -> None:
        self._evidence = _suites_up_to(block_id, workshop)
        self._reports: dict[str, SuiteReport] = {}

    def report(self, file: str) -> SuiteReport:
        """Run the tests of a file that count here, unless that was done."""
        if file not in self._reports:
            self._reports[file] = self._run(file)
        return self._reports[file]

    def _run(self, file: str) -> SuiteReport:
        forget()
        if not (ROOT / file).is_file():
            return SuiteReport(False, (), f"{file} is missing. Get it back: git checkout -- {file}")
        asked = [e.options.get("tests") for e in self._evidence if e.options["file"] == file]
        named = [name for names in asked if names for name in names]
        return run_suite(ROOT, file, named if all(asked) else ())


def _suites_up_to(block_id: str, workshop: Workshop) -> list[Evidence]:
    """List the suites of a block, and of the blocks that it needs."""
    own = [item for item in workshop.evidence_of(block_id) if item.kind == "suite"]
    needed = dict.fromkeys(block for item in own for block in item.needs)
    return own + [item for block in needed for item in _suites_up_to(block, workshop)]


def _decide(workshop: Workshop, fixture: str, named: dict[str, str]) -> tuple[str, str]:
    """Give a verdict in one word, and the text that goes with it."""
    folder = ROOT / "fixtures" / workshop.id
    gate = workshop.gate
    for name in (fixture, *named.values()):
        if not (folder / name).is_file():
            raise WorkshopError(f"No verdict: there is no file fixtures/{workshop.id}/{name}.")
    arguments = {name: load_json(folder / file) for name, file in named.items()}
    try:
        decision = load_and_decide(gate, fresh(gate.module), folder / fixture, arguments)
    except (Exception, SystemExit) as error:
        raise WorkshopError(
            f"{gate.file} cannot be used yet: {type(error).__name__}: {error}."
        ) from error
    if decision.verdict == "accept":
        return "accept", json.dumps(decision.seen, indent=2, ensure_ascii=False)
    return {"reject": "refuse"}.get(decision.verdict, "crash"), decision.text
