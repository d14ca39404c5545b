"""A pair's tests on gate after gate: on the reference, on right ones in other words, on wrong ones.

The first run is on the reference, in a process of its own, and every call in it is kept. A wrong
gate that would answer all of these calls alike cannot be caught, so it needs no run. The others run
in one pytest session, together with the right gates, in no fixed order: were the reference known by
its place, tests could fail on whatever differs from it.

Tests that do not run alike in such a session (they count their runs, or roll dice) get a process
for each gate.
"""

import functools
import random
import tempfile
import types
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from instructor.answer_key import build_gate, reference
from instructor.evidence.bench import Bench, TestsRun
from instructor.evidence.desk import Rows
from instructor.evidence.gate_server import GateServer, Side
from instructor.evidence.kept_calls import Script, asked_again, differing, same_calls
from instructor.evidence.suites import ending_of, read_report, run_rounds, run_suites
from instructor.sandbox.process import Message
from lab.suite import SuiteReport

# A test that decides otherwise when the reference runs another time decides nothing. It runs twice
# in the session: a test may leave something behind for the next round.
REFERENCE = "reference"
ANEW = ("reference again", "reference once more")


@dataclass
class _Runs:
    """What a file of tests said on each gate so far, by the gate's id."""

    bench: Bench
    file: str
    folder: Path
    said: Rows = field(default_factory=lambda: Rows({}))
    servers: dict[str, GateServer] = field(default_factory=dict)

    @functools.cached_property
    def gates(self) -> dict[str, types.ModuleType | None]:
        """Give every gate that there is; None is the reference."""
        answers, gate = self.bench.answers, self.bench.workshop.gate
        others: dict[str, types.ModuleType | None] = {
            g.id: build_gate(gate, g.source) for g in (*answers.wrong_gates, *answers.rewrites)
        }
        return {REFERENCE: None, **dict.fromkeys(ANEW), **others}

    def apart(self, names: Iterable[str]) -> None:
        """Run the tests on some gates, each run in a process of its own.

        What a test asks may change from run to run, so the reference is asked the same beside.
        """
        self.servers |= {name: GateServer(self.side(name), self._other(name)) for name in names}
        common = {"file": self.file, "remote": _remote(self.bench), "stop_at_failure": True}
        rows = [{"id": name, **common} for name in _shuffled(names)]
        self._note(run_suites(rows, self.bench, self._answer))

    def together(self, untils: dict[str, str], kept: dict[str, list[Message]]) -> None:
        """Run the tests on some gates in one session, up to the test that is named for each.

        ``kept`` holds what a gate has replied to the calls of the first run on the reference.
        """
        calls = self.servers[REFERENCE].calls
        for name in untils:
            self.servers[name] = GateServer(Script(calls, kept.get(name, ()), self.side(name)))
        rows: list[Message] = [{"id": name, "until": untils[name]} for name in _shuffled(untils)]
        self._note(run_rounds(self.file, _remote(self.bench), rows, self.bench, self._answer))

    def side(self, name: str) -> Side:
        """Give a gate that nobody has asked yet."""
        gate = self.bench.workshop.gate
        place = Path(tempfile.mkdtemp(dir=self.folder))
        module = self.gates[name] or reference(gate)
        return Side(gate, module, place, self.bench.allowance)

    def report(self, name: str) -> SuiteReport | None:
        """Give the complete report on one gate; None where the run did not come to its end."""
        return read_report(self.said, name)

    def trouble(self, name: str) -> str:
        """Say what does not pass on a gate that is right; "" when every test does."""
        report = self.report(name)
        if report is None:
            return f"Your tests did not reach their end: {ending_of(self.said, name)}."
        failing = [test for test in report.tests if test.outcome != "passed"]
        if failing:
            return f"{failing[0].name}: {failing[0].message or failing[0].outcome}"
        if report.trouble or not report.complete or not report.tests:
            return report.trouble or "There is no test in the file."
        return ""

    def _other(self, name: str) -> Side | None:
        return self.side(REFERENCE) if self.gates[name] else None

    def _answer(self, message: Message) -> Message:
        return self.servers[message["row"]].answer(message)

    def _note(self, rows: Rows) -> None:
        self.said = Rows({**self.said.answers, **rows.answers}, rows.trouble)


def run_on_all(bench: Bench, file: str) -> TestsRun:
    """Run a file of tests on every gate that could tell something about it."""
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        runs = _Runs(bench, file, Path(folder))
        runs.apart([REFERENCE])
        if runs.trouble(REFERENCE):
            runs.apart(ANEW)
            trouble = _unstable(runs) or runs.trouble(REFERENCE)
            return TestsRun(bench.shown(trouble), frozenset())
        caught = _caught_together(runs)
        return TestsRun(bench.shown(_trouble_of_all(runs)), frozenset(caught))


def _caught_together(runs: _Runs) -> set[str]:
    """Name the wrong gates that the tests catch, in one session where that can be trusted."""
    wrong = [gate.id for gate in runs.bench.answers.wrong_gates]
    right = [*ANEW, *(gate.id for gate in runs.bench.answers.rewrites)]
    tests, calls = runs.report(REFERENCE), runs.servers[REFERENCE].calls
    order = [test.name for test in tests.tests] if tests else []
    kept = {name: asked_again(calls, runs.side(name)) for name in wrong}
    differs = {name: found for name in wrong if (found := differing(calls, kept[name]))}
    untils = {name: _last_of(order, found) for name, found in differs.items()}
    same = [call.reply for call in calls]
    runs.together(
        {**dict.fromkeys(right, order[-1]), **untils}, {**kept, **dict.fromkeys(ANEW, same)}
    )
    if any(map(runs.trouble, right)) or not _alike(runs):
        runs.apart([REFERENCE, *right, *wrong])
        differs = {name: runs.servers[name].differing for name in wrong}
    return {name for name, found in differs.items() if _is_caught(runs.report(name), found)}


def _remote(bench: Bench) -> Message:
    """Say what a stand-in needs to know of the gate's contract."""
    gate = bench.workshop.gate
    remote: Message = {name: getattr(gate, name) for name in ("module", "error", "load")}
    remote |= {"functions": list(gate.functions)}
    return remote | {"classes": {name: asdict(parts) for name, parts in gate.classes.items()}}


def _last_of(order: list[str], tests: set[str]) -> str:
    """Name the last test that could fail; a call of a fixture concerns every test.

    Whatever ran before it runs again, so that a run on a wrong gate looks like any other.
    """
    return max(tests, key=order.index) if tests <= set(order) else order[-1]


def _alike(runs: _Runs) -> bool:
    """Tell whether the reference was asked the same in all of its runs."""
    first = runs.servers[REFERENCE].calls
    return all(same_calls(first, runs.servers[name].calls) for name in ANEW)


def _trouble_of_all(runs: _Runs) -> str:
    """Say what is wrong with the tests on a gate that is right, the most telling first."""
    trouble = _unstable(runs)
    for name in (REFERENCE, *ANEW):
        trouble = trouble or runs.trouble(name)
    for rewrite in runs.bench.answers.rewrites:
        found = "" if trouble else runs.trouble(rewrite.id)
        trouble = trouble or (found and f"On a gate that {rewrite.slip}: {found}")
    return trouble


def _unstable(runs: _Runs) -> str:
    """Name a test that passes on the reference in one run and not in another; "" without one."""
    said: dict[str, set[str]] = {}
    for report in filter(None, map(runs.report, (REFERENCE, *ANEW))):
        for test in report.tests:
            said.setdefault(test.name, set()).add(test.outcome)
    for name, outcomes in said.items():
        if len(outcomes) > 1:
            both = " and then ".join(sorted(outcomes, reverse=True))
            return f"{name} is unstable: on the same correct gate it is {both}."
    return ""


def _is_caught(report: SuiteReport | None, differs: set[str]) -> bool:
    """Tell whether a test failed that made a differing call, itself or through a fixture."""
    if report is None or not differs:
        return False
    shared = "" in differs
    failed = [test.name for test in report.tests if test.outcome == "failed"]
    return any(shared or test in differs for test in failed) or (shared and bool(report.trouble))


def _shuffled(names: Iterable[str]) -> list[str]:
    shuffled = list(names)
    random.SystemRandom().shuffle(shuffled)
    return shuffled
