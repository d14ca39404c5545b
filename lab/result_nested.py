"""Rules for results that are more than three flat fields: numbers, booleans, lists.

A list without a rule for its items may hold scalars only: an object in there would be a place for
keys that nobody described.
"""

from collections.abc import Callable, Iterator
from typing import Any

from lab.plain_text import text_problem
from lab.strict_json import size_problem

Rule = dict[str, Any]
Check = Callable[[str, Any, Rule], Iterator[str]]
NOT_PLAIN = "must be plain text: one line, no hidden or disguised characters"


def key_problems(place: str, fields: dict[Any, Any]) -> Iterator[str]:
    """Check that each key of an object is a text, before anything is compared with it."""
    if any(type(key) is not str for key in fields):
        yield f"{place} is not plain JSON: a key is not a string"


def number_problems(key: str, value: Any, rule: Rule) -> Iterator[str]:
    """Check an integer or a float against ``min`` and ``max``; a boolean is neither."""
    if type(value) is not int and type(value) is not float:
        yield f"{key} must be a number"
    elif value < rule["min"] or value > rule["max"]:
        yield f"{key} out of range"


def boolean_problems(key: str, value: Any, _: Rule) -> Iterator[str]:
    """Check that a value is true or false; 1 and "true" are not."""
    if type(value) is not bool:
        yield f"{key} must be a boolean"


def array_problems(key: str, value: Any, rule: Rule, check: Check) -> Iterator[str]:
    """Check a list's length and, with ``check``, each of its items against ``items``."""
    if type(value) is not list:
        yield f"{key} must be an array"
    elif size_problem(value):
        yield f"{key} is not plain JSON: {size_problem(value)}"
    elif not rule.get("min", 0) <= len(value) <= rule.get("max", len(value)):
        yield f"{key} length out of range"
    else:
        for index, item in enumerate(value):
            place = f"{key}[{index}]"
            has_rule = "items" in rule
            yield from check(place, item, rule["items"]) if has_rule else _scalar(place, item)


def _scalar(key: str, value: Any) -> Iterator[str]:
    if value is None or type(value) is dict or type(value) is list:
        yield f"{key} must be a text, a number or a boolean: its list has no items rule"
    elif type(value) is str and text_problem(value):
        yield f"{key} {NOT_PLAIN}"
