"""The three tests that the published lab has, as a pair would hand them in."""

from pathlib import Path

import pytest

from lab.plan_gate import PlanRejected, gate_plan, load_plan

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "plan_gate"


def test_the_sourced_plan_is_accepted_for_a_dry_run() -> None:
    verdict = gate_plan(load_plan(FIXTURES / "valid_plan.json"))

    assert verdict["status"] == "dry_run_accepted"
    assert verdict["tools"] == ["create_support_credit"]


def test_an_invented_account_id_is_rejected_and_named() -> None:
    with pytest.raises(PlanRejected, match="account_id"):
        gate_plan(load_plan(FIXTURES / "assumed_plan.json"))


def test_the_live_flag_is_rejected_even_when_all_facts_match() -> None:
    with pytest.raises(PlanRejected, match="live execution"):
        gate_plan({**load_plan(FIXTURES / "valid_plan.json"), "dry_run": False})
