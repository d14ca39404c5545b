"""Evidence ``wrong_gates``: would the pair's tests notice a gate that is wrong in one known way?

The tests run in the sandbox; the gate under test runs here, and every call crosses over as JSON.
So the sandbox holds neither the reference nor a wrong gate. A failure counts as a catch only where
that test made a call to which the wrong gate and the reference give different answers.
"""

from instructor.evidence.bench import Bench, Finding
from instructor.evidence.gate_runs import run_on_all
from lab.workshop import Evidence


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Judge the tests on the reference, or on the wrong gates of one layer."""
    file = evidence.options["file"]
    if not (bench.snapshot / file).is_file():
        return Finding("fail", f"{file} is missing.", evidence.title)
    if file not in bench.tests:
        bench.tests[file] = run_on_all(bench, file)
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
