"""Replay one recorded result against a gate and its memory, and say what got through.

A document is ``{"tool": ..., "payload": ...}`` and, where wanted: ``contracts`` (added to those in
use), ``call_id`` and ``calls_made``, ``via`` (``"validate_tool_result"`` asks the function alone,
without a memory), and ``then``: what a caller does once a result is stored. ``then`` has an ``op``:

- ``mutate_returned``, ``mutate_payload``, ``mutate_events``: write the keys of ``set`` into the
  value that came back, into the payload that was handed in, into the content of the first event;
- ``append_to_events``: append ``event`` to what ``events`` gives;
- ``repeat_same_result``: hand the same result in again;
- ``another_result``: hand in another one, with its own ``tool``, ``payload`` and ``call_id``.
"""

import copy
import importlib
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lab.strict_json import same_json, structure_problem

Document = dict[str, Any]


def replay(
    gate: types.ModuleType, document: Any, contracts: dict[str, Any] | None = None
) -> Document:
    """Give what came back and what is stored, or raise the gate's own error.

    A refusal counts only where memory stays as it was. If something got in all the same, the
    refusal's text and the events are returned in place of raised. In the same way a step of
    ``then`` that tries to write past the gate ends in the gate's error where it changed nothing.
    """
    refusal = gate.ResultGateError
    if type(document) is not dict or not {"tool", "payload"} <= document.keys():
        raise refusal("a result must be an object with tool and payload")
    contracts = _contracts(gate, document, contracts)
    tool, payload = document["tool"], _handed_in(document)
    if document.get("via") == "validate_tool_result":
        return {"returned": gate.validate_tool_result(tool, payload, contracts)}
    memory = gate.AgentMemory(contracts, document.get("calls_made"))
    first = _append(gate, memory, tool, payload, document.get("call_id"))
    if "refused" in first or "then" not in document:
        return first
    return _then(gate, memory, document, payload, first["returned"])


def validate(document: Document) -> Document:
    """Ask the pair's own ``validate_tool_result`` about a recorded result, without a memory."""
    gate: Any = importlib.import_module("lab.result_gate")
    clean: Document = gate.validate_tool_result(document["tool"], document["payload"])
    return clean


def _handed_in(document: Document) -> Any:
    """Copy the payload, so that a step may write into it; what is no JSON goes in as it is."""
    payload = document["payload"]
    return payload if structure_problem(payload) else copy.deepcopy(payload)


def _contracts(gate: Any, document: Document, contracts: Any) -> Any:
    added = document.get("contracts")
    if added is None:
        return contracts
    in_use = getattr(gate, "ALLOWED_TOOLS", {}) if contracts is None else contracts
    both = type(in_use) is dict and type(added) is dict
    return {**in_use, **added} if both else added


def _append(gate: Any, memory: Any, tool: Any, payload: Any, call_id: Any) -> Document:
    """Append once; let the refusal through only where memory stayed as it was."""
    before = copy.deepcopy(memory.events)
    # Where no call is named the argument is left out: a smaller gate need not know it.
    named = {} if call_id is None else {"call_id": call_id}
    try:
        returned = memory.append_tool_result(tool, payload, **named)
    except gate.ResultGateError as error:
        if same_json(memory.events, before):
            raise
        return {"refused": str(error), "events": memory.events}
    return {"returned": returned, "events": memory.events}


def _then(gate: Any, memory: Any, document: Document, payload: Any, returned: Any) -> Document:
    step = document["then"]
    operation = step.get("op") if type(step) is dict else None
    before = copy.deepcopy(memory.events)
    if operation == "another_result":
        return _append(gate, memory, step.get("tool"), step.get("payload"), step.get("call_id"))
    if operation == "repeat_same_result":
        same = _handed_in(document)
        _append(gate, memory, document["tool"], same, document.get("call_id"))
    elif type(operation) is str and operation in _WRITES:
        # What takes no key and no item cannot be written to.
        with suppress(AttributeError, TypeError, KeyError, IndexError):
            _WRITES[operation](step, memory, payload, returned)
    else:
        raise gate.ResultGateError("then must be an object with a known op")
    after = memory.events
    if same_json(after, before):
        raise gate.ResultGateError("memory stays as it was")
    return {"returned": returned, "events": after}


_WRITES: dict[str, Callable[[Document, Any, Any, Any], None]] = {
    "mutate_returned": lambda step, _memory, _payload, returned: returned.update(step["set"]),
    "mutate_payload": lambda step, _memory, payload, _returned: payload.update(step["set"]),
    "mutate_events": lambda step, memory, _payload, _returned: memory.events[0]["content"].update(
        step["set"]
    ),
    "append_to_events": lambda step, memory, _payload, _returned: memory.events.append(
        step["event"]
    ),
}
