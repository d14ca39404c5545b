"""Wrong gates and published tests handed in as submissions, judged through the sandbox.

The lint decides the cases with every wrong gate in its own process; here a few show that grading
says the same.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from instructor.answer_key import load_answer_key
from instructor.classroom import load_workshops
from lab.workshop import Workshop
from tests.kit.command import COURSE
from tests.kit.instructor.benches import bench_with, findings

SUITES = COURSE / "tests" / "kit" / "published_suites"

HANDED_IN = {
    "plan_gate": ("accepts-everything", "crashes"),
    "result_gate": ("stores-nothing", "range-not-looked-at"),
    "assumption_gate": ("first-argument-only", "derived-refused"),
    "plan_record": ("protected-tables-pass",),
}
ROWS = [(workshop, gate) for workshop, gates in HANDED_IN.items() for gate in gates]

# The layer to look at, and what the published tests do not notice of it. Those of plan_gate are all
# that its block asks for, so they catch its core: what they miss lies beyond.
MISSED: dict[str, tuple[str, set[str]]] = {
    "plan_gate": (
        "stretch",
        {
            "compares-text", "truth-is-one", "first-step-only", "unsourced-arguments-pass",
            "missing-references-pass", "unused-facts-pass", "inventory-ignored",
            "last-fact-wins", "amounts-round-up", "schema-skipped",
        },
    ),
    "result_gate": (
        "core",
        {
            "fills-in-a-default", "enum-not-looked-at", "extras-unnamed",
            "crashes-on-a-missing-field", "stores-nothing",
        },
    ),
    "assumption_gate": (
        "core",
        {
            "retrieved-needs-no-pointer", "missing-pointer-unexplained", "open-questions-refused",
            "reads-bound-by-required-for",
        },
    ),
    "plan_record": (
        "core",
        {
            "mild-labels-pass", "missing-targets-pass", "crashes-without-targets",
            "stores-before-checking", "revisions-unchecked", "no-ceiling",
        },
    ),
}  # fmt: skip


def graded_cases(workshop: Workshop) -> Workshop:
    """Keep to the graded cases for the gate: nothing else is asked of a wrong gate."""
    rules = load_answer_key(workshop).rules
    rows = [item for item in workshop.evidence if item.kind == "cases" and item.graded]
    kept = tuple(item for item in rows if rules[item.options["rule"]].subject == "gate")
    return replace(workshop, evidence=kept)


@pytest.mark.parametrize(("name", "gate"), ROWS)
def test_a_wrong_gate_that_is_handed_in_loses_what_names_its_slip(
    name: str, gate: str, tmp_path: Path
) -> None:
    (workshop,) = load_workshops((name,))
    wrong = next(w for w in load_answer_key(workshop).wrong_gates if w.id == gate)
    bench = bench_with(workshop, tmp_path, {workshop.gate.file: wrong.source})
    bench.workshop = graded_cases(workshop)

    said = findings(bench, "cases")

    lost = {evidence for evidence, finding in said.items() if finding.outcome != "pass"}
    assert lost == set(wrong.loses)
    assert {finding.outcome for finding in said.values()} <= {"pass", "fail"}


@pytest.mark.parametrize("name", MISSED)
def test_the_published_tests_alone_miss_slips_and_each_is_named(name: str, tmp_path: Path) -> None:
    """They pass on every right gate; our own tests catch all of what they miss."""
    layer, missed = MISSED[name]
    (workshop,) = load_workshops((name,))
    file = f"tests/test_{name}.py"
    suite = (SUITES / f"{name}.py").read_text(encoding="utf-8")
    bench = bench_with(workshop, tmp_path, {file: suite})
    gates = tuple(gate for gate in bench.answers.wrong_gates if gate.layer == layer)
    bench.answers = replace(bench.answers, wrong_gates=gates)
    evidence = {
        item.options["layer"]: item.id for item in workshop.evidence if item.kind == "wrong_gates"
    }

    said = findings(bench, "wrong_gates")

    assert said[evidence["reference"]].outcome == "pass", said[evidence["reference"]].found
    assert {gate.id for gate in gates} - bench.tests[file].caught == missed
    assert said[evidence[layer]].outcome == "fail"
    assert {gate.id for gate in gates if gate.slip in said[evidence[layer]].found} == missed
