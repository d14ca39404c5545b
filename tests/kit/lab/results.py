"""Results and contracts that the tests of the result gate start from, and what the gate says."""

import json
from typing import Any

from lab import result_gate
from lab.result_gate import ResultGateError, validate_tool_result
from lab.result_replay import replay
from tests.kit.command import COURSE

FIXTURES = COURSE / "fixtures" / "result_gate"
LOOKUP = "inventory.lookup"
SLOT = "calendar.find_slot"


def read(name: str) -> Any:
    """Read a fixture with the plain reader, so that the strict one is not taken for granted."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def payload(**changes: Any) -> dict[str, Any]:
    """Give the contract's payload, with some keys changed or added."""
    return {"sku": "SKU-19", "quantity": 4, "warehouse": "sfo", **changes}


def payload_without(*names: str) -> dict[str, Any]:
    """Give the contract's payload, with some keys taken out."""
    return {key: value for key, value in payload().items() if key not in names}


def contracts() -> dict[str, Any]:
    """Read the course's contracts anew."""
    text = (COURSE / "lab" / "tool_contracts.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def two_contracts() -> dict[str, Any]:
    """Read the course's contracts with that of a second tool beside it."""
    found: dict[str, Any] = read("two_contracts.json")
    return found


def contract_of(*optional: str, **rules: Any) -> dict[str, Any]:
    """Make contracts with one tool, ``probe.read``, that returns these fields."""
    required = [name for name in rules if name not in optional]
    fields = {"required": required, "properties": rules, "additional_properties": False}
    return {"probe.read": fields}


def order_contract() -> dict[str, Any]:
    """Make a contract with every type of rule, nested."""
    line = contract_of(
        item={"type": "string", "min": 1, "max": 20}, count={"type": "integer", "min": 1, "max": 9}
    )["probe.read"]
    return contract_of(
        "tags",
        lines={"type": "array", "min": 1, "max": 3, "items": {"type": "object", **line}},
        total={"type": "number", "min": 0, "max": 1000},
        paid={"type": "boolean"},
        state={"type": "enum", "values": ["open", "sent"]},
        tags={"type": "array", "max": 4},
    )


def order(**changes: Any) -> dict[str, Any]:
    """Give a result that the nested contract allows, with some keys changed or added."""
    lines = [{"item": "tea", "count": 2}, {"item": "cup", "count": 1}]
    return {"lines": lines, "total": 7.5, "paid": True, "state": "open", **changes}


def problems_of(tool: Any, result: Any, *more: Any) -> tuple[str, ...]:
    """Give the problems of a refusal, () where the result is accepted."""
    try:
        validate_tool_result(tool, result, *more)
    except ResultGateError as error:
        return error.problems
    return ()


def replayed(document: Any, *more: Any) -> tuple[str, Any]:
    """Give the verdict of a replay, with its value or its text."""
    try:
        return "accept", replay(result_gate, document, *more)
    except ResultGateError as error:
        return "reject", str(error)
