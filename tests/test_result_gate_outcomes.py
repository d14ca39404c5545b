"""The checks that you can see, one group for each block. They read your files; do not edit them.

The grader runs its own copy of this file. Your own tests belong into ``test_result_gate.py``.
"""

import json
from typing import Any

from lab.outcomes import Fixtures, lab_module, stop

FIXTURES = Fixtures("result_gate")
TOOL = "inventory.lookup"
# The card of notebook 1: the rule of each field.
CARD = {
    "sku": {"type": "string", "min": 1, "max": 32},
    "quantity": {"type": "integer", "min": 0, "max": 1_000_000},
    "warehouse": {"type": "enum", "values": ["sfo", "ams", "nrt"]},
}
# A second tool, for a gate that reads the contract and knows no field by heart.
DOOR = {
    "door.read": {
        "required": ["door", "openings"],
        "properties": {
            "door": {"type": "enum", "values": ["front", "back"]},
            "openings": {"type": "integer", "min": 1, "max": 50},
            "note": {"type": "string", "min": 2, "max": 8},
        },
        "additional_properties": False,
    }
}


def contracts() -> dict[str, Any]:
    """Give the contract as the card has it, so that these checks do not hang on block 2."""
    fields = {"required": [*CARD], "properties": CARD, "additional_properties": False}
    return {TOOL: fields}


def payload(**changes: Any) -> dict[str, Any]:
    return {"sku": "SKU-19", "quantity": 4, "warehouse": "sfo", **changes}


def without(*names: str) -> dict[str, Any]:
    return {key: value for key, value in payload().items() if key not in names}


def validated(tool: Any, result: Any, name: str, rules: Any = None) -> Any:
    """Give what the gate returns for a result that it must accept, or stop with what happened."""
    gate = lab_module("result_gate")
    try:
        return gate.validate_tool_result(tool, result, rules or contracts())
    except gate.ResultGateError as error:
        stop(f"validate_tool_result refuses {name}: {error}")
    except Exception as error:
        stop(f"validate_tool_result crashes on {name} with {type(error).__name__}: {error}")


def expect_refusal(tool: Any, result: Any, name: str, message: str, rules: Any = None) -> None:
    """Expect ResultGateError with this message in its text, or stop with what happened."""
    gate = lab_module("result_gate")
    try:
        value = gate.validate_tool_result(tool, result, rules or contracts())
    except gate.ResultGateError as error:
        if message not in str(error):
            stop(f"The refusal of {name} does not say “{message}”: {error}")
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        stop(f"validate_tool_result raises {raised} for {name}, not ResultGateError.")
    else:
        stop(f"validate_tool_result accepts {name} and returns {value}.")


# Block 1: leak


def test_the_leaked_result_is_written_down() -> None:
    """leak.json holds the leaked event: its name as tool, its content as payload."""
    call, leak = FIXTURES.read("call.json"), FIXTURES.read("leak.json")
    try:
        answer = lab_module("result_tools").call_tool(call)
    except (KeyError, TypeError):
        stop(f"call.json is not what it was. {FIXTURES.get_back('call.json')}")
    if not isinstance(leak, dict) or leak.get("tool") != call["tool"]:
        stop("leak.json does not say, under tool, which tool the event is from.")
    said = leak.get("payload")
    if not isinstance(said, dict):
        stop("leak.json has no object under payload yet.")
    if missing := sorted(answer.keys() - said.keys()):
        stop(f"payload lacks {len(missing)} of the {len(answer)} keys that leaked into memory.")
    if invented := sorted(said.keys() - answer.keys()):
        stop(f"payload has {invented[0]}, which the tool did not return.")
    if wrong := [key for key in answer if said[key] != answer[key]]:
        stop(f"payload has another value for {wrong[0]} than memory had.")


# Block 2: contract


def own_contract() -> dict[str, Any]:
    found = FIXTURES.read("lab/tool_contracts.json")
    contract = found.get(TOOL) if isinstance(found, dict) else None
    if not isinstance(contract, dict):
        stop(f"tool_contracts.json has no tool {TOOL}.")
    return contract


def test_every_row_of_the_decision_table_is_decided() -> None:
    """Each row of decision_table.json says "accept" or "reject" under verdict."""
    rows = FIXTURES.read("decision_table.json")
    if not isinstance(rows, dict) or len(rows) < 6:
        stop(f"decision_table.json has lost rows. {FIXTURES.get_back('decision_table.json')}")
    words = {n: row.get("verdict") if isinstance(row, dict) else None for n, row in rows.items()}
    open_rows = [name for name, word in words.items() if word not in ("accept", "reject")]
    if open_rows:
        said = f"{open_rows[0]} says {words[open_rows[0]]!r}; write accept or reject"
        stop(f"{len(open_rows)} of {len(rows)} rows of decision_table.json are open: {said}.")


def test_the_contract_requires_every_field_of_the_card() -> None:
    """required lists sku, quantity and warehouse."""
    required = own_contract().get("required")
    missing = [name for name in CARD if not isinstance(required, list) or name not in required]
    if missing:
        stop(f"required does not list {', '.join(missing)}.")


def test_the_contract_has_the_rule_of_every_field() -> None:
    """properties gives each field its type, and its bounds or its values, as the card has them."""
    rules = own_contract().get("properties")
    for name, rule in CARD.items():
        found = rules.get(name) if isinstance(rules, dict) else None
        if not isinstance(found, dict):
            stop(f"properties has no rule for {name}.")
        for key, value in rule.items():
            if found.get(key) != value:
                stop(f"{key} of {name} is {found.get(key)!r}. The card says another.")


def test_the_contract_forbids_what_it_does_not_name() -> None:
    """additional_properties is false, and no field is described that the card does not name."""
    contract = own_contract()
    if contract.get("additional_properties") is not False:
        stop(f"additional_properties is {contract.get('additional_properties')!r}, not false.")
    rules = contract.get("properties")
    more = sorted(rules.keys() - CARD.keys()) if isinstance(rules, dict) else []
    if more:
        stop(f"properties describes {more[0]}, which the card does not name.")


def test_the_contracts_have_the_form_that_the_gate_reads() -> None:
    """tool_contracts.json fits lab/tool_contracts.schema.json, and its rules make sense."""
    found = FIXTURES.read("lab/tool_contracts.json")
    problems = lab_module("result_contracts").contract_problems(found)
    if problems:
        stop(f"tool_contracts.json cannot be used yet: {problems[0]}")


# Block 3: closed


def test_the_gate_accepts_the_contract_payload() -> None:
    """validate_tool_result gives the contract's payload back, as a dict of its own."""
    handed_in = payload()
    clean = validated(TOOL, handed_in, "the contract's payload")
    if clean != payload():
        stop(f"validate_tool_result returns {clean} for the contract's payload {payload()}.")
    if clean is handed_in:
        stop("validate_tool_result returns the very dict that came in, not a new one.")


def test_the_gate_refuses_an_unknown_tool() -> None:
    """A tool that is no key of the contracts is refused: unknown tool: NAME."""
    for tool in ("inventory.delete_all", "inventory", "Inventory.Lookup"):
        expect_refusal(tool, payload(), f"the tool {tool}", f"unknown tool: {tool}")


def test_the_gate_refuses_a_payload_that_is_no_object() -> None:
    """A list, a text or null is refused: payload must be an object."""
    for result in ([payload()], json.dumps(payload()), None):
        expect_refusal(TOOL, result, f"{result!r}", "payload must be an object")


def test_the_gate_refuses_extra_fields_and_names_them() -> None:
    """Keys that no property names are refused: unexpected fields: [sorted names]."""
    extra = payload(zone="b", reorder_hint="buy-now")
    message = "unexpected fields: ['reorder_hint', 'zone']"
    expect_refusal(TOOL, extra, "a payload with zone and reorder_hint", message)


def test_the_gate_refuses_missing_fields_and_fills_nothing_in() -> None:
    """A required key that is not there is refused: missing fields: [names]."""
    for name in CARD:
        message = f"missing fields: ['{name}']"
        expect_refusal(TOOL, without(name), f"a payload without {name}", message)


def test_the_gate_refuses_values_of_the_wrong_type() -> None:
    """KEY must be a string; KEY must be an integer, and true is none."""
    for value in (19, None, ["SKU-19"]):
        expect_refusal(TOOL, payload(sku=value), f"sku {value!r}", "sku must be a string")
    for value in ("4", True, 4.5, None):
        expect_refusal(
            TOOL, payload(quantity=value), f"quantity {value!r}", "quantity must be an integer"
        )


def test_the_gate_refuses_values_out_of_range() -> None:
    """KEY length out of range, KEY out of range; both ends of a range are allowed."""
    for value in ("", "S" * 33):
        name = f"a sku of {len(value)} characters"
        expect_refusal(TOOL, payload(sku=value), name, "sku length out of range")
    for value in (-1, 1_000_001):
        expect_refusal(TOOL, payload(quantity=value), f"quantity {value}", "quantity out of range")
    for good in (payload(sku="S", quantity=0), payload(sku="S" * 32, quantity=1_000_000)):
        validated(TOOL, good, f"{good}")


def test_the_gate_refuses_what_is_not_in_the_list() -> None:
    """KEY not in allowlist, for a new site as for another spelling."""
    for value in ("lon", "SFO", "", None):
        name = f"warehouse {value!r}"
        expect_refusal(TOOL, payload(warehouse=value), name, "warehouse not in allowlist")


def test_the_gate_refuses_a_rule_that_it_does_not_know() -> None:
    """A type other than the three is refused: unsupported rule for KEY."""
    rules = {"door.read": {**DOOR["door.read"], "required": ["day"]}}
    rules["door.read"]["properties"] = {"day": {"type": "moon_phase"}}
    name = "a contract with a type that nobody knows"
    expect_refusal("door.read", {"day": "new"}, name, "unsupported rule for day", rules)


def test_the_gate_reads_the_contract_that_it_is_given() -> None:
    """With the contract of another tool, its rules apply; a field that is not required may lack."""
    for good in ({"door": "back", "openings": 50}, {"door": "back", "openings": 1, "note": "ok"}):
        if validated("door.read", good, f"{good}", DOOR) != good:
            stop(f"validate_tool_result does not give {good} back as it was.")
    bad = {
        "door not in allowlist": {"door": "side", "openings": 1},
        "openings out of range": {"door": "back", "openings": 0},
        "note length out of range": {"door": "back", "openings": 1, "note": "n"},
        "missing fields: ['openings']": {"door": "back"},
    }
    for message, result in bad.items():
        expect_refusal("door.read", result, f"{result}", message, DOOR)
    expect_refusal(TOOL, payload(), "a tool that is not in it", f"unknown tool: {TOOL}", DOOR)


def test_the_gate_uses_your_contracts_where_none_are_given() -> None:
    """Without contracts, ALLOWED_TOOLS is used: what you froze in block 2."""
    gate = lab_module("result_gate")
    try:
        clean = gate.validate_tool_result(TOOL, payload())
    except gate.ResultGateError as error:
        stop(f"Without contracts, validate_tool_result refuses the contract's payload: {error}")
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        stop(f"Without contracts, validate_tool_result raises {raised}. Then use ALLOWED_TOOLS.")
    if clean != payload():
        stop(f"Without contracts, validate_tool_result returns {clean}.")


def test_the_gate_says_what_is_wrong_first() -> None:
    """Of two things that are wrong, the one higher up in the table is said."""
    expect_refusal(
        "door.open", None, "an unknown tool without a payload", "unknown tool: door.open"
    )
    both = {**without("sku"), "zone": "b"}
    expect_refusal(TOOL, both, "a payload with zone and no sku", "unexpected fields: ['zone']")
    short = {"quantity": "4", "warehouse": "sfo"}
    expect_refusal(TOOL, short, "a payload with a wrong type and no sku", "missing fields: ['sku']")


# Block 4: memory


def new_memory() -> Any:
    gate = lab_module("result_gate")
    try:
        memory = gate.AgentMemory(contracts())
        events = memory.events
    except Exception as error:
        stop(f"AgentMemory(contracts) or its events raise {type(error).__name__}: {error}")
    if events != []:
        stop(f"The events of a new memory are {events!r}, not [].")
    return memory


def appended(memory: Any, result: Any) -> Any:
    """Append a result that must be accepted, or stop with what happened."""
    gate = lab_module("result_gate")
    try:
        return memory.append_tool_result(TOOL, result)
    except gate.ResultGateError as error:
        stop(f"append_tool_result refuses {result}: {error}")
    except Exception as error:
        stop(f"append_tool_result crashes on {result} with {type(error).__name__}: {error}")


def event(**changes: Any) -> dict[str, Any]:
    return {"role": "tool", "name": TOOL, "content": payload(**changes)}


def test_a_refused_result_leaves_memory_empty() -> None:
    """After a refusal, events is still []."""
    gate = lab_module("result_gate")
    bad = [payload(discount_code="STAFF"), payload(quantity="4"), without("warehouse"), "text"]
    for result in bad:
        memory = new_memory()
        try:
            memory.append_tool_result(TOOL, result)
        except gate.ResultGateError:
            if memory.events != []:
                stop(f"append_tool_result refuses {result}, and memory holds it all the same.")
        except Exception as error:
            stop(f"append_tool_result raises {type(error).__name__} for {result}: {error}")
        else:
            stop(f"append_tool_result accepts {result}.")


def test_an_accepted_result_is_stored_as_one_event() -> None:
    """The event is {"role": "tool", "name": tool_name, "content": clean}; clean comes back."""
    memory = new_memory()
    clean = appended(memory, payload())
    if clean != payload():
        stop(f"append_tool_result returns {clean!r}, not the cleaned result {payload()}.")
    if memory.events != [event()]:
        stop(f"After one result, events is {memory.events!r}, not {[event()]}.")
    appended(memory, payload(quantity=5))
    if memory.events != [event(), event(quantity=5)]:
        stop(f"After two results, events is {memory.events!r}.")


def test_what_comes_back_is_not_what_is_stored() -> None:
    """Writing into the returned result does not change memory."""
    memory = new_memory()
    appended(memory, payload())["discount_code"] = "STAFF"
    if memory.events != [event()]:
        stop("discount_code was written into the returned dict, and memory holds it now.")


def test_what_was_handed_in_is_not_what_is_stored() -> None:
    """Writing into the payload after the append does not change memory."""
    memory, result = new_memory(), payload()
    appended(memory, result)
    result["discount_code"] = "STAFF"
    if memory.events != [event()]:
        stop("discount_code was written into the payload afterwards, and memory holds it now.")


def test_nothing_is_written_through_events() -> None:
    """Appending to events, or writing into one of them, does not change memory."""
    memory = new_memory()
    appended(memory, payload())
    memory.events.append(event(discount_code="STAFF"))
    if memory.events != [event()]:
        stop("memory.events.append(...) put an event into memory, past the gate.")
    memory.events[0]["content"]["discount_code"] = "STAFF"
    if memory.events != [event()]:
        stop('memory.events[0]["content"] was written to, past the gate: copy deeply.')


# Block 5: replay


def recorded(name: str) -> dict[str, Any]:
    result = FIXTURES.read(name)
    if not isinstance(result, dict) or not isinstance(result.get("payload"), dict):
        stop(f"{name} has no tool and payload of yours yet.")
    return result


def expect_differences(name: str, *places: str) -> None:
    for file in ("valid_result.json", name):
        recorded(file)
    FIXTURES.expect_differences(name, "valid_result.json", *places)


def own_verdict(result: dict[str, Any]) -> tuple[str, str]:
    """Give the pair's own verdict on a recorded result, with a memory of its own."""
    gate = lab_module("result_gate")
    memory = gate.AgentMemory()
    try:
        memory.append_tool_result(result.get("tool"), result.get("payload"))
    except gate.ResultGateError as error:
        return ("stored" if memory.events else "reject"), str(error)
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}"
    return "accept", ""


def expect_verdict(name: str, result: dict[str, Any], wanted: str) -> None:
    first, second = own_verdict(result), own_verdict(result)
    if first != second:
        stop(f"Your gate decides {name} in two ways: {first}, then {second}.")
    if first[0] != wanted:
        stop(f"{name} must end in {wanted}, and your gate says {first[0]}. {first[1]}")


def test_the_valid_result_is_one_of_your_own() -> None:
    """valid_result.json is accepted by your gate, and is not the example of the card."""
    result = recorded("valid_result.json")
    if result == FIXTURES.read("contract_payload.json"):
        stop("valid_result.json is a copy of contract_payload.json. Take values of your own.")
    expect_verdict("valid_result.json", result, "accept")


def test_the_extra_field_is_the_only_difference() -> None:
    """extra_field.json is valid_result.json with reorder_hint, and your gate refuses it."""
    expect_differences("extra_field.json", "/payload/reorder_hint")
    expect_verdict("extra_field.json", recorded("extra_field.json"), "reject")


def test_the_wrong_type_is_the_only_difference() -> None:
    """wrong_type.json is valid_result.json with another quantity, and your gate refuses it."""
    expect_differences("wrong_type.json", "/payload/quantity")
    expect_verdict("wrong_type.json", recorded("wrong_type.json"), "reject")


def test_your_gate_decides_the_table_as_you_did() -> None:
    """Each row of decision_table.json, replayed, gets the verdict that you wrote down."""
    rows = FIXTURES.read("decision_table.json")
    if not isinstance(rows, dict) or len(rows) < 6:
        stop(f"decision_table.json has lost rows. {FIXTURES.get_back('decision_table.json')}")
    for name, row in rows.items():
        if not isinstance(row, dict):
            stop(f"The row {name} of decision_table.json is no object.")
        expect_verdict(f"Row {name}", row, str(row.get("verdict")))


def test_the_leaked_result_is_refused_now() -> None:
    """leak.json, the result of block 1, is refused by your gate and leaves memory empty."""
    expect_verdict("leak.json", recorded("leak.json"), "reject")
