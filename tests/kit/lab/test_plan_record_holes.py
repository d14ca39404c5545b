"""Inputs on which a teaching gate decides wrongly: the reference decides each of them rightly.

``holes/plan_record.json`` has one object for each input. ``tools`` are those that are offered; the
rest of the policy is the course's own.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import lab.plan_record
from lab.plan_record import PlanRecordError
from lab.record_replay import replay
from tests.kit.lab.records import policy

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("holes").joinpath("plan_record.json").read_text(encoding="utf-8")
)
REFUSED = [case for case in CASES if case["verdict"] == "reject"]
ACCEPTED = [case for case in CASES if case["verdict"] == "accept"]

# What at least one problem must say: a refusal for another reason would hide the hole.
REASONS = {
    "targets": "names no targets|which targets leave out|'target' was unexpected",
    "canonical-name": "writes to protected target",
    "ambiguity": "cannot be read as one resource",
    "bounds": "outside the working directory|bound of 20|cap of 500|takes no argument",
    "effect": "declared as",
    "dependency": "which no earlier step produces|which names no artifact",
    "vacuous": "should be non-empty|is blank",
    "uniqueness": "is used twice|whole number",
    "contract": "^policy ",
    "control": "protected target ledger.entries|no such tool 'call_customer'",
}


def decide(case: dict[str, Any]) -> Any:
    return replay(lab.plan_record, case["plan"], policy(available_tools=case["tools"]))


def identifier(case: dict[str, Any]) -> str:
    return f"{case['kind']}: {case['id']}"


@pytest.mark.parametrize("case", REFUSED, ids=identifier)
def test_an_input_with_a_hole_is_refused_for_the_reason_of_its_kind(case: dict[str, Any]) -> None:
    with pytest.raises(PlanRecordError) as caught:
        decide(case)

    problems = caught.value.problems
    assert any(re.search(REASONS[case["kind"]], problem) for problem in problems), problems


@pytest.mark.parametrize("case", ACCEPTED, ids=identifier)
def test_a_control_is_accepted(case: dict[str, Any]) -> None:
    assert decide(case) == []


# The table


def test_no_two_cases_have_one_id() -> None:
    assert [name for name, n in Counter(case["id"] for case in CASES).items() if n > 1] == []


def test_every_case_is_complete_and_every_kind_has_more_than_one() -> None:
    kinds = Counter(case["kind"] for case in CASES)

    assert [c["id"] for c in CASES if {"id", "kind", "verdict", "tools", "plan"} ^ c.keys()] == []
    assert kinds.keys() == REASONS.keys()
    assert [kind for kind, number in kinds.items() if number < 2] == []
