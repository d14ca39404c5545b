"""Whatever the gate is given, it lets the call go or refuses it in its own words."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.assumption_gate import POINTER_REQUIRED, READ_TOOLS, TAGS, AssumptionGateError, load_ledger
from lab.strict_json import same_json
from tests.kit.lab.anything import MORE_STEADY, STEADY, Anything, nested, placed, strange
from tests.kit.lab.ledgers import claim, derived, ledger, read, said

ANY = Anything(
    "run_id", "claims", "pending_tool", "args", "name", "value", "tag", "source_pointer",
    "required_for", "assumed", "user", "retrieved", "derived", "observed", "user_message:0",
    "derive.f(ticket_id)", "tools.ticket.get:result.status", "ticket.update", "ticket.get",
    "fs.write", "shell.run", "ticket_id", "TCK-10419", "user_messages", "tool", "tools", "id",
    "key", "source", "system", "type",
)  # fmt: skip
NAMES = ("ticket_update_two_sourced.json", "sla_bucket_derived.json", "ticket_get_reads.json",
         "ticket_update_assumed_assignee.json")  # fmt: skip
CHANGED = ANY.mutants(*(partial(read, name) for name in NAMES))


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
@given(document=ANY.values)
def test_any_json_value_as_a_ledger_is_refused(document: Any) -> None:
    assert said(document)


@STEADY
@given(evidence=ANY.values)
def test_any_json_value_as_evidence_ends_in_a_verdict(evidence: Any) -> None:
    assert bool(said(ledger(claim()), evidence)) == (evidence is not None)


@MORE_STEADY
@given(document=CHANGED)
def test_a_changed_ledger_that_passes_is_still_sourced(document: Any) -> None:
    if not said(document):
        assert unsourced(document) == []


@MORE_STEADY
@given(document=CHANGED, evidence=ANY.values)
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


@MORE_STEADY
@given(data=ANY.texts(read(NAMES[0])))
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


STRANGE = strange("user", "acct_1044")
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
