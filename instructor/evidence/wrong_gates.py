"""Evidence ``wrong_gates``: would the pair's tests notice a gate that is wrong in one known way?

The tests run in the sandbox; the gate under test runs here, and every call crosses over as JSON.
So the sandbox holds neither the reference nor a wrong gate. A failure counts as a catch only where
that test made a call to which the wrong gate and the reference give different answers.
"""

import base64
import json
import random
import tempfile
import types
from pathlib import Path
from typing import Any

from instructor.answer_key import build_gate, reference
from instructor.evidence.bench import Bench, Finding, TestsRun
from instructor.evidence.desk import Rows
from instructor.evidence.suites import ending_of, read_report, run_suites
from instructor.sandbox.process import Message
from lab.suite import SuiteReport
from lab.workshop import Evidence, Gate

REFERENCE = "reference"


class GateServer:
    """Answer the calls of a suite with one gate, and note where another would differ."""

    def __init__(self, gate: Gate, subject: types.ModuleType, other: types.ModuleType) -> None:
        """Serve ``subject``; ``other`` is the reference to compare with."""
        self._gate = gate
        self._subject = subject
        self._other = other
        self.differing: set[str] = set()

    def answer(self, message: Message) -> Message:
        """Make the call on both gates; give the subject's answer."""
        reply = self._call(self._subject, message)
        if self._subject is not self._other and reply != self._call(self._other, message):
            self.differing.add(str(message.get("test")))
        return reply

    def _call(self, module: types.ModuleType, message: Message) -> Message:
        name = message["call"]
        if name not in self._gate.functions or not isinstance(message.get("arguments"), list):
            return {"crash": "AttributeError", "text": f"{name} is not part of the contract"}
        try:
            with tempfile.TemporaryDirectory() as folder:
                arguments = _copied(message["arguments"])
                if name == self._gate.load and arguments:
                    arguments[0] = _file(arguments[0], Path(folder))
                value = getattr(module, name)(*arguments, **_copied(message["named"]))
            return {"value": json.loads(json.dumps(value))}
        except getattr(module, self._gate.error) as error:
            return {"refused": list(error.problems), "text": str(error)}
        except Exception as error:  # noqa: BLE001  a wrong gate may be wrong by crashing
            return {"crash": type(error).__name__, "text": str(error)}


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
    right = reference(gate)
    subjects = {wrong.id: build_gate(gate, wrong.source) for wrong in bench.answers.wrong_gates}
    servers = {name: GateServer(gate, subject, right) for name, subject in subjects.items()}
    servers[REFERENCE] = GateServer(gate, right, right)
    remote = {
        "module": gate.module,
        "functions": list(gate.functions),
        "error": gate.error,
        "load": gate.load,
    }
    rows: list[Message] = [{"id": name, "file": file, "remote": remote} for name in servers]
    random.SystemRandom().shuffle(rows)
    ran = run_suites(rows, bench, lambda message: servers[message["row"]].answer(message))
    caught = {name for name in subjects if _is_caught(read_report(ran, name), servers[name])}
    return TestsRun(bench.shown(_trouble(ran)), frozenset(caught))


def _trouble(rows: Rows) -> str:
    """Say what does not pass on the reference; "" when every test does."""
    report = read_report(rows, REFERENCE)
    if report is None:
        return f"Your tests did not reach their end: {ending_of(rows, REFERENCE)}."
    failing = [test for test in report.tests if test.outcome != "passed"]
    if failing:
        return f"{failing[0].name}: {failing[0].message or failing[0].outcome}"
    if report.trouble or not report.complete or not report.tests:
        return report.trouble or "There is no test in the file."
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


def _copied(value: Any) -> Any:
    """Give each gate arguments of its own, so that one cannot change what the other sees."""
    return json.loads(json.dumps(value))


def _file(sent: Message, folder: Path) -> str:
    path = folder / Path(str(sent["name"])).name
    if sent["data"] is not None:
        path.write_bytes(base64.b64decode(sent["data"]))
    return str(path)
