"""The result gate: validate a tool's result before it enters an agent's memory.

What a planner writes may be sloppy; a write to memory must be narrow. A key that the contract does
not name (a discount code, a retry token) must not become state which the next turn reads as
evidence. So the gate stands on the path of the result, in code, and every append goes through it.
"""

import argparse
import copy
import json
import sys
from pathlib import Path
from typing import Any

from lab.result_contracts import read_contracts
from lab.result_names import without_strange_keys
from lab.strict_json import NotStrictJson, load_json

### BEGIN SOLUTION
from collections.abc import Iterable, Iterator  # isort: skip
from lab.plain_text import shown_length, text_problem  # isort: skip
from lab.result_calls import call_problem  # isort: skip
from lab.result_contracts import contract_problems  # isort: skip
from lab.result_names import shown_name, shown_names  # isort: skip
from lab.result_nested import NOT_PLAIN, Check, array_problems  # isort: skip
from lab.result_nested import boolean_problems, key_problems, number_problems  # isort: skip
from lab.strict_json import same_json, structure_problem  # isort: skip

### STUB
### END SOLUTION

Event = dict[str, Any]
Rule = dict[str, Any]

# Beside this module, never in the current folder: a gate must not depend on where it is called.
CONTRACTS_FILE = Path(__file__).with_name("tool_contracts.json")
# Where the file is broken there is no allowed tool, and the second name says why.
ALLOWED_TOOLS, CONTRACT_PROBLEMS = read_contracts(CONTRACTS_FILE)


class ResultGateError(ValueError):
    """A payload must not enter memory. ``problems`` holds what was found, one text a problem."""

    def __init__(self, *problems: str) -> None:
        """Take the messages of one stage."""
        super().__init__("; ".join(problems))
        self.problems = problems


def load_result(path: str | Path) -> dict[str, Any]:
    """Read ``{"tool": ..., "payload": ...}``; a text that is not strict JSON is refused here."""
    try:
        result = load_json(path)
    except NotStrictJson as error:
        raise ResultGateError(without_strange_keys(str(error))) from error
    if type(result) is not dict or not {"tool", "payload"} <= result.keys():
        raise ResultGateError(f"{Path(path).name} must be an object with tool and payload")
    return result


def validate_tool_result(
    tool_name: str, payload: Any, contracts: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Give a copy of a payload that holds only what the tool's contract names, or raise.

    ``contracts`` takes the place of ``ALLOWED_TOOLS``. Nothing is filled in and nothing is dropped:
    a payload comes back as it was, or ``ResultGateError`` is raised.
    """
    ### BEGIN SOLUTION
    allowed = ALLOWED_TOOLS if contracts is None else contracts
    _refuse_if(CONTRACT_PROBLEMS if contracts is None else ())
    _refuse_if(contract_problems(allowed))
    if type(tool_name) is not str or tool_name not in allowed:
        raise ResultGateError(f"unknown tool: {shown_name(tool_name)}")
    if type(payload) is not dict:
        raise ResultGateError("payload must be an object")
    contract = allowed[tool_name]
    _refuse_if(key_problems("payload", payload))
    _refuse_if(_field_problems(payload, contract, ""))
    _refuse_if(_value_problems(payload, contract, ""))
    _refuse_if(_not_json(payload))
    return {key: copy.deepcopy(payload[key]) for key in contract["properties"] if key in payload}
    ### STUB
    # # contracts = ALLOWED_TOOLS if contracts is None else contracts
    # # Then, in this order, raise ResultGateError(message) at the first thing that is wrong:
    # #   the tool is no key of contracts             unknown tool: NAME
    # #   the payload is no dict                      payload must be an object
    # #   keys that no property names                 unexpected fields: [sorted names]
    # #   required keys that are not there            missing fields: [names]
    # # Then, for each key of the payload, what its rule says. A rule's type is one of three:
    # #   string    KEY must be a string              KEY length out of range
    # #   integer   KEY must be an integer            KEY out of range
    # #   enum                                        KEY not in allowlist
    # #   any other type                              unsupported rule for KEY
    # # min and max are both allowed values. True is an int to Python, and no integer here.
    # # Return a new dict with the contract's keys that the payload has. Fill nothing in.
    # raise ResultGateError("validate_tool_result is not written yet")
    ### END SOLUTION


class AgentMemory:
    """What the agent will read in its next turn: events, each written by way of the gate.

    ``contracts`` takes the place of ``ALLOWED_TOOLS``. For early finishers: ``calls_made`` is the
    harness's own list of the calls it made, ``[{"id": text, "tool": name}, ...]``; it may grow
    while the memory is used.
    """

    def __init__(
        self, contracts: dict[str, Any] | None = None, calls_made: list[Any] | None = None
    ) -> None:
        """Begin with no events."""
        self._contracts = contracts
        self._calls_made = calls_made
        self._events: list[Event] = []
        self._answered: list[str] = []

    @property
    def events(self) -> list[Event]:
        """Copy what is stored, so that nothing can be written from outside."""
        ### BEGIN SOLUTION
        return copy.deepcopy(self._events)
        ### STUB
        # return self._events
        ### END SOLUTION

    def append_tool_result(
        self, tool_name: str, payload: Any, call_id: str | None = None
    ) -> dict[str, Any]:
        """Store a result that the gate accepts and give a copy of it; raise, and store nothing.

        An event is ``{"role": "tool", "name": tool_name, "content": clean}``. For early finishers:
        ``call_id`` names the call that is answered. Without it a result that is in memory already
        is refused: nobody can tell a second answer from the first one sent again.
        """
        ### BEGIN SOLUTION
        clean = validate_tool_result(tool_name, payload, self._contracts)
        _refuse_if(self._replay_problems(tool_name, clean, call_id))
        self._events.append({"role": "tool", "name": tool_name, "content": clean})
        if call_id is not None:
            self._answered.append(call_id)
        return copy.deepcopy(clean)

    def _replay_problems(self, tool_name: str, clean: Event, call_id: Any) -> list[str]:
        """Say why a valid result is no answer to a call that was made."""
        if call_id is not None or self._calls_made is not None:
            problem = call_problem(tool_name, call_id, self._answered, self._calls_made)
            return [problem] if problem else []
        stored = (event["content"] for event in self._events if event["name"] == tool_name)
        known = any(same_json(clean, content) for content in stored)
        return ["this result is in memory already: give the call_id that it answers"] * known
        ### STUB
        # # This is the leak of block 1: it appends before it asks, and it appends what came in.
        # # Block 4 turns it round: ask the gate, store what it returns, give back a copy of that.
        # # (call_id and calls_made are for the hole hunt; leave them for now.)
        # self._events.append({"role": "tool", "name": tool_name, "content": payload})
        # return validate_tool_result(tool_name, payload, self._contracts)
        ### END SOLUTION


### BEGIN SOLUTION
def _refuse_if(problems: Iterable[str]) -> None:
    found = list(problems)
    if found:
        raise ResultGateError(*found)


def _not_json(payload: Any) -> Iterator[str]:
    """Say why a payload could not be stored and written out again, without quoting from it."""
    problem = structure_problem(payload)
    if problem:
        # A text that breaks is quoted before " holds "; what comes after it are our own words.
        yield f"payload is not plain JSON: {problem.rpartition(' holds ')[2]}"


def _field_problems(fields: Event, contract: Rule, place: str) -> Iterator[str]:
    """Compare the names; ``place`` stands before each name of a nested object."""
    extras = fields.keys() - contract["properties"].keys()
    if extras:
        yield f"unexpected fields: {[f'{place}{name}' for name in shown_names(extras)]}"
    missing = [f"{place}{name}" for name in contract["required"] if name not in fields]
    if missing:
        yield f"missing fields: {missing}"


def _value_problems(fields: Event, contract: Rule, place: str) -> Iterator[str]:
    for key, rule in contract["properties"].items():
        if key in fields:
            yield from _problems_of(f"{place}{key}", fields[key], rule)


def _problems_of(key: str, value: Any, rule: Rule) -> Iterator[str]:
    check = _CHECKS.get(rule["type"])
    if check is None:
        yield f"unsupported rule for {key}"
    else:
        yield from check(key, value, rule)


def _string(key: str, value: Any, rule: Rule) -> Iterator[str]:
    if type(value) is not str:
        yield f"{key} must be a string"
    elif shown_length(value) < rule["min"] or len(value) > rule["max"]:
        yield f"{key} length out of range"
    elif value and text_problem(value):
        yield f"{key} {NOT_PLAIN}"


def _integer(key: str, value: Any, rule: Rule) -> Iterator[str]:
    if type(value) is not int:
        yield f"{key} must be an integer"
    elif not rule["min"] <= value <= rule["max"]:
        yield f"{key} out of range"


def _enum(key: str, value: Any, rule: Rule) -> Iterator[str]:
    if not any(same_json(value, allowed) for allowed in rule["values"]):
        yield f"{key} not in allowlist"


def _array(key: str, value: Any, rule: Rule) -> Iterator[str]:
    return array_problems(key, value, rule, _problems_of)


def _object(key: str, value: Any, rule: Rule) -> Iterator[str]:
    if type(value) is not dict:
        yield f"{key} must be an object"
    elif any(key_problems(key, value)):
        yield from key_problems(key, value)
    else:
        yield from _field_problems(value, rule, f"{key}.")
        yield from _value_problems(value, rule, f"{key}.")


_CHECKS: dict[str, Check] = {
    "string": _string,
    "integer": _integer,
    "enum": _enum,
    "number": number_problems,
    "boolean": boolean_problems,
    "array": _array,
    "object": _object,
}


### STUB
# # Your code here, where you want helpers of your own.
#
#
### END SOLUTION
def main(arguments: list[str] | None = None) -> int:
    """Offer one file to an empty memory: print its events, or say why it is refused, return 1."""
    parser = argparse.ArgumentParser(prog="python -m lab.result_gate", description=main.__doc__)
    parser.add_argument("file", help='a tool\'s result, as JSON: {"tool": ..., "payload": ...}')
    options = parser.parse_args(arguments)
    memory = AgentMemory()
    try:
        result = load_result(options.file)
        memory.append_tool_result(result["tool"], result["payload"])
    except ResultGateError as error:
        print(f"rejected: {error}", file=sys.stderr)
        return 1
    print(json.dumps(memory.events, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
