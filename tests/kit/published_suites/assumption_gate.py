"""The two tests that the published lab has, as a pair would hand them in."""

from pathlib import Path

import pytest

from lab.assumption_gate import AssumptionGateError, assert_tool_args_sourced, load_ledger

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "assumption_gate"


def test_the_assumed_assignee_is_refused_and_named() -> None:
    with pytest.raises(AssumptionGateError, match="assignee_email"):
        assert_tool_args_sourced(load_ledger(FIXTURES / "ticket_update_assumed_assignee.json"))


def test_a_derived_bucket_that_names_its_inputs_is_allowed() -> None:
    assert_tool_args_sourced(load_ledger(FIXTURES / "sla_bucket_derived.json"))
