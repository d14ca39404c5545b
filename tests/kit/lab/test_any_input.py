"""Whatever the gate is given, it ends in a verdict or in its own refusal.

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

from lab.plan_gate import PlanRejected, gate_plan, load_plan
from lab.strict_json import NotStrictJson, parse_json, same_json
from tests.kit.lab.plans import inventory, nested, notify_plan, valid_plan

# The same examples in every run, and nothing is kept between runs.
STEADY = settings(deadline=None, derandomize=True, database=None, max_examples=150)
SAID = {"user_messages": ["Please credit acct_1044."]}

# Values

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 15, 2**53 + 1, 10**399, 10**400, -(10**400), 10**4000]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324]),
    st.text(alphabet=st.characters(), max_size=8),
    st.sampled_from(["\ud800", "a\udfff", "\u200b", "\u202eb", "\u0430", "\uff11", "", " ", "\n"]),
)
# Words of the contract, so that a generated document gets past the first check now and then.
WORDS = st.sampled_from([
    "goal", "facts", "steps", "dry_run", "id", "key", "value", "source", "tool", "args", "tools",
    "fact_refs", "on_failure", "abort", "user", "system", "retrieved", "fact_account", "step_1",
    "account_id", "amount_usd", "acct_1044", "create_support_credit", "required_args", "type",
    "sources", "side_effects", "exclusiveMinimum", "number", "user_messages",
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


def end(plan: Any, *more: Any) -> dict[str, Any] | PlanRejected:
    """Give the verdict or the refusal, whose form is checked; any other exception goes through."""
    try:
        verdict = gate_plan(plan, *more)
    except PlanRejected as error:
        refusal = error
    else:
        assert list(verdict) == ["status", "tools", "fact_ids"]
        assert verdict["status"] == "dry_run_accepted"
        return verdict
    assert refusal.problems
    assert all(type(problem) is str and problem for problem in refusal.problems)
    assert str(refusal) == "; ".join(refusal.problems)
    return refusal


def unsourced(plan: dict[str, Any]) -> list[str]:
    """List what the rule forbids in an accepted plan; written without the gate's own parts."""
    problems = [] if plan["dry_run"] is True else ["live"]
    problems += [
        f["id"] for f in plan["facts"] if f["source"] not in ("user", "system", "retrieved")
    ]
    facts = {fact["id"]: fact for fact in plan["facts"]}
    for step in plan["steps"]:
        known = [facts[name] for name in step["fact_refs"]]
        for key, value in step["args"].items():
            elements = value if type(value) is list else [value]
            values = [fact["value"] for fact in known if fact["key"] == key]
            problems += [
                f"{step['id']} {key}"
                for element in elements
                if not any(same_json(element, value) for value in values)
            ]
    return problems


@STEADY
@given(plan=JSON_VALUES)
def test_any_json_value_as_a_plan_ends_in_a_refusal(plan: Any) -> None:
    assert isinstance(end(plan), PlanRejected)


@STEADY
@given(tools=JSON_VALUES)
def test_any_json_value_as_an_inventory_ends_in_a_verdict_or_a_refusal(tools: Any) -> None:
    ended = end(valid_plan(), tools)

    assert isinstance(ended, PlanRejected) == (tools is not None)


@STEADY
@given(evidence=JSON_VALUES)
def test_any_json_value_as_evidence_ends_in_a_verdict_or_a_refusal(evidence: Any) -> None:
    ended = end(valid_plan(), None, evidence)

    assert isinstance(ended, PlanRejected) == (evidence is not None)


@STEADY
@given(messages=st.lists(st.text(max_size=30) | SCALARS | st.just("acct_1044"), max_size=4))
def test_any_messages_as_evidence_end_in_a_verdict_or_a_refusal(messages: list[Any]) -> None:
    end(valid_plan(), None, {"user_messages": messages})


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
        action = draw(st.sampled_from(["replace", "delete", "insert", "copy"]))
        value = draw(JSON_VALUES)
        if action == "replace":
            place[key] = value
        elif action == "delete":
            del place[key]
        elif type(place) is dict:
            place[draw(KEYS)] = copy.deepcopy(place[key]) if action == "copy" else value
        else:
            place.insert(key, copy.deepcopy(place[key]) if action == "copy" else value)
    return document


MORE_STEADY = settings(STEADY, max_examples=300)


@MORE_STEADY
@given(plan=mutants(valid_plan) | mutants(notify_plan))
def test_a_changed_plan_that_is_accepted_is_still_sourced(plan: Any) -> None:
    ended = end(plan)

    if not isinstance(ended, PlanRejected):
        assert unsourced(plan) == []
        assert ended["tools"] == [step["tool"] for step in plan["steps"]]
        assert ended["fact_ids"] == [fact["id"] for fact in plan["facts"]]


@STEADY
@given(plan=mutants(notify_plan))
def test_an_inventory_and_evidence_never_make_a_refused_plan_acceptable(plan: Any) -> None:
    alone = end(copy.deepcopy(plan))
    ended = end(plan, inventory(), SAID)

    if isinstance(alone, PlanRejected):
        assert isinstance(ended, PlanRejected)


@MORE_STEADY
@given(tools=mutants(inventory))
def test_a_changed_inventory_ends_in_a_verdict_or_a_refusal(tools: Any) -> None:
    end(notify_plan(), tools)


@STEADY
@given(
    plan=mutants(valid_plan) | st.builds(valid_plan),
    tools=mutants(inventory) | JSON_VALUES,
    evidence=mutants(lambda: copy.deepcopy(SAID)) | JSON_VALUES,
)
def test_any_three_inputs_end_in_a_verdict_or_a_refusal(
    plan: Any, tools: Any, evidence: Any
) -> None:
    end(plan, tools, evidence)


@st.composite
def renumbered(draw: st.DrawFn) -> Any:
    """Give an argument and its fact values of their own, often equal to Python and not to JSON."""
    plan = valid_plan()
    near = [1, 1.0, True, "1", [1], [True], 0, False, -0.0, "", 15, 15.0, "15", [15]]
    plan["facts"][2]["value"] = draw(st.sampled_from(near))
    plan["steps"][0]["args"]["amount_usd"] = draw(st.sampled_from(near))
    return plan


@MORE_STEADY
@given(plan=renumbered())
def test_an_argument_that_only_python_calls_equal_to_its_fact_is_refused(plan: Any) -> None:
    ended = end(plan)

    if not isinstance(ended, PlanRejected):
        assert unsourced(plan) == []


# Texts


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "plan.json"


def load(path: Path, data: bytes) -> Any:
    """Give what the text holds, or the refusal; any other exception goes through."""
    path.write_bytes(data)
    try:
        return load_plan(path)
    except PlanRejected as error:
        refusal = error
    assert len(refusal.problems) == 1
    assert str(refusal).startswith("plan.json: ")
    return refusal


VALID_TEXT = json.dumps(valid_plan()).encode()
FRAGMENTS = st.sampled_from([
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\ud800", b"\\u0000", b"NaN", b"-Infinity",
    b"1e400", b"1e-400", b"9" * 5000, b"0.1" + b"0" * 400 + b"1", b"\xff", b"\xed\xa0\x80", b"\0",
    b"\xef\xbb\xbf", b"[" * 3000, b'{"a":' * 3000, b"null", b"tru", b"-", b"00", b"1E", b"\n",
    b"//", b"1e-99999999999999999999", b"0e99999999999999999999", b'"goal":',
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
    loaded = load(file, data)

    if not isinstance(loaded, PlanRejected):
        end(loaded)


@STEADY
@given(value=JSON_VALUES)
def test_a_value_that_is_read_means_what_its_text_says(value: Any) -> None:
    try:
        read = parse_json(json.dumps(value).encode())
    except NotStrictJson:
        return

    assert same_json(read, value)


# What cannot be generated


def holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def object_holding_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["tools"] = value
    return value


class Hostile:
    """An object none of whose answers can be had."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no answer")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __getitem__ = _refuse
    __eq__ = __lt__ = __contains__ = _refuse
    __hash__ = object.__hash__


class Text(str):
    """A text that equals every other text."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Object(dict[str, Any]):
    """An object that has whatever it is asked for."""

    def __missing__(self, _key: str) -> str:
        return "acct_1044"


STRANGE: dict[str, Callable[[], Any]] = {
    "a tuple": lambda: ("a",),
    "a set": lambda: {"a"},
    "bytes": lambda: b"{}",
    "an iterator": lambda: iter([{}]),
    "a type": lambda: dict,
    "a function": lambda: valid_plan,
    "an exception": lambda: ValueError("a"),
    "an object whose answers raise": Hostile,
    "a text that equals every text": lambda: Text("user"),
    "an object that has every key": Object,
    "an object with a number as key": lambda: {1: {}},
    "an object with nothing as key": lambda: {None: {}},
    "an object with a tuple as key": lambda: {("a",): {}},
    "an object with keys that do not sort": lambda: {1: {}, "a": {}, None: {}},
    "a list that holds itself": holding_itself,
    "two lists that hold themselves": lambda: [holding_itself(), holding_itself()],
    "an object that holds itself": object_holding_itself,
    "thousands of levels": lambda: nested(5000),
    "an integer too long to print": lambda: 10**5000,
    "a complex number": lambda: 1j,
}
TOOL = ("tools", "create_support_credit")
AMOUNT = (*TOOL, "required_args", "amount_usd")
PLACES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "plan": lambda v: (v,),
    "goal": lambda v: ({**valid_plan(), "goal": v},),
    "facts": lambda v: ({**valid_plan(), "facts": v},),
    "fact": lambda v: ({**valid_plan(), "facts": [v]},),
    "value": lambda v: (placed(valid_plan(), v, "facts", 0, "value"),),
    "source": lambda v: (placed(valid_plan(), v, "facts", 0, "source"),),
    "arguments": lambda v: (placed(valid_plan(), v, "steps", 0, "args"),),
    "argument": lambda v: (placed(valid_plan(), v, "steps", 0, "args", "account_id"),),
    "references": lambda v: (placed(valid_plan(), v, "steps", 0, "fact_refs"),),
    "reference": lambda v: (placed(valid_plan(), v, "steps", 0, "fact_refs", 0),),
    "inventory": lambda v: (valid_plan(), v),
    "tools": lambda v: (valid_plan(), {"tools": v}),
    "tool": lambda v: (valid_plan(), placed(inventory(), v, *TOOL)),
    "rules": lambda v: (valid_plan(), placed(inventory(), v, *TOOL, "required_args")),
    "type": lambda v: (valid_plan(), placed(inventory(), v, *AMOUNT, "type")),
    "sources": lambda v: (valid_plan(), placed(inventory(), v, *AMOUNT, "sources")),
    "minimum": lambda v: (valid_plan(), placed(inventory(), v, *AMOUNT, "exclusiveMinimum")),
    "side effects": lambda v: (valid_plan(), placed(inventory(), v, *TOOL, "side_effects")),
    "evidence": lambda v: (valid_plan(), None, v),
    "messages": lambda v: (valid_plan(), None, {"user_messages": v}),
    "message": lambda v: (valid_plan(), None, {"user_messages": [v]}),
}


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

    assert isinstance(end(*arguments), PlanRejected)


def test_a_small_plan_that_stands_for_a_huge_one_is_refused() -> None:
    value: list[Any] = []
    for _ in range(20):
        value = [value] * 10

    assert isinstance(end(placed(valid_plan(), value, "steps", 0, "args", "a")), PlanRejected)
