"""Evidence ``wrong_gates``: would the pair's tests notice a gate that is wrong in one known way?

The tests run in the sandbox; the gate under test runs here, and every call crosses over as JSON.
So the sandbox holds neither the reference nor a wrong gate. A failure counts as a catch only where
that test made a call to which the wrong gate and the reference give different answers.
"""

import random
import tempfile
from dataclasses import asdict
from pathlib import Path

from instructor.answer_key import build_gate
from instructor.evidence.bench import Bench, Finding, TestsRun
from instructor.evidence.desk import Rows
from instructor.evidence.gate_server import GateServer, serve
from instructor.evidence.suites import ending_of, read_report, run_suites
from instructor.sandbox.process import Message
from lab.suite import SuiteReport
from lab.workshop import Evidence

# The reference runs twice: a test that decides otherwise the second time decides nothing.
REFERENCE, AGAIN = "reference", "reference again"


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Judge the tests on the reference, or on the wrong gates of one layer."""
    file = evidence.options["file"]
    if not (bench.snapshot / file).is_file():
        return Finding("fail", f"{file} is missing.", evidence.title)
    if file not in bench.tests:
        bench.tests[file] = _run_on_all(bench, file)
    trouble = bench.tests[file].trouble
    layer = evidence.options["layer"]
    if layer == "reference":
        found = trouble or "Your tests pass on a correct gate."
        return Finding("fail" if trouble else "pass", found, evidence.title)
    if trouble:
        return Finding("blocked", f"Your tests do not pass on a correct gate yet. {trouble}")
    gates = [gate for gate in bench.answers.wrong_gates if gate.layer == layer]
    caught = bench.tests[file].caught
    missed = [gate.slip for gate in gates if gate.id not in caught]
    if missed:
        more = "" if len(missed) == 1 else f" Nor one that {'; nor one that '.join(missed[1:])}."
        found = f"Your tests would not notice a gate that {missed[0]}.{more}"
        return Finding("fail", found, evidence.title)
    return Finding("pass", f"Your tests catch {len(gates)} of {len(gates)} wrong gates.")


def _run_on_all(bench: Bench, file: str) -> TestsRun:
    """Run the tests on the reference and on every wrong gate, in one child and in no fixed order.

    Were the reference run first or alone, tests could know it by that.
    """
    gate = bench.workshop.gate
    answers = bench.answers
    gates = (*answers.wrong_gates, *answers.rewrites)
    subjects = {other.id: build_gate(gate, other.source) for other in gates}
    names = [REFERENCE, AGAIN, *subjects]
    remote = {name: getattr(gate, name) for name in ("module", "error", "load")}
    remote |= {"functions": list(gate.functions)}
    remote |= {"classes": {name: asdict(parts) for name, parts in gate.classes.items()}}
    rows: list[Message] = [
        {"id": name, "file": file, "remote": remote, "stop_at_failure": True} for name in names
    ]
    random.SystemRandom().shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        servers = {name: serve(gate, subjects.get(name), Path(folder) / name) for name in names}
        ran = run_suites(rows, bench, lambda message: servers[message["row"]].answer(message))
    # The same tests pass on the reference, so the first failure on a wrong gate is a catch.
    wrong = [gate.id for gate in answers.wrong_gates]
    caught = {name for name in wrong if _is_caught(read_report(ran, name), servers[name])}
    trouble = _unstable(ran) or _trouble(ran, REFERENCE) or _trouble(ran, AGAIN)
    for rewrite in answers.rewrites:
        found = "" if trouble else _trouble(ran, rewrite.id)
        trouble = trouble or (found and f"On a gate that {rewrite.slip}: {found}")
    return TestsRun(bench.shown(trouble), frozenset(caught))


def _trouble(rows: Rows, name: str) -> str:
    """Say what does not pass on a gate that is right; "" when every test does."""
    report = read_report(rows, name)
    if report is None:
        return f"Your tests did not reach their end: {ending_of(rows, name)}."
    failing = [test for test in report.tests if test.outcome != "passed"]
    if failing:
        return f"{failing[0].name}: {failing[0].message or failing[0].outcome}"
    if report.trouble or not report.complete or not report.tests:
        return report.trouble or "There is no test in the file."
    return ""


def _unstable(rows: Rows) -> str:
    """Name a test that passes on the reference in one run and not in the other; "" without one."""
    first, second = (read_report(rows, name) for name in (REFERENCE, AGAIN))
    if first is None or second is None:
        return ""
    outcomes = {test.name: test.outcome for test in first.tests}
    for test in second.tests:
        said = {outcomes.get(test.name, test.outcome), test.outcome}
        if len(said) > 1:
            return (
                f"{test.name} is unstable: on the same correct gate it is "
                f"{' and then '.join(sorted(said, reverse=True))}."
            )
    return ""


def _is_caught(report: SuiteReport | None, server: GateServer) -> bool:
    """Tell whether a test failed that made a differing call, itself or through a fixture."""
    if report is None or not server.differing:
        return False
    shared = "" in server.differing
    failed = [test.name for test in report.tests if test.outcome == "failed"]
    return any(shared or name in server.differing for name in failed) or (
        shared and bool(report.trouble)
    )
