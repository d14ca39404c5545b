"""The checks that you can see, one group for each block. They read your files; do not edit them.

The grader runs its own copy of this file. Your own tests belong into ``test_plan_gate.py``.
"""

import logging
from typing import Any

import pytest

from lab.outcomes import Fixtures, lab_module, stop

FIXTURES = Fixtures("plan_gate")
SCHEMA = "lab/agent_plan.schema.json"
# The tool card of notebook 1: JSON type, and who may supply the value.
CARD = {
    "account_id": ("string", ["user"]),
    "idempotency_key": ("string", ["system"]),
    "amount_usd": ("number", ["retrieved"]),
}


def sourced_plan() -> dict[str, Any]:
    """Give a fresh copy of valid_plan.json, or stop where it is not the plan it was."""
    plan = FIXTURES.read("valid_plan.json")
    try:
        plan["facts"][0]["source"], plan["steps"][0]["args"], plan["steps"][0]["on_failure"]
    except (TypeError, KeyError, IndexError):
        stop(f"valid_plan.json is not what it was. {FIXTURES.get_back('valid_plan.json')}")
    return plan


# What to look at when a plan gets past a stage, or breaks it.
PLAN = ("goal", "facts", "steps", "dry_run")
FACT = ("id", "key", "value", "source")
STEP = ("id", "tool", "args", "fact_refs", "on_failure")
STAGES = {
    "schema": "Does gate_plan call validate_schema first, and raise on what it returns?",
    "bindings": "Does gate_plan call validate_bindings, and raise on what it returns?",
    "inventory": "Does gate_plan call validate_inventory where it is given an inventory?",
    "dry_run": "Does gate_plan end by refusing a plan whose dry_run is not True?",
}


def refusal(plan: Any, name: str, stage: str, inventory: Any = None) -> Any:
    """Give the gate's refusal of a plan, or stop with what happened in its place."""
    module = lab_module("plan_gate")
    try:
        module.gate_plan(plan, inventory)
    except module.PlanRejected as error:
        return error
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        stop(f"gate_plan raises {raised} for {name}, not PlanRejected. {STAGES[stage]}")
    stop(f"gate_plan accepts {name}. {STAGES[stage]}")


def accepted(plan: Any, name: str, inventory: Any = None) -> Any:
    """Give the gate's verdict on a plan that it accepts, or stop with the refusal."""
    module = lab_module("plan_gate")
    try:
        return module.gate_plan(plan, inventory)
    except module.PlanRejected as error:
        stop(f"gate_plan refuses {name}: {error}")
    except Exception as error:
        stop(f"gate_plan crashes on {name} with {type(error).__name__}: {error}")


def expect_named(error: Any, name: str, *parts: str) -> None:
    missing = [part for part in parts if part not in str(error)]
    if missing:
        stop(f"The refusal of {name} does not name {' and '.join(missing)}: {error}")


def expect_schema_refusal(plan: Any, what: str) -> None:
    if FIXTURES.schema_errors(SCHEMA, sourced_plan()):
        stop("Your schema refuses valid_plan.json, so its other refusals say nothing yet.")
    if not FIXTURES.schema_errors(SCHEMA, plan):
        stop(f"Your schema accepts valid_plan.json {what}.")


# Block 0: inventory


def credit_tool() -> dict[str, Any]:
    inventory = FIXTURES.read("inventory.json")
    tools = inventory.get("tools") if isinstance(inventory, dict) else None
    tool = tools.get("create_support_credit") if isinstance(tools, dict) else None
    if not isinstance(tool, dict):
        stop("inventory.json has no tool create_support_credit.")
    return tool


def test_the_inventory_has_the_form_that_the_gate_reads() -> None:
    """inventory.json fits lab/inventory.schema.json: tools, required_args, type, sources."""
    problems = lab_module("inventory").inventory_problems(FIXTURES.read("inventory.json"))
    if problems:
        stop(f"inventory.json does not have its form yet: {problems[0]}")


def test_the_inventory_names_the_credit_tool() -> None:
    """inventory.json lists create_support_credit under tools."""
    assert credit_tool()


def test_the_inventory_names_each_argument_that_must_not_be_guessed() -> None:
    """required_args has account_id, idempotency_key, amount_usd, each as the card has it."""
    arguments = credit_tool().get("required_args")
    for name, (kind, sources) in CARD.items():
        rule = arguments.get(name) if isinstance(arguments, dict) else None
        if not isinstance(rule, dict):
            stop(f"required_args does not name {name}.")
        if rule.get("type") != kind:
            stop(f"The type of {name} is {rule.get('type')!r}. The tool card says another.")
        if rule.get("sources") != sources:
            stop(f"The sources of {name} are {rule.get('sources')}. The tool card says others.")


def test_the_inventory_lists_what_survives_a_crash() -> None:
    """side_effects lists at least two things that are still there after the process has died."""
    effects = credit_tool().get("side_effects")
    number = len(effects) if isinstance(effects, list) else 0
    if number < 2:
        stop(f"side_effects lists {number} things. The tool card names two.")


# Block 1: contract


def test_the_schema_is_a_valid_schema() -> None:
    """agent_plan.schema.json is itself a draft 2020-12 schema, titled AgentPlan."""
    FIXTURES.expect_schema(SCHEMA, "AgentPlan")


def test_the_schema_accepts_the_sourced_plan() -> None:
    """The schema has nothing to say about valid_plan.json."""
    errors = FIXTURES.schema_errors(SCHEMA, FIXTURES.read("valid_plan.json"))
    if errors:
        stop(f"Your schema refuses valid_plan.json: {errors[0]}")


def test_the_schema_refuses_a_plan_without_dry_run() -> None:
    """dry_run is required, so that a missing flag cannot mean live."""
    plan = sourced_plan()
    plan.pop("dry_run", None)
    expect_schema_refusal(plan, "without its dry_run")


def test_the_schema_refuses_a_fact_from_the_model() -> None:
    """A fact's source is user, system or retrieved, and never model."""
    plan = sourced_plan()
    plan["facts"][0]["source"] = "model"
    expect_schema_refusal(plan, "with a fact whose source is model")


def test_the_schema_refuses_anything_but_abort() -> None:
    """on_failure is only abort, so that no retry hides in a plan."""
    plan = sourced_plan()
    plan["steps"][0]["on_failure"] = "retry"
    expect_schema_refusal(plan, "with on_failure set to retry")


def test_the_schema_refuses_a_key_that_nobody_named() -> None:
    """Plan, fact and step have additionalProperties false."""
    for place in ("plan", "fact", "step"):
        plan = sourced_plan()
        {"plan": plan, "fact": plan["facts"][0], "step": plan["steps"][0]}[place]["confidence"] = (
            0.9
        )
        expect_schema_refusal(plan, f"with an extra key in the {place}")


def test_the_schema_requires_every_field_of_the_table() -> None:
    """Plan, fact and step list all of their fields under required."""
    for place in ("plan", "fact", "step"):
        for field in {"plan": PLAN, "fact": FACT, "step": STEP}[place]:
            plan = sourced_plan()
            {"plan": plan, "fact": plan["facts"][0], "step": plan["steps"][0]}[place].pop(field)
            expect_schema_refusal(plan, f"without {field} in the {place}")


def test_the_schema_types_every_field_of_the_table() -> None:
    """Each field has its type: a null is refused wherever it stands."""
    for place in ("plan", "fact", "step"):
        for field in {"plan": PLAN, "fact": FACT, "step": STEP}[place]:
            plan = sourced_plan()
            {"plan": plan, "fact": plan["facts"][0], "step": plan["steps"][0]}[place][field] = None
            expect_schema_refusal(plan, f"with null for {field} in the {place}")


# Block 2: validator


def invented_plan() -> dict[str, Any]:
    plan = sourced_plan()
    plan["steps"][0]["args"]["account_id"] = "acct_0000"
    return plan


def test_the_gate_accepts_the_sourced_plan() -> None:
    """gate_plan returns status, tools and fact_ids for valid_plan.json."""
    wanted = {
        "status": "dry_run_accepted",
        "tools": ["create_support_credit"],
        "fact_ids": ["fact_account", "fact_key", "fact_amount"],
    }
    verdict = accepted(sourced_plan(), "valid_plan.json")
    if verdict != wanted:
        stop(f"gate_plan returns {verdict} for valid_plan.json, not {wanted}.")


def test_the_gate_refuses_an_invented_account_and_names_it() -> None:
    """gate_plan refuses an account id that no fact supplies, and names step_1 and account_id."""
    name = "a plan whose account_id equals no fact"
    expect_named(refusal(invented_plan(), name, "bindings"), name, "step_1", "account_id")


def test_the_gate_refuses_the_live_flag() -> None:
    """gate_plan refuses a plan whose dry_run is false, and says live execution."""
    plan = sourced_plan()
    plan["dry_run"] = False
    name = "a plan whose dry_run is false"
    expect_named(refusal(plan, name, "dry_run"), name, "live execution")


def test_a_plan_without_facts_is_a_schema_rejection() -> None:
    """Without facts a plan is refused by the schema stage, and the text names facts."""
    plan = sourced_plan()
    plan.pop("facts", None)
    name = "a plan without facts"
    expect_named(refusal(plan, name, "schema"), name, "facts")


def test_each_binding_problem_has_its_message() -> None:
    """A missing fact, an argument without a fact, and an unused fact are named word for word."""
    step = sourced_plan()["steps"][0]
    changes = {
        "step_1 references missing fact fact_memo": {
            "fact_refs": [*step["fact_refs"], "fact_memo"]
        },
        "step_1 arg memo has no sourced fact": {"args": {**step["args"], "memo": "sorry"}},
        "step_1 fact keys unused in args: ['amount_usd']": {
            "args": {key: step["args"][key] for key in ("account_id", "idempotency_key")}
        },
    }
    for message, change in changes.items():
        plan = sourced_plan()
        plan["steps"][0].update(change)
        error = refusal(plan, f"a plan that has the problem “{message}”", "bindings")
        if message not in str(error):
            stop(f"The refusal does not say “{message}”: {error}")


def test_the_inventory_stage_is_run() -> None:
    """With an inventory, gate_plan refuses a plan that lacks a required argument."""
    plan = sourced_plan()
    del plan["steps"][0]["args"]["idempotency_key"]
    plan["steps"][0]["fact_refs"].remove("fact_key")
    rules = {key: {"type": kind, "sources": sources} for key, (kind, sources) in CARD.items()}
    tools = {"create_support_credit": {"required_args": rules, "side_effects": []}}
    name = "a plan without idempotency_key, with an inventory that requires it"
    expect_named(refusal(plan, name, "inventory", {"tools": tools}), name, "idempotency_key")


def test_a_refusal_keeps_its_problems_apart() -> None:
    """PlanRejected.problems has one text for each problem; the error's text joins them by "; "."""
    plan = invented_plan()
    plan["steps"][0]["args"]["amount_usd"] = 99
    error = refusal(plan, "a plan with two values that equal no fact", "bindings")
    problems = tuple(getattr(error, "problems", ()))
    if len(problems) != 2 or str(error) != "; ".join(problems):
        stop(f"A plan with two problems has problems={problems!r} and the text {str(error)!r}.")


def test_a_refused_plan_leaves_no_tool_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """The dry run logs the tools of an accepted plan, and not one of a refused plan."""
    refusal(invented_plan(), "a plan whose account_id equals no fact", "bindings")
    accepted(sourced_plan(), "valid_plan.json")
    dry_run = lab_module("dry_run").dry_run
    caplog.set_level(logging.INFO)
    with pytest.raises(lab_module("plan_gate").PlanRejected):
        dry_run(invented_plan())
    if caplog.records:
        stop(f"A refused plan left a log line: {caplog.records[0].getMessage()}")
    if dry_run(sourced_plan()) != ["create_support_credit"] or len(caplog.records) != 1:
        stop("The dry run of valid_plan.json does not log one line for create_support_credit.")


# Block 3: tests


def test_the_assumed_plan_differs_only_in_the_account_of_its_step() -> None:
    """assumed_plan.json and valid_plan.json differ in args.account_id, and in no fact."""
    FIXTURES.expect_differences("assumed_plan.json", "valid_plan.json", "/steps/0/args/account_id")


def test_the_live_plan_differs_only_in_its_flag() -> None:
    """live_plan.json and valid_plan.json differ in dry_run, and nowhere else."""
    FIXTURES.expect_differences("live_plan.json", "valid_plan.json", "/dry_run")


# Block 4: break it on purpose


def test_the_rounded_credit_is_refused_by_your_gate() -> None:
    """Your gate refuses rounded_credit_plan.json and names step_1 and amount_usd."""
    name = "rounded_credit_plan.json"
    expect_named(refusal(FIXTURES.read(name), name, "bindings"), name, "step_1", "amount_usd")


def test_the_notification_with_a_sourced_address_is_accepted_by_your_gate() -> None:
    """Your gate, with your inventory, accepts notify_plan.json and its two tools."""
    verdict = accepted(
        FIXTURES.read("notify_plan.json"), "notify_plan.json", FIXTURES.read("inventory.json")
    )
    tools = verdict.get("tools") if isinstance(verdict, dict) else None
    if tools != ["create_support_credit", "notify_account_email"]:
        stop(f"notify_plan.json does not have the two tools: {verdict}")


def test_the_notification_without_an_address_is_refused_by_your_gate() -> None:
    """Your gate, with your inventory, refuses notify_without_email_plan.json and names email."""
    name = "notify_without_email_plan.json"
    error = refusal(FIXTURES.read(name), name, "inventory", FIXTURES.read("inventory.json"))
    expect_named(error, name, "missing required arg email")


def test_the_reject_strings_are_in_the_lab_notes() -> None:
    """lab_notes.json holds what your gate said to the two refused plans of this block."""
    notes = FIXTURES.read("lab_notes.json")
    for name in ("rounded_credit_plan.json", "notify_without_email_plan.json"):
        said = notes.get(name) if isinstance(notes, dict) else None
        text = str(refusal(FIXTURES.read(name), name, "inventory", FIXTURES.read("inventory.json")))
        if not isinstance(said, str) or said.strip() not in text or not said.strip():
            stop(f"lab_notes.json does not hold, under {name}, what your gate says: {text}")


# Block 5: debrief


def test_every_row_of_the_limits_is_decided() -> None:
    """Each row of limits.json says "refuses" or "passes" under gate."""
    FIXTURES.expect_words("limits.json", "gate", ("refuses", "passes"))


def test_your_gate_accepts_a_plan_that_is_wrong() -> None:
    """Your gate accepts accepted_but_wrong_plan.json, which credits another account."""
    name = "accepted_but_wrong_plan.json"
    plan = FIXTURES.read(name)
    FIXTURES.expect_differences(
        name, "valid_plan.json", "/facts/0/value", "/steps/0/args/account_id"
    )
    accepted(plan, name)
