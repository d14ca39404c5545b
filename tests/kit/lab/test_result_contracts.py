"""Contracts as data: which are used, which are refused, and with which words."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.result_contracts import (
    ContractError,
    contract_problems,
    load_contracts,
    read_contracts,
)
from tests.kit.lab.anything import nested
from tests.kit.lab.results import FIXTURES, LOOKUP, SLOT, contract_of, contracts, order_contract


def text_rule(**changes: Any) -> dict[str, Any]:
    return {"type": "string", "min": 1, "max": 9, **changes}


def probe(**changes: Any) -> dict[str, Any]:
    """Give contracts with one good tool, some of whose parts are changed."""
    return {"probe.read": {**contract_of(name=text_rule())["probe.read"], **changes}}


def without(found: dict[str, Any], key: str) -> dict[str, Any]:
    del found["probe.read"][key]
    return found


def ruled(rule: Any) -> dict[str, Any]:
    return contract_of(name=rule)


GOOD: dict[str, Callable[[], Any]] = {
    "the course's": contracts,
    "every type, nested": order_contract,
    "no tool": dict,
    "an optional field": lambda: contract_of("name", name=text_rule()),
    "a length of zero": lambda: ruled(text_rule(min=0, max=0)),
    "negative numbers": lambda: ruled({"type": "integer", "min": -9, "max": -1}),
    "a list without rules": lambda: ruled({"type": "array"}),
    "words of several types": lambda: ruled({"type": "enum", "values": [0, "0", None, True]}),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_contract_that_makes_sense_may_be_used(name: str) -> None:
    assert contract_problems(GOOD[name]()) == []


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a list": (list, "is not of type 'object'"),
    "nothing": (lambda: None, "is not of type 'object'"),
    "a tool that is nothing": (lambda: {"a": None}, "is not of type 'object'"),
    "no flag": (lambda: without(probe(), "additional_properties"), "'additional_properties' is a"),
    "a flag that is true": (lambda: probe(additional_properties=True), "False was expected"),
    "a flag that is zero": (lambda: probe(additional_properties=0), "False was expected"),
    "no required": (lambda: without(probe(), "required"), "'required' is a required property"),
    "required twice": (lambda: probe(required=["name", "name"]), "non-unique"),
    "no properties": (lambda: without(probe(), "properties"), "'properties' is a required"),
    "no property": (lambda: probe(properties={}), "non-empty|enough properties"),
    "required without a rule": (lambda: probe(required=["nmae"]), "required field nmae has no"),
    "a key nobody knows": (lambda: probe(optional=[]), "'optional' was unexpected"),
    "a rule that is a text": (lambda: ruled("string"), "is not of type 'object'"),
    "a rule without a type": (lambda: ruled({"min": 1}), "'type' is a required property"),
    "a type that is a list": (lambda: ruled({"type": ["string"]}), "is not of type 'string'"),
    "a type nobody knows": (lambda: ruled({"type": "date"}), "unsupported rule for name"),
    "a string without min": (lambda: ruled({"type": "string", "max": 1}), "'min' is a required"),
    "an integer without max": (lambda: ruled({"type": "integer", "min": 1}), "'max' is a required"),
    "a number without bounds": (lambda: ruled({"type": "number"}), "is a required property"),
    "a bound that is true": (lambda: ruled(text_rule(min=True)), "is not of type 'integer'"),
    "a bound that is a text": (lambda: ruled(text_rule(max="9")), "is not of type 'integer'"),
    "a negative length": (lambda: ruled(text_rule(min=-1)), "less than the minimum"),
    "min above max": (lambda: ruled(text_rule(min=10)), "min of name is above its max"),
    "a default": (lambda: ruled(text_rule(default="x")), "'default' was unexpected"),
    "a pattern": (lambda: ruled(text_rule(pattern="^x")), "'pattern' was unexpected"),
    "an enum without values": (lambda: ruled({"type": "enum"}), "'values' is a required property"),
    "values in a text": (lambda: ruled({"type": "enum", "values": "ab"}), "is not of type 'array'"),
    "no value": (lambda: ruled({"type": "enum", "values": []}), "non-empty|too short"),
    "a value that is a list": (lambda: ruled({"type": "enum", "values": [[]]}), "is not of type"),
    "an open object in a list": (
        lambda: ruled({"type": "array", "items": {"type": "object", "required": []}}),
        "is a required property",
    ),
    "an unknown type in a list": (
        lambda: ruled({"type": "array", "items": {"type": "date"}}),
        r"unsupported rule for name\[\]",
    ),
    "a nested name without a rule": (
        lambda: ruled({"type": "object", **probe(required=["nmae"])["probe.read"]}),
        "required field name.nmae has no rule",
    ),
    "a tool's name with a space": (
        lambda: {"probe read": probe()["probe.read"]},
        "its name is not",
    ),
    "a field's name in Cyrillic": (
        lambda: probe(properties={"nаme": text_rule()}, required=[]),
        "is not letters, digits",
    ),
    "a tuple": (lambda: probe(required=("name",)), "a value of type tuple is not JSON"),
    "thousands of levels": (lambda: nested(5000), "nested more than 50 levels deep"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_contract_that_says_too_little_or_makes_no_sense_is_refused(name: str) -> None:
    make, words = BAD[name]

    problems = contract_problems(make())

    assert problems
    assert any(_says(problem, words) for problem in problems), problems


def _says(problem: str, words: str) -> bool:
    return problem.startswith("contract") and re.search(words, problem) is not None


def test_every_problem_of_a_contract_is_listed_and_names_its_tool() -> None:
    found = contract_of(a={"type": "date"}, b=text_rule(min=10))
    found["probe.read"]["required"].append("c")

    assert contract_problems(found) == [
        "contract 'probe.read': required field c has no rule in properties",
        "contract 'probe.read': unsupported rule for a",
        "contract 'probe.read': min of b is above its max, so nothing can pass",
    ]


# Files


def test_the_course_s_file_is_loaded_as_it_stands() -> None:
    path = FIXTURES.parents[1] / "lab" / "tool_contracts.json"

    assert load_contracts(path) == contracts()
    assert read_contracts(path) == (contracts(), ())


def test_the_contracts_of_two_tools_hold_the_course_s_own() -> None:
    found = load_contracts(FIXTURES / "two_contracts.json")

    assert list(found) == [LOOKUP, SLOT]
    assert found[LOOKUP] == contracts()[LOOKUP]


def test_a_workspace_starts_with_a_contract_that_is_not_used() -> None:
    found, problems = read_contracts(FIXTURES / "start" / "tool_contracts.json")

    assert found == {}
    assert problems == (
        "contract ['inventory.lookup', 'additional_properties']: False was expected",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "tools.json: not JSON"),
        ('{"a": {}, "a": {}}', "tools.json: key 'a' stands twice"),
        (json.dumps(["inventory.lookup"]), "contract []: "),
    ],
)
def test_a_file_that_is_no_contract_is_an_error_of_its_own(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ContractError) as caught:
        load_contracts(path)

    assert caught.value.problems[0].startswith(words)
    assert read_contracts(path) == ({}, caught.value.problems)


def test_a_missing_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"^tools\.json cannot be read: "):
        load_contracts(tmp_path / "tools.json")
