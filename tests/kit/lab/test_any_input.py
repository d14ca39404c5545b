"""Whatever the gate is given, it ends in a verdict or in its own refusal."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.plan_gate import PlanRejected, gate_plan, load_plan
from lab.strict_json import NotStrictJson, parse_json, same_json
from tests.kit.lab.anything import (
    MORE_STEADY,
    SCALARS,
    STEADY,
    Anything,
    huge,
    placed,
    strange,
)
from tests.kit.lab.plans import inventory, notify_plan, valid_plan

SAID = {"user_messages": ["Please credit acct_1044."]}
ANY = Anything(
    "goal", "facts", "steps", "dry_run", "id", "key", "value", "source", "tool", "args", "tools",
    "fact_refs", "on_failure", "abort", "user", "system", "retrieved", "fact_account", "step_1",
    "account_id", "amount_usd", "acct_1044", "create_support_credit", "required_args", "type",
    "sources", "side_effects", "exclusiveMinimum", "number", "user_messages",
)  # fmt: skip


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
@given(plan=ANY.values)
def test_any_json_value_as_a_plan_ends_in_a_refusal(plan: Any) -> None:
    assert isinstance(end(plan), PlanRejected)


@STEADY
@given(tools=ANY.values)
def test_any_json_value_as_an_inventory_ends_in_a_verdict_or_a_refusal(tools: Any) -> None:
    ended = end(valid_plan(), tools)

    assert isinstance(ended, PlanRejected) == (tools is not None)


@STEADY
@given(evidence=ANY.values)
def test_any_json_value_as_evidence_ends_in_a_verdict_or_a_refusal(evidence: Any) -> None:
    ended = end(valid_plan(), None, evidence)

    assert isinstance(ended, PlanRejected) == (evidence is not None)


@STEADY
@given(messages=st.lists(st.text(max_size=30) | SCALARS | st.just("acct_1044"), max_size=4))
def test_any_messages_as_evidence_end_in_a_verdict_or_a_refusal(messages: list[Any]) -> None:
    end(valid_plan(), None, {"user_messages": messages})


# Changes of a good document


@MORE_STEADY
@given(plan=ANY.mutants(valid_plan, notify_plan))
def test_a_changed_plan_that_is_accepted_is_still_sourced(plan: Any) -> None:
    ended = end(plan)

    if not isinstance(ended, PlanRejected):
        assert unsourced(plan) == []
        assert ended["tools"] == [step["tool"] for step in plan["steps"]]
        assert ended["fact_ids"] == [fact["id"] for fact in plan["facts"]]


@STEADY
@given(plan=ANY.mutants(notify_plan))
def test_an_inventory_and_evidence_never_make_a_refused_plan_acceptable(plan: Any) -> None:
    alone = end(copy.deepcopy(plan))
    ended = end(plan, inventory(), SAID)

    if isinstance(alone, PlanRejected):
        assert isinstance(ended, PlanRejected)


@MORE_STEADY
@given(tools=ANY.mutants(inventory))
def test_a_changed_inventory_ends_in_a_verdict_or_a_refusal(tools: Any) -> None:
    end(notify_plan(), tools)


@STEADY
@given(
    plan=ANY.mutants(valid_plan) | st.builds(valid_plan),
    tools=ANY.mutants(inventory) | ANY.values,
    evidence=ANY.mutants(lambda: copy.deepcopy(SAID)) | ANY.values,
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


@MORE_STEADY
@given(data=ANY.texts(valid_plan()))
def test_any_bytes_are_loaded_or_refused_and_then_gated(data: bytes, file: Path) -> None:
    loaded = load(file, data)

    if not isinstance(loaded, PlanRejected):
        end(loaded)


@STEADY
@given(value=ANY.values)
def test_a_value_that_is_read_means_what_its_text_says(value: Any) -> None:
    try:
        read = parse_json(json.dumps(value).encode())
    except NotStrictJson:
        return

    assert same_json(read, value)


# What cannot be generated

STRANGE = strange("user", "acct_1044")
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


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_is_refused_wherever_it_stands(
    kind: str, place: str
) -> None:
    arguments = PLACES[place](STRANGE[kind]())

    assert isinstance(end(*arguments), PlanRejected)


def test_a_small_plan_that_stands_for_a_huge_one_is_refused() -> None:
    assert isinstance(end(placed(valid_plan(), huge(), "steps", 0, "args", "a")), PlanRejected)
