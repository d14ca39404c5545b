"""Whatever the checker is given as a plan, it gives a list of problems; the record never breaks."""

import copy
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab.plan_record
from lab.plan_policy import EFFECTS
from lab.plan_record import PlanRecord, PlanRecordError, check, needs_approval_by_effect
from lab.plan_resources import canonical, is_plain, names_in, protected_name
from lab.record_replay import replay
from tests.kit.lab.anything import MORE_STEADY, STEADY, Anything, strange
from tests.kit.lab.records import plan, policy, read, step

POLICY = policy()
NOW = "2026-04-01T09:00:00Z"
ANY = Anything(
    "goal", "steps", "n", "tool", "args", "effect", "targets", *EFFECTS, *POLICY["available_tools"],
    "table", "to", "path", "amount", "account", "ledger.charges", "staging.lines", "ledger",
    "calls", "write_plan", "now", "restart", "crash", "dry_run", "version_at", "record", NOW,
)  # fmt: skip


def expect_problems(document: Any) -> list[str]:
    """Check a plan: what comes out is a list of texts that can be printed."""
    problems = check(document, POLICY)
    assert type(problems) is list
    assert all(type(text) is str and text for text in problems)
    assert json.dumps(problems).encode()
    return problems


@STEADY
@given(document=ANY.values)
def test_any_json_value_as_a_plan_gives_problems(document: Any) -> None:
    assert expect_problems(document)


@STEADY
@given(owned=ANY.values)
def test_any_json_value_as_a_policy_is_refused(owned: Any) -> None:
    with pytest.raises(PlanRecordError):
        check(plan(), owned)


def varied_plan() -> dict[str, Any]:
    return plan(
        step(),
        step(
            n=2, tool="email.send", effect="external", args={"to": ["a@b.org"]}, targets=["a@b.org"]
        ),
        step(n=3, tool="fs.write", args={"path": "out/x"}, targets=["out/x"]),
        step(
            n=4,
            tool="credits.issue",
            effect="money",
            args={"account": "cust_1", "amount": 5},
            targets=["cust_1"],
        ),
    )


def unsafe(document: dict[str, Any]) -> list[str]:
    """List what an accepted plan must not hold; written without the checker's own parts."""
    found = []
    numbers = [step["n"] for step in document["steps"]]
    found += ["numbers"] if len(set(numbers)) != len(numbers) or not numbers else []
    for row in document["steps"]:
        tool = POLICY["tools"].get(row["tool"], {"effect": "money"})
        worst = max(EFFECTS.index(row["effect"]), EFFECTS.index(tool["effect"]))
        if EFFECTS.index(row["effect"]) < worst or row["tool"] not in POLICY["available_tools"]:
            found.append(f"label {row['n']}")
        if worst and not row.get("targets"):
            found.append(f"targets {row['n']}")
        for target in row.get("targets", []) if worst else []:
            if target.casefold().startswith(("ledger.", "billing.", "prod_")):
                found += [] if row["tool"] in ("fs.write", "email.send") else [f"target {target}"]
    return found


@MORE_STEADY
@given(document=ANY.mutants(varied_plan))
def test_a_changed_plan_that_is_clean_is_safe(document: Any) -> None:
    if expect_problems(document) == []:
        assert unsafe(document) == []


@STEADY
@given(owned=ANY.mutants(policy))
def test_a_changed_policy_ends_in_a_list_or_a_refusal(owned: Any) -> None:
    with suppress(PlanRecordError):
        assert type(check(varied_plan(), owned)) is list


def session() -> dict[str, Any]:
    bad = read("incident_plan.json")
    return {
        "calls": [
            {"write_plan": plan(), "now": NOW},
            {"write_plan": bad, "now": NOW},
            {"restart": True},
            {"crash": "{"},
            {"dry_run": NOW, "present": ["s3://tmp_exports/a"]},
            {"run_step": 1, "now": NOW},
            {"version_at": NOW},
            {"trace": True},
        ]
    }


@STEADY
@given(document=ANY.mutants(session))
def test_a_changed_session_ends_in_answers_or_a_refusal(document: Any) -> None:
    with suppress(PlanRecordError):
        replay(lab.plan_record, document, POLICY)


ROWS = [
    {"event": "plan", "at": NOW, "version": 1, "plan": plan()},
    {"event": "refused", "at": NOW},
    {
        "event": "step", "at": NOW, "version": 1, "n": 1, "tool": "warehouse.load",
        "status": "would_call", "problems": [], "snapshots": [],
    },
]  # fmt: skip


@STEADY
@given(rows=ANY.mutants(lambda: copy.deepcopy(ROWS)), tail=st.binary(max_size=6))
def test_any_lines_of_a_record_are_read_or_refused(rows: list[Any], tail: bytes) -> None:
    lines = [json.dumps(row).encode() for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        file.write_bytes(b"".join(line + b"\n" for line in lines) + tail)
        with suppress(PlanRecordError):
            record = PlanRecord(file, POLICY)
            record.write_plan(plan(), "2030-01-01T00:00:00+00:00")
            record.dry_run("2030-01-01T00:00:00+00:00")


@MORE_STEADY
@given(text=st.text(max_size=30) | st.text(alphabet='ledgr.*%/"`[]: \u0435\u200b,', max_size=20))
def test_any_text_can_be_read_as_names(text: str) -> None:
    prefixes = tuple(POLICY["protected"])
    name = protected_name(text, prefixes)

    assert name is None or name in map(str, names_in(text))
    if is_plain(text):
        assert canonical(text)
        assert len(names_in(text)) == 1


# What cannot be generated

STRANGE = strange("write", "staging.lines")
PLACES: dict[str, Callable[[Any], Any]] = {
    "plan": lambda v: v,
    "goal": lambda v: {**plan(), "goal": v},
    "steps": lambda v: {**plan(), "steps": v},
    "step": lambda v: {**plan(), "steps": [v]},
    "number": lambda v: plan(step(n=v)),
    "tool": lambda v: plan(step(tool=v)),
    "arguments": lambda v: plan(step(args=v)),
    "argument": lambda v: plan(step(args={"table": v})),
    "effect": lambda v: plan(step(effect=v)),
    "targets": lambda v: plan(step(targets=v)),
    "target": lambda v: plan(step(targets=[v])),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_a_problem_wherever_it_stands(
    kind: str, place: str
) -> None:
    document = PLACES[place](STRANGE[kind]())

    assert expect_problems(document)
    with pytest.raises(PlanRecordError):
        needs_approval_by_effect(document)


@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_policy_is_refused(kind: str) -> None:
    for owned in (STRANGE[kind](), {**policy(), "caps": STRANGE[kind]()}):
        with pytest.raises(PlanRecordError):
            check(plan(), owned)
