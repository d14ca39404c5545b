"""Inputs on which a teaching gate decides wrongly: the reference decides each of them rightly.

``holes/plan_record.json`` has one object for each input. ``tools`` are those that are offered; the
rest of the policy is the course's own.
"""

import re
from typing import Any

import pytest

import lab.plan_record
from lab.plan_record import PlanRecordError
from lab.record_replay import replay
from tests.kit.lab.hole_table import hole_table, identifier
from tests.kit.lab.records import policy

TABLE = hole_table("plan_record")
REFUSED = TABLE.refused()
ACCEPTED = TABLE.accepted()

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
    assert TABLE.repeated_ids() == []


def test_every_case_is_complete_and_every_kind_has_more_than_one() -> None:
    needed = {"id", "kind", "verdict", "tools", "plan"}

    assert TABLE.incomplete(needed) == []
    assert TABLE.verdicts() == {"accept", "reject"}
    assert TABLE.kinds() == REASONS.keys()
    assert TABLE.kinds_with_fewer_than(2) == []
