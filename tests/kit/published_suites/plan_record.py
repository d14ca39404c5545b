"""No tests were published with this lab: these ask for the three checks that its text shows.

An impossible step, an unsafe one and a mislabelled one are found, and a clean plan goes through.
"""

from pathlib import Path

from lab.plan_record import check, load_plan

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "plan_record"


def said(name: str) -> str:
    return "; ".join(check(load_plan(FIXTURES / name), load_plan(FIXTURES / "policy.json")))


def test_a_clean_plan_has_no_problems() -> None:
    assert said("march_plan.json") == ""


def test_an_impossible_step_is_found() -> None:
    assert "step 3: no such tool 'notify_customer'" in said("impossible_tool_plan.json")


def test_a_write_to_a_protected_table_is_found() -> None:
    assert "step 2: writes to protected target ledger.charges" in said("incident_plan.json")


def test_a_destructive_step_declared_as_read_is_found() -> None:
    assert "step 2: warehouse.truncate declared as read" in said("mislabelled_effect_plan.json")
