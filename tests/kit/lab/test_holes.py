"""Inputs on which a teaching gate decides wrongly: the reference decides each of them rightly.

``holes/<workshop>.json`` has one object for each input. ``text`` is the file as it stands, because
some are no strict JSON on purpose; ``inventory`` says whether the gate gets the course's inventory,
``evidence`` what the harness saw.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from lab.plan_gate import PlanRejected, gate_plan, load_plan
from tests.kit.lab.hole_table import hole_table, identifier
from tests.kit.lab.plans import inventory

TABLE = hole_table("plan_gate")
REFUSED = TABLE.refused()
ACCEPTED = TABLE.accepted()

# What at least one problem must say: a refusal for another reason would hide the hole.
REASONS = {
    "self-vouching": "stands in no user message|may not come from",
    "required-arg": "is missing required arg",
    "allow-list": "is not in the inventory",
    "source-policy": "may not come from",
    "shadowing": "stands twice|disagree on",
    "equality": "does not match sourced|would be rounded",
    "non-json-number": "is not a JSON number|is too large for a number",
    "parser-differential": "stands twice in one object",
    "blank": "is blank|shows fewer than 8 characters",
    "unicode": "is not plain ASCII|only look Latin|does not show",
    "pattern": "is not plain ASCII|does not match '",
    "uniqueness": "step id step_1 stands twice",
    "nested": "does not match sourced",
    "typing": "must be ",
}
WITHOUT_ONE_REASON = {"control", "crash", "error-shape"}


def decide(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    path = folder / "plan.json"
    path.write_bytes(case["text"].encode())
    tools = inventory() if case["inventory"] else None
    return gate_plan(load_plan(path), tools, case.get("evidence"))


def refusal(case: dict[str, Any], folder: Path) -> PlanRejected:
    with pytest.raises(PlanRejected) as caught:
        decide(case, folder)
    return caught.value


@pytest.mark.parametrize("case", REFUSED, ids=identifier)
def test_an_input_with_a_hole_is_refused(case: dict[str, Any], tmp_path: Path) -> None:
    error = refusal(case, tmp_path)

    assert error.problems
    assert all(isinstance(problem, str) and problem for problem in error.problems)
    assert str(error) == "; ".join(error.problems)


@pytest.mark.parametrize("case", TABLE.refused(*REASONS), ids=identifier)
def test_an_input_is_refused_for_the_reason_of_its_kind(
    case: dict[str, Any], tmp_path: Path
) -> None:
    problems = refusal(case, tmp_path).problems

    assert any(re.search(REASONS[case["kind"]], problem) for problem in problems), problems


@pytest.mark.parametrize("case", TABLE.refused("error-shape"), ids=identifier)
def test_several_problems_come_back_apart_and_each_with_its_place(
    case: dict[str, Any], tmp_path: Path
) -> None:
    problems = refusal(case, tmp_path).problems

    assert len(problems) >= 2
    assert all(re.match(r"step_\d+ |\['(facts|steps)', \d+, ", problem) for problem in problems)


@pytest.mark.parametrize("case", ACCEPTED, ids=identifier)
def test_a_sourced_input_is_accepted(case: dict[str, Any], tmp_path: Path) -> None:
    assert decide(case, tmp_path)["status"] == "dry_run_accepted"


# The table


def test_no_two_cases_have_one_id() -> None:
    assert TABLE.repeated_ids() == []


def test_every_case_is_complete() -> None:
    needed = {"id", "kind", "verdict", "inventory", "text"}

    assert TABLE.incomplete(needed, {"evidence"}) == []
    assert TABLE.verdicts() == {"accept", "reject"}


def test_every_kind_has_a_reason_and_more_than_one_input() -> None:
    assert TABLE.kinds() == REASONS.keys() | WITHOUT_ONE_REASON
    assert TABLE.kinds_with_fewer_than(2) == []
