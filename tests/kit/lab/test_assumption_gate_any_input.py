"""Whatever the gate is given, it lets the call go or refuses it in its own words."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.assumption_gate import POINTER_REQUIRED, READ_TOOLS, TAGS, AssumptionGateError, load_ledger
from lab.strict_json import same_json
from tests.kit.lab.ledgers import claim, derived, ledger, read, said
from tests.kit.lab.plans import nested
from tests.kit.lab.test_any_input import (
    FRAGMENTS,
    JSON_VALUES,
    KEYS,
    MORE_STEADY,
    STEADY,
    STRANGE,
    placed,
)

WORDS = st.sampled_from([
    "assumed", "user", "retrieved", "derived", "observed", "user_message:0", "derive.f(ticket_id)",
    "tools.ticket.get:result.status", "ticket.update", "ticket.get", "fs.write", "shell.run",
    "ticket_id", "TCK-10419", "name", "value", "tag", "source_pointer", "required_for",
])  # fmt: skip
NAMES = ("ticket_update_two_sourced.json", "sla_bucket_derived.json", "ticket_get_reads.json",
         "ticket_update_assumed_assignee.json")  # fmt: skip


def unsourced(document: dict[str, Any]) -> list[str]:
    """List what the rule forbids in a call that may go; written without the gate's own parts."""
    claims = {row["name"]: row for row in document["claims"]}
    tool, args = document["pending_tool"]["name"], document["pending_tool"]["args"]
    problems = [
        name
        for name, row in claims.items()
        if row["tag"] in POINTER_REQUIRED and not row.get("source_pointer")
    ]
    tags = TAGS if tool in READ_TOOLS else POINTER_REQUIRED
    for name, value in args.items():
        known = name in claims and same_json(claims[name]["value"], value)
        if not known or claims[name]["tag"] not in tags:
            problems.append(name)
    return problems


@STEADY
@given(document=JSON_VALUES | WORDS)
def test_any_json_value_as_a_ledger_is_refused(document: Any) -> None:
    assert said(document)


@STEADY
@given(evidence=JSON_VALUES)
def test_any_json_value_as_evidence_ends_in_a_verdict(evidence: Any) -> None:
    assert bool(said(ledger(claim()), evidence)) == (evidence is not None)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list in a document, with each of its keys or indexes."""
    for key in list(document) if type(document) is dict else range(len(document)):
        yield document, key
        if type(document[key]) in (dict, list):
            yield from places(document[key])


@st.composite
def mutants(draw: st.DrawFn) -> Any:
    """Replace, delete or insert a value, once to three times, somewhere in a good ledger."""
    document = read(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            break
        place, key = draw(st.sampled_from(found))
        action = draw(st.sampled_from(["replace", "delete", "insert", "copy"]))
        value = draw(WORDS | JSON_VALUES)
        if action == "replace":
            place[key] = value
        elif action == "delete":
            del place[key]
        else:
            added = copy.deepcopy(place[key]) if action == "copy" else value
            if type(place) is dict:
                place[draw(KEYS | WORDS)] = added
            else:
                place.insert(key, added)
    return document


@MORE_STEADY
@given(document=mutants())
def test_a_changed_ledger_that_passes_is_still_sourced(document: Any) -> None:
    if not said(document):
        assert unsourced(document) == []


@MORE_STEADY
@given(document=mutants(), evidence=JSON_VALUES)
def test_evidence_never_makes_a_refused_call_acceptable(document: Any, evidence: Any) -> None:
    if said(document):
        assert said(document, evidence)


@MORE_STEADY
@given(
    edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=10),
    guesses=st.sets(st.integers(0, 6), max_size=2),
)
def test_any_web_of_derived_claims_ends_in_a_verdict(
    edges: list[tuple[int, int]], guesses: set[int]
) -> None:
    rows = {f"c{n}": claim(f"c{n}", "x") for n in range(7)}
    for start, end in edges:
        names = [*(to for begin, to in edges if begin == start), end]
        rows[f"c{start}"] = derived(f"c{start}", *(f"c{n}" for n in names))
    for number in guesses:
        rows[f"c{number}"].update(tag="assumed", source_pointer=None)

    text = said(ledger(*rows.values(), tool="x.y", args={"c0": "x"}))

    reached, pending = set(), ["c0"]
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            inputs = rows[name]["source_pointer"] or ""
            pending += [other for other in rows if "derive" in inputs and other in inputs]
    if any(rows[name]["tag"] == "assumed" for name in reached):
        assert text


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "ledger.json"


VALID_TEXT = json.dumps(read(NAMES[0])).encode()
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.lists(FRAGMENTS, max_size=6).map(b"".join),
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
        document = load_ledger(file)
    except AssumptionGateError as error:
        refusal = error
    else:
        said(document)
        return
    assert str(refusal).startswith("ledger.json: ")


PLACES: dict[str, Callable[[Any], Any]] = {
    "ledger": lambda v: v,
    "claims": lambda v: {**ledger(), "claims": v},
    "claim": lambda v: {**ledger(), "claims": [v]},
    "name": lambda v: {**ledger(), "claims": [claim(name=v)]},
    "value": lambda v: ledger(claim(value=v)),
    "tag": lambda v: ledger(claim(tag=v)),
    "pointer": lambda v: ledger(claim(source_pointer=v)),
    "required_for": lambda v: ledger(claim(required_for=v)),
    "required tool": lambda v: ledger(claim(required_for=[v])),
    "pending tool": lambda v: {**ledger(), "pending_tool": v},
    "tool": lambda v: ledger(claim(), tool=v),
    "arguments": lambda v: placed(ledger(claim()), v, "pending_tool", "args"),
    "argument": lambda v: placed(ledger(claim()), v, "pending_tool", "args", "ticket_id"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_refused_wherever_it_stands(
    kind: str, place: str
) -> None:
    assert said(PLACES[place](STRANGE[kind]()))


@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_no_evidence(kind: str) -> None:
    for evidence in (STRANGE[kind](), {"user_messages": STRANGE[kind]()}):
        assert said(ledger(claim()), evidence)
    assert said(ledger(claim()), {"user_messages": [STRANGE[kind]()]})


def test_a_deep_argument_is_refused() -> None:
    assert said(ledger(claim(value=nested(60))))
