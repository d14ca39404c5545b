"""The replay of a recorded result: what it makes of a gate that is right, and of one that leaks."""

import copy
import types
from contextlib import suppress
from typing import Any

import pytest

from lab import result_gate
from lab.result_gate import ResultGateError
from lab.result_replay import replay
from tests.kit.lab.results import LOOKUP, contract_of, payload, replayed

SECOND = {"op": "another_result", "tool": LOOKUP, "payload": payload(quantity=5)}
WRITES: list[dict[str, Any]] = [
    {"op": "mutate_returned", "set": {"coupon": 1}},
    {"op": "mutate_payload", "set": {"coupon": 1}},
    {"op": "mutate_events", "set": {"coupon": 1}},
    {"op": "append_to_events", "event": {"role": "tool", "name": LOOKUP, "content": {}}},
]


class LeakyMemory:
    """A memory that appends first, shares everything, and validates later."""

    def __init__(self, contracts: Any = None, calls_made: Any = None) -> None:
        self.contracts, self.calls_made = contracts, calls_made
        self.events: list[Any] = []

    def append_tool_result(self, tool_name: str, payload: Any) -> Any:
        self.events.append({"role": "tool", "name": tool_name, "content": payload})
        result_gate.validate_tool_result(tool_name, payload, self.contracts)
        return payload


def gate_with(memory: type) -> types.ModuleType:
    module = types.ModuleType("another_gate")
    module.__dict__.update(vars(result_gate))
    module.AgentMemory = memory  # type: ignore[attr-defined]
    return module


def document(result: Any = None, **more: Any) -> dict[str, Any]:
    return {"tool": LOOKUP, "payload": payload() if result is None else result, **more}


def test_an_accepted_result_comes_back_with_the_events() -> None:
    event = {"role": "tool", "name": LOOKUP, "content": payload()}

    assert replayed(document()) == ("accept", {"returned": payload(), "events": [event]})


def test_the_function_alone_is_asked_without_a_memory() -> None:
    asked = document(via="validate_tool_result")

    assert replay(gate_with(LeakyMemory), asked) == {"returned": payload()}
    assert replayed(document(payload(zone=1), via="validate_tool_result"))[0] == "reject"


def test_a_refusal_that_left_something_in_memory_counts_as_let_through() -> None:
    leaked = payload(discount_code="STAFF")

    value = replay(gate_with(LeakyMemory), document(leaked))

    assert value == {
        "refused": "unexpected fields: ['discount_code']",
        "events": [{"role": "tool", "name": LOOKUP, "content": leaked}],
    }


@pytest.mark.parametrize("step", WRITES, ids=lambda step: step["op"])
def test_a_write_past_the_gate_is_seen(step: dict[str, Any]) -> None:
    with pytest.raises(ResultGateError, match="memory stays as it was"):
        replay(result_gate, document(then=step))

    value = replay(gate_with(LeakyMemory), document(then=step))
    assert "coupon" in str(value["events"]) or len(value["events"]) == 2


def test_a_second_result_is_stored_after_the_first() -> None:
    verdict, value = replayed(document(then=SECOND))

    assert verdict == "accept"
    assert value["returned"] == payload(quantity=5)
    assert [event["content"]["quantity"] for event in value["events"]] == [4, 5]


def test_a_second_result_that_leaks_is_seen() -> None:
    step = {**SECOND, "payload": payload(zone=1)}

    assert replayed(document(then=step)) == ("reject", "unexpected fields: ['zone']")
    assert len(replay(gate_with(LeakyMemory), document(then=step))["events"]) == 2


def test_a_repeated_result_is_seen() -> None:
    step = {"op": "repeat_same_result"}

    assert replayed(document(then=step))[0] == "reject"
    assert len(replay(gate_with(LeakyMemory), document(then=step))["events"]) == 2


def test_contracts_are_added_to_those_in_use() -> None:
    more = contract_of(level={"type": "boolean"})

    assert replayed(document(contracts=more))[0] == "accept"
    assert replayed({"tool": "probe.read", "payload": {"level": True}, "contracts": more})[0] == (
        "accept"
    )
    assert replayed(document(contracts=more), {})[1] == f"unknown tool: {LOOKUP}"


@pytest.mark.parametrize("memory", [result_gate.AgentMemory, LeakyMemory])
@pytest.mark.parametrize("step", [*WRITES, SECOND, None], ids=str)
def test_a_document_is_left_as_it_is(memory: type, step: Any) -> None:
    given = document(then=step) if step else document()
    before = copy.deepcopy(given)

    with suppress(ResultGateError):
        replay(gate_with(memory), given)

    assert given == before


@pytest.mark.parametrize(
    "strange", [None, [], "a", 1, {}, {"tool": LOOKUP}, {"payload": payload()}], ids=str
)
def test_what_is_no_result_is_refused(strange: Any) -> None:
    assert replayed(strange) == ("reject", "a result must be an object with tool and payload")


@pytest.mark.parametrize(
    "step", ["mutate_returned", {}, {"op": ["mutate_returned"]}, {"op": "shout"}, 7], ids=str
)
def test_a_step_that_is_none_is_refused(step: Any) -> None:
    assert replayed(document(then=step)) == ("reject", "then must be an object with a known op")


@pytest.mark.parametrize("step", [{"op": step["op"]} for step in WRITES], ids=str)
def test_a_step_without_its_value_writes_nothing(step: Any) -> None:
    assert replayed(document(then=step))[0] == "reject"
