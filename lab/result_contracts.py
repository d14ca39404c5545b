"""The contracts of the tools, kept as data: which tools may write, and what each may return.

A contract is written by people before any tool is asked, and frozen in version control. A contract
that says too little (no bounds, no list of required fields, extras not forbidden) is no contract,
so a gate refuses to work with it.
"""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lab.strict_json import NotStrictJson, load_json, structure_problem

Contracts = dict[str, Any]
Rule = dict[str, Any]

SCHEMA_FILE = Path(__file__).with_name("tool_contracts.schema.json")
RULE_TYPES = frozenset({"string", "integer", "enum", "number", "boolean", "array", "object"})
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ContractError(ValueError):
    """A file of contracts cannot be used; ``problems`` holds one text a problem."""

    def __init__(self, *problems: str) -> None:
        """Take what is wrong with the contracts."""
        super().__init__("; ".join(problems))
        self.problems = problems


def contract_problems(contracts: object) -> list[str]:
    """Say what keeps contracts from being used; [] when a gate may work with them."""
    structure = structure_problem(contracts)
    if structure:
        return [f"contracts []: {structure}"]
    return list(_problems_of_text(json.dumps(contracts, sort_keys=True)))


def load_contracts(path: str | Path) -> Contracts:
    """Read a file of contracts; raise ``ContractError`` with all that is wrong with them."""
    try:
        contracts: Contracts = load_json(path)
    except NotStrictJson as error:
        raise ContractError(str(error)) from error
    if problems := contract_problems(contracts):
        raise ContractError(*problems)
    return contracts


def read_contracts(path: str | Path) -> tuple[Contracts, tuple[str, ...]]:
    """Read a file of contracts without raising: no contract and the problems where it is broken.

    A module that reads its contracts when it is imported can then still be imported, and its gate
    refuses everything, with the reason.
    """
    try:
        return load_contracts(path), ()
    except ContractError as error:
        return {}, error.problems


@functools.lru_cache(maxsize=32)
def _problems_of_text(text: str) -> tuple[str, ...]:
    """Check contracts by their text: a gate asks about the same ones at every result."""
    contracts = json.loads(text)
    errors = _validator().iter_errors(contracts)
    problems = sorted(f"contract {list(error.absolute_path)}: {error.message}" for error in errors)
    return tuple(problems or _meaningless(contracts))


@functools.cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def _meaningless(contracts: Any) -> Iterator[str]:
    """Yield what the schema cannot see: rules that have the right form and make no sense."""
    for tool, contract in contracts.items():
        if not _NAME.fullmatch(tool):
            yield f"contract {tool!a}: its name is not letters, digits, _ . - (at most 64)"
        yield from (f"contract {tool!a}: {text}" for text in _field_problems(contract, ""))


def _field_problems(contract: Rule, place: str) -> Iterator[str]:
    for name in contract["required"]:
        if name not in contract["properties"]:
            yield f"required field {place}{name} has no rule in properties"
    for name, rule in contract["properties"].items():
        if not _NAME.fullmatch(name):
            yield f"field {place}{name!a} is not letters, digits, _ . - (at most 64)"
        yield from _rule_problems(rule, f"{place}{name}")


def _rule_problems(rule: Rule, key: str) -> Iterator[str]:
    kind = rule["type"]
    if kind not in RULE_TYPES:
        yield f"unsupported rule for {key}"
        return
    if "min" in rule and "max" in rule and rule["min"] > rule["max"]:
        yield f"min of {key} is above its max, so nothing can pass"
    if kind == "array" and "items" in rule:
        yield from _rule_problems(rule["items"], f"{key}[]")
    if kind == "object":
        yield from _field_problems(rule, f"{key}.")
