"""The five tests that the published lab has, as a pair would hand them in."""

from typing import Any

import pytest

from lab.result_gate import AgentMemory, ResultGateError

PAYLOAD: dict[str, Any] = {"sku": "SKU-19", "quantity": 4, "warehouse": "sfo"}


def refused(tool: str, **changes: Any) -> None:
    memory = AgentMemory()
    with pytest.raises(ResultGateError):
        memory.append_tool_result(tool, {**PAYLOAD, **changes})
    assert memory.events == []


def test_the_contract_payload_is_accepted_unchanged() -> None:
    assert AgentMemory().append_tool_result("inventory.lookup", PAYLOAD) == PAYLOAD


def test_an_extra_reorder_hint_is_refused() -> None:
    refused("inventory.lookup", reorder_hint="buy-now")


def test_a_quantity_in_quotes_is_refused() -> None:
    refused("inventory.lookup", quantity="4")


def test_a_discount_code_never_reaches_memory() -> None:
    refused("inventory.lookup", discount_code="STAFF")


def test_a_tool_that_nobody_listed_is_refused() -> None:
    refused("inventory.delete_all")
