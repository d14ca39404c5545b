"""Whatever the gate is given, it ends in a stored result or in its own refusal."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.result_contracts import contract_problems
from lab.result_gate import AgentMemory, ResultGateError, load_result
from lab.strict_json import same_json
from tests.kit.lab.anything import MORE_STEADY, STEADY, Anything, huge, placed, strange
from tests.kit.lab.results import (
    LOOKUP,
    contracts,
    order,
    order_contract,
    payload,
    replayed,
)

ANY = Anything(
    "sku", "quantity", "warehouse", "sfo", "ams", "SKU-19", LOOKUP, "calendar.find_slot",
    "probe.read", "lines", "item", "count", "total", "paid", "state", "tags", "type", "min", "max",
    "values", "items", "required", "properties", "additional_properties", "string", "integer",
    "enum", "number", "boolean", "array", "object", "id", "tool", "c1", "reorder_hint",
)  # fmt: skip
CALLS = [{"id": "c1", "tool": LOOKUP}, {"id": "c2", "tool": "probe.read"}]


def end(tool: Any, result: Any, rules: Any = None, calls: Any = None, call_id: Any = None) -> Any:
    """Give the stored content or the refusal, whose form is checked; anything else goes through."""
    memory = AgentMemory(rules, calls)
    try:
        clean = memory.append_tool_result(tool, result, call_id)
    except ResultGateError as error:
        refusal = error
    else:
        assert memory.events == [{"role": "tool", "name": tool, "content": clean}]
        assert same_json(clean, result)
        return clean
    assert memory.events == []
    assert refusal.problems
    assert all(type(problem) is str and problem for problem in refusal.problems)
    assert str(refusal) == "; ".join(refusal.problems)
    return refusal


def outside(value: Any, rule: dict[str, Any]) -> list[str]:
    """List what the contract forbids in a stored value; written without the gate's own parts."""
    kind = rule["type"]
    if kind in ("string", "array"):
        right = type(value) is {"string": str, "array": list}[kind]
        found = [] if right and len(value) <= rule.get("max", 10**9) else [kind]
        for item in value if kind == "array" and right and "items" in rule else []:
            found += outside(item, rule["items"])
        return found
    if kind in ("integer", "number"):
        types = (int,) if kind == "integer" else (int, float)
        right = type(value) in types and rule["min"] <= value <= rule["max"]
        return [] if right else [kind]
    if kind == "enum":
        return [] if any(same_json(value, word) for word in rule["values"]) else [kind]
    if kind == "boolean":
        return [] if value is True or value is False else [kind]
    return outside_fields(value, rule)


def outside_fields(value: Any, rule: dict[str, Any]) -> list[str]:
    if type(value) is not dict or not set(rule["required"]) <= set(value):
        return ["object"]
    if not set(value) <= set(rule["properties"]):
        return ["extra"]
    return [text for key, item in value.items() for text in outside(item, rule["properties"][key])]


@STEADY
@given(tool=ANY.values, result=ANY.values)
def test_any_tool_and_payload_end_in_a_refusal_or_within_the_contract(
    tool: Any, result: Any
) -> None:
    ended = end(tool, result)

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, contracts()[tool]) == []


@STEADY
@given(rules=ANY.values)
def test_any_value_as_contracts_ends_in_a_result_or_a_refusal(rules: Any) -> None:
    ended = end(LOOKUP, payload(), rules)

    assert isinstance(ended, ResultGateError) == (rules is not None)


@STEADY
@given(calls=ANY.values, call_id=ANY.values | st.sampled_from(["c1", "c2"]))
def test_any_calls_end_in_a_result_or_a_refusal(calls: Any, call_id: Any) -> None:
    end(LOOKUP, payload(), None, calls, call_id)
    end(LOOKUP, payload(), None, CALLS, call_id)


# Changes of a good document


@MORE_STEADY
@given(result=ANY.mutants(payload))
def test_a_changed_payload_that_is_stored_is_within_the_contract(result: Any) -> None:
    ended = end(LOOKUP, result)

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, contracts()[LOOKUP]) == []


@MORE_STEADY
@given(result=ANY.mutants(order))
def test_a_changed_nested_result_that_is_stored_is_within_the_contract(result: Any) -> None:
    ended = end("probe.read", result, order_contract())

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, order_contract()["probe.read"]) == []


@MORE_STEADY
@given(rules=ANY.mutants(order_contract))
def test_a_changed_contract_is_used_only_where_it_has_no_problem(rules: Any) -> None:
    ended = end("probe.read", order(), rules)

    if contract_problems(rules):
        assert isinstance(ended, ResultGateError)
        assert ended.problems[0].startswith("contract")
    elif not isinstance(ended, ResultGateError):
        assert outside_fields(ended, rules["probe.read"]) == []


@STEADY
@given(calls=ANY.mutants(lambda: copy.deepcopy(CALLS)))
def test_changed_calls_end_in_a_result_or_a_refusal(calls: Any) -> None:
    end(LOOKUP, payload(), None, calls, "c1")


def recorded() -> dict[str, Any]:
    then = {"op": "another_result", "tool": LOOKUP, "payload": payload(), "call_id": "c3"}
    more = {"contracts": order_contract(), "then": then}
    calls = [*copy.deepcopy(CALLS), {"id": "c3", "tool": LOOKUP}]
    return {"tool": LOOKUP, "payload": payload(), "call_id": "c1", "calls_made": calls, **more}


@MORE_STEADY
@given(document=ANY.mutants(recorded) | ANY.values)
def test_any_document_is_replayed_or_refused(document: Any) -> None:
    before = copy.deepcopy(document)

    assert replayed(document)[0] in ("accept", "reject")
    assert repr(document) == repr(before)


def test_the_recorded_document_is_accepted() -> None:
    assert replayed(recorded())[0] == "accept"


# Texts


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "result.json"


@MORE_STEADY
@given(data=ANY.texts({"tool": LOOKUP, "payload": payload()}))
def test_any_bytes_are_loaded_or_refused_and_then_gated(data: bytes, file: Path) -> None:
    file.write_bytes(data)
    try:
        result = load_result(file)
    except ResultGateError as error:
        refusal = error
    else:
        end(result["tool"], result["payload"])
        return
    assert str(refusal).startswith("result.json")


# What cannot be generated

STRANGE = strange("sfo", "sfo")
NESTED = ("probe.read", "properties", "lines")
PLACES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "tool": lambda v: (v, payload()),
    "payload": lambda v: (LOOKUP, v),
    "value of a string": lambda v: (LOOKUP, payload(sku=v)),
    "value of an integer": lambda v: (LOOKUP, payload(quantity=v)),
    "value of an enum": lambda v: (LOOKUP, payload(warehouse=v)),
    "extra": lambda v: (LOOKUP, payload(extra=v)),
    "key": lambda v: (LOOKUP, {**payload(), _hashable(v): 1}),
    "nested value": lambda v: ("probe.read", order(lines=[v]), order_contract()),
    "undescribed item": lambda v: ("probe.read", order(tags=[v]), order_contract()),
    "contracts": lambda v: (LOOKUP, payload(), v),
    "contract": lambda v: (LOOKUP, payload(), {LOOKUP: v}),
    "rule": lambda v: ("probe.read", order(), placed(order_contract(), v, *NESTED)),
    "type": lambda v: ("probe.read", order(), placed(order_contract(), v, *NESTED, "type")),
    "bound": lambda v: ("probe.read", order(), placed(order_contract(), v, *NESTED, "max")),
    "calls": lambda v: (LOOKUP, payload(), None, v, "c1"),
    "call": lambda v: (LOOKUP, payload(), None, [v], "c1"),
    "call's tool": lambda v: (LOOKUP, payload(), None, [{"id": "c1", "tool": v}], "c1"),
    "call id": lambda v: (LOOKUP, payload(), None, CALLS, v),
    "call id without calls": lambda v: (LOOKUP, payload(), None, None, v),
}


def _hashable(value: Any) -> Any:
    return value if type(value).__hash__ else 1j


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_refused_wherever_it_stands(
    kind: str, place: str
) -> None:
    arguments = PLACES[place](STRANGE[kind]())

    assert isinstance(end(*arguments), ResultGateError)


def test_a_small_payload_that_stands_for_a_huge_one_is_refused() -> None:
    assert isinstance(end(LOOKUP, payload(sku=huge())), ResultGateError)
