"""Whatever the gate is given, it ends in a stored result or in its own refusal.

Values that cannot be printed (too deep, too long) stand in tables of their own with a name each: a
generated one could not be shown when it fails.
"""

import copy
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.result_contracts import contract_problems
from lab.result_gate import AgentMemory, ResultGateError, load_result
from lab.strict_json import same_json
from tests.kit.lab.plans import nested
from tests.kit.lab.results import (
    LOOKUP,
    contracts,
    order,
    order_contract,
    payload,
    replayed,
)

# The same examples in every run, and nothing is kept between runs.
STEADY = settings(deadline=None, derandomize=True, database=None, max_examples=100)

# Values

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 4, 1_000_000, 1_000_001, 10**399, 10**400, -(10**400)]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([math.nan, math.inf, -0.0, 4.0, 5e-324]),
    st.text(alphabet=st.characters(), max_size=8),
    st.sampled_from(["\ud800", "a\udfff", "\u200b", "\u202eb", "\u0430", "\uff11", "", " ", "\n"]),
)
# Words of the contract, so that a generated document gets past the first check now and then.
WORDS = st.sampled_from([
    "sku", "quantity", "warehouse", "sfo", "ams", "SKU-19", LOOKUP, "calendar.find_slot",
    "probe.read", "lines", "item", "count", "total", "paid", "state", "tags", "type", "min", "max",
    "values", "items", "required", "properties", "additional_properties", "string", "integer",
    "enum", "number", "boolean", "array", "object", "id", "tool", "c1", "reorder_hint",
])  # fmt: skip
KEYS = st.one_of(WORDS, st.text(alphabet=st.characters(), max_size=4), st.just("\ud800"))
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.builds(nested, st.integers(1, 80), inner),
    ),
    max_leaves=10,
)
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
@given(tool=JSON_VALUES, result=JSON_VALUES)
def test_any_tool_and_payload_end_in_a_refusal_or_within_the_contract(
    tool: Any, result: Any
) -> None:
    ended = end(tool, result)

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, contracts()[tool]) == []


@STEADY
@given(rules=JSON_VALUES)
def test_any_value_as_contracts_ends_in_a_result_or_a_refusal(rules: Any) -> None:
    ended = end(LOOKUP, payload(), rules)

    assert isinstance(ended, ResultGateError) == (rules is not None)


@STEADY
@given(calls=JSON_VALUES, call_id=JSON_VALUES | st.sampled_from(["c1", "c2"]))
def test_any_calls_end_in_a_result_or_a_refusal(calls: Any, call_id: Any) -> None:
    end(LOOKUP, payload(), None, calls, call_id)
    end(LOOKUP, payload(), None, CALLS, call_id)


# Changes of a good document


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list in a document, with each of its keys or indexes."""
    keys = list(document) if type(document) is dict else range(len(document))
    for key in keys:
        yield document, key
        if type(document[key]) in (dict, list):
            yield from places(document[key])


@st.composite
def mutants(draw: st.DrawFn, make: Callable[[], Any]) -> Any:
    """Replace, delete or insert a value, once to three times, somewhere in a good document."""
    document = make()
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            break
        place, key = draw(st.sampled_from(found))
        action = draw(st.sampled_from(["replace", "delete", "insert"]))
        value = draw(JSON_VALUES)
        if action == "replace":
            place[key] = value
        elif action == "delete":
            del place[key]
        elif type(place) is dict:
            place[draw(KEYS)] = value
        else:
            place.insert(key, value)
    return document


MORE_STEADY = settings(STEADY, max_examples=250)


@MORE_STEADY
@given(result=mutants(payload))
def test_a_changed_payload_that_is_stored_is_within_the_contract(result: Any) -> None:
    ended = end(LOOKUP, result)

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, contracts()[LOOKUP]) == []


@MORE_STEADY
@given(result=mutants(order))
def test_a_changed_nested_result_that_is_stored_is_within_the_contract(result: Any) -> None:
    ended = end("probe.read", result, order_contract())

    if not isinstance(ended, ResultGateError):
        assert outside_fields(ended, order_contract()["probe.read"]) == []


@MORE_STEADY
@given(rules=mutants(order_contract))
def test_a_changed_contract_is_used_only_where_it_has_no_problem(rules: Any) -> None:
    ended = end("probe.read", order(), rules)

    if contract_problems(rules):
        assert isinstance(ended, ResultGateError)
        assert ended.problems[0].startswith("contract")
    elif not isinstance(ended, ResultGateError):
        assert outside_fields(ended, rules["probe.read"]) == []


@STEADY
@given(calls=mutants(lambda: copy.deepcopy(CALLS)))
def test_changed_calls_end_in_a_result_or_a_refusal(calls: Any) -> None:
    end(LOOKUP, payload(), None, calls, "c1")


def recorded() -> dict[str, Any]:
    then = {"op": "another_result", "tool": LOOKUP, "payload": payload(), "call_id": "c3"}
    more = {"contracts": order_contract(), "then": then}
    calls = [*copy.deepcopy(CALLS), {"id": "c3", "tool": LOOKUP}]
    return {"tool": LOOKUP, "payload": payload(), "call_id": "c1", "calls_made": calls, **more}


@MORE_STEADY
@given(document=mutants(recorded) | JSON_VALUES)
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


VALID_TEXT = json.dumps({"tool": LOOKUP, "payload": payload()}).encode()
FRAGMENTS = st.sampled_from([
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\ud800", b"\\u0000", b"NaN", b"-Infinity",
    b"1e400", b"9" * 5000, b"0.1" + b"0" * 400 + b"1", b"\xff", b"\xed\xa0\x80", b"\0",
    b"\xef\xbb\xbf", b"[" * 3000, b'{"a":' * 3000, b"null", b"tru", b"-", b"00", b"\n",
    b'"sku":', b'"tool":',
])  # fmt: skip
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.lists(FRAGMENTS, max_size=6).map(b"".join),
    JSON_VALUES.map(lambda value: json.dumps(value).encode()),
    st.builds(
        lambda start, length, part: VALID_TEXT[:start] + part + VALID_TEXT[start + length :],
        st.integers(0, len(VALID_TEXT)),
        st.integers(0, 20),
        FRAGMENTS | st.binary(max_size=4),
    ),
)


@MORE_STEADY
@given(data=TEXTS)
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


def holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


class Hostile:
    """An object none of whose answers can be had."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no answer")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __getitem__ = _refuse
    __eq__ = __lt__ = __contains__ = __deepcopy__ = _refuse
    __hash__ = object.__hash__


class Unnamed(type):
    """A class of classes that give no answer."""

    def _refuse(cls, *_: object) -> Any:
        raise RuntimeError("no answer")

    __eq__ = _refuse
    __hash__ = type.__hash__
    __name__ = property(_refuse)  # type: ignore[assignment]


class OfNoName(metaclass=Unnamed):
    """A value whose type cannot be asked."""


class Text(str):
    """A text that equals every other text."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Object(dict[str, Any]):
    """An object that has whatever it is asked for."""

    def __missing__(self, _key: str) -> str:
        return "sfo"


class Whole(int):
    """A number that calls itself whatever is wanted."""


STRANGE: dict[str, Callable[[], Any]] = {
    "a tuple": lambda: ("a",),
    "a set": lambda: {"a"},
    "bytes": lambda: b"{}",
    "an iterator": lambda: iter([{}]),
    "a type": lambda: dict,
    "a function": lambda: payload,
    "an exception": lambda: ValueError("a"),
    "an object whose answers raise": Hostile,
    "an object whose type raises": OfNoName,
    "a text that equals every text": lambda: Text("sfo"),
    "an object that has every key": Object,
    "a number of its own kind": lambda: Whole(4),
    "an object with a number as key": lambda: {1: {}},
    "an object with keys that do not sort": lambda: {1: {}, "a": {}, None: {}},
    "a list that holds itself": holding_itself,
    "thousands of levels": lambda: nested(5000),
    "an integer too long to print": lambda: 10**5000,
    "a complex number": lambda: 1j,
}
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


def placed(document: Any, value: Any, *path: str | int) -> Any:
    place = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_refused_wherever_it_stands(
    kind: str, place: str
) -> None:
    arguments = PLACES[place](STRANGE[kind]())

    assert isinstance(end(*arguments), ResultGateError)


def test_a_small_payload_that_stands_for_a_huge_one_is_refused() -> None:
    value: list[Any] = []
    for _ in range(20):
        value = [value] * 10

    assert isinstance(end(LOOKUP, payload(sku=value)), ResultGateError)
