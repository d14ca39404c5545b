"""Your tests of the plan gate. A gate that is wrong in any of the three ways must turn one red.

Run them with ``python -m pytest tests/test_plan_gate.py``.
"""

from pathlib import Path

import pytest

from lab.plan_gate import PlanRejected, gate_plan, load_plan

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "plan_gate"


def test_the_sourced_plan_is_accepted_for_a_dry_run() -> None:
    """valid_plan.json: compare status and tools of the verdict."""
    ### BEGIN SOLUTION
    verdict = gate_plan(load_plan(FIXTURES / "valid_plan.json"))

    assert verdict["status"] == "dry_run_accepted"
    assert verdict["tools"] == ["create_support_credit"]
    assert verdict["fact_ids"] == ["fact_account", "fact_key", "fact_amount"]
    ### STUB
    # pytest.fail("not written yet: gate valid_plan.json and assert its status and its tools")
    ### END SOLUTION


def test_an_invented_account_id_is_rejected_and_named() -> None:
    """assumed_plan.json: ask for PlanRejected, and for the name of the argument in its text."""
    ### BEGIN SOLUTION
    with pytest.raises(PlanRejected, match=r"step_1 arg account_id='acct_0000'"):
        gate_plan(load_plan(FIXTURES / "assumed_plan.json"))
    ### STUB
    # pytest.fail("not written yet: gate assumed_plan.json and expect a refusal that names what?")
    ### END SOLUTION


def test_the_live_flag_is_rejected_even_when_all_facts_match() -> None:
    """live_plan.json: ask for PlanRejected, and for the words that say why."""
    ### BEGIN SOLUTION
    with pytest.raises(PlanRejected, match="live execution"):
        gate_plan(load_plan(FIXTURES / "live_plan.json"))
    ### STUB
    # pytest.fail("not written yet: gate live_plan.json and expect a refusal that says what?")
    ### END SOLUTION


### BEGIN SOLUTION
def credit(**changes: object) -> dict[str, object]:
    """Load the sourced plan with some of its step's arguments changed."""
    plan = load_plan(FIXTURES / "valid_plan.json")
    plan["steps"][0]["args"].update(changes)
    return plan


def test_a_plausible_amount_that_differs_from_its_fact_is_rejected() -> None:
    with pytest.raises(PlanRejected, match="step_1 arg amount_usd=20 does not match sourced 15"):
        gate_plan(credit(amount_usd=20))


@pytest.mark.parametrize("amount", ["15", True, 15.0])
def test_an_amount_of_another_type_is_rejected(amount: object) -> None:
    with pytest.raises(PlanRejected, match="step_1 arg amount_usd"):
        gate_plan(credit(amount_usd=amount))


def test_a_boolean_fact_does_not_source_a_number() -> None:
    plan = credit(amount_usd=1)
    plan["facts"][2]["value"] = True  # type: ignore[index]

    with pytest.raises(PlanRejected, match="step_1 arg amount_usd=1 does not match sourced True"):
        gate_plan(plan)


def test_an_argument_without_a_fact_is_rejected() -> None:
    with pytest.raises(PlanRejected, match="step_1 arg memo has no sourced fact"):
        gate_plan(credit(memo="sorry"))


def test_an_invented_value_in_the_second_step_is_rejected() -> None:
    plan = load_plan(FIXTURES / "notify_plan.json")
    plan["steps"][1]["args"]["account_id"] = "acct_0000"

    with pytest.raises(PlanRejected, match="step_2 arg account_id"):
        gate_plan(plan)


def test_a_reference_to_no_fact_is_rejected() -> None:
    plan = credit()
    plan["steps"][0]["fact_refs"].append("fact_memo")  # type: ignore[index]

    with pytest.raises(PlanRejected, match="step_1 references missing fact fact_memo"):
        gate_plan(plan)


def test_a_fact_that_no_argument_uses_is_rejected() -> None:
    plan = credit()
    del plan["steps"][0]["args"]["amount_usd"]  # type: ignore[index]

    with pytest.raises(PlanRejected, match=r"step_1 fact keys unused in args: \['amount_usd'\]"):
        gate_plan(plan)


def test_a_missing_required_argument_is_rejected_with_the_inventory() -> None:
    inventory = load_plan(FIXTURES / "inventory.json")
    plan = load_plan(FIXTURES / "notify_without_email_plan.json")

    with pytest.raises(PlanRejected, match="step_2 is missing required arg email"):
        gate_plan(plan, inventory)


def test_two_facts_with_one_id_are_rejected() -> None:
    plan = credit()
    plan["facts"].append(dict(plan["facts"][0]))  # type: ignore[index, attr-defined]

    with pytest.raises(PlanRejected, match="fact_account stands twice"):
        gate_plan(plan)


@pytest.mark.parametrize("field", ["goal", "facts", "steps", "dry_run"])
def test_a_plan_without_a_field_is_a_schema_rejection(field: str) -> None:
    plan = credit()
    del plan[field]

    with pytest.raises(PlanRejected, match=rf"\[\]: '{field}' is a required property"):
        gate_plan(plan)


### STUB
# # More tests of your own, if you like.
### END SOLUTION
