"""The tool inventory of Exercise 0, and the check of a plan against it.

The inventory is written by people before any model is asked, so the gate may trust it: it says
which tools exist, what each must be given, and who may supply each value.
"""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lab.strict_json import structure_problem

Plan = dict[str, Any]
Inventory = dict[str, Any]

SCHEMA_FILE = Path(__file__).with_name("inventory.schema.json")
ARTICLES = {"integer": "an", "array": "an", "object": "an"}
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def inventory_problems(inventory: object) -> list[str]:
    """Check an inventory against ``inventory.schema.json``; [] when it may be used."""
    structure = structure_problem(inventory)
    if structure:
        return [f"inventory []: {structure}"]
    errors = _validator().iter_errors(inventory)
    return sorted(f"inventory {list(error.absolute_path)}: {error.message}" for error in errors)


def validate_inventory(plan: Plan, inventory: Inventory) -> list[str]:
    """Check a schema-valid plan against the inventory; [] when every step fits its tool."""
    problems = inventory_problems(inventory)
    if problems:
        return problems
    sources = {row["id"]: row for row in plan["facts"]}
    for step in plan["steps"]:
        tool = inventory["tools"].get(step["tool"])
        if tool is None:
            problems.append(f"{step['id']} tool {step['tool']} is not in the inventory")
        else:
            problems += [f"{step['id']} {text}" for text in _step_problems(step, tool, sources)]
    return problems


@functools.cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def _step_problems(step: Plan, tool: Inventory, sources: dict[str, Plan]) -> Iterator[str]:
    rules = tool["required_args"]
    for key in rules:
        if key not in step["args"]:
            yield f"is missing required arg {key}"
    for name, argument in step["args"].items():
        if name not in rules:
            yield f"arg {name} is not in the inventory"
        else:
            yield from _argument_problems(name, argument, rules[name])
    for reference in step["fact_refs"]:
        fact = sources.get(reference)
        if fact and fact["key"] in rules and fact["source"] not in rules[fact["key"]]["sources"]:
            yield f"arg {fact['key']} may not come from {fact['source']}"


def _argument_problems(key: str, value: object, rule: Inventory) -> Iterator[str]:
    kind = rule["type"]
    # type() and not isinstance(): to Python, True is an int.
    if type(value) not in JSON_TYPES[kind]:
        yield f"arg {key} must be {ARTICLES.get(kind, 'a')} {kind}"
        return
    minimum = rule.get("exclusiveMinimum")
    if minimum is not None and isinstance(value, (int, float)) and value <= minimum:
        yield f"arg {key} must be more than {minimum}"
