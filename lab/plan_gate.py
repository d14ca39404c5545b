"""The plan gate: refuse an incomplete agent plan before any tool runs.

A plan that a model wrote is untrusted. It may execute only if every required field is present,
typed, and sourced from somewhere other than the model. The schema looks at the shape, the bindings
at where each argument comes from, the inventory at what each tool needs. The first stage that finds
a problem refuses the whole plan.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lab.inventory import validate_inventory
from lab.strict_json import NotStrictJson, load_json

### BEGIN SOLUTION
from collections.abc import Iterator  # isort: skip
from lab.grounding import stands_in  # isort: skip
from lab.plain_text import name_problem, shown_length, text_problem  # isort: skip
from lab.strict_json import same_json, structure_problem  # isort: skip

### STUB
### END SOLUTION

Plan = dict[str, Any]
Inventory = dict[str, Any]

# Beside this module, never in the current folder: a gate must not depend on where it is called.
SCHEMA_FILE = Path(__file__).with_name("agent_plan.schema.json")


class PlanRejected(ValueError):  # noqa: N818  the contract's name
    """A plan is refused. ``problems`` holds what the failing stage found, one text a problem."""

    def __init__(self, *problems: str) -> None:
        """Take the messages of one stage."""
        super().__init__("; ".join(problems))
        self.problems = problems


def load_plan(path: str | Path) -> Plan:
    """Read one plan; a text that is not strict JSON is refused here, before the gate."""
    try:
        plan: Plan = load_json(path)
    except NotStrictJson as error:
        raise PlanRejected(str(error)) from error
    return plan


def validate_schema(plan: Plan) -> list[str]:
    """Check the shape of a plan: sorted ``<path as a list>: <message>``, [] when it is valid."""
    ### BEGIN SOLUTION
    structure = structure_problem(plan)
    if structure:
        return [f"[]: {structure}"]
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    errors = validator.iter_errors(plan)
    problems = sorted(f"{list(error.absolute_path)}: {error.message}" for error in errors)
    return problems or sorted(_disguises(plan))
    ### STUB
    # # 1. Load SCHEMA_FILE and make a Draft202012Validator of it.
    # # 2. Return one text per error of iter_errors(plan): "<path as a list>: <message>", sorted.
    # return ["[]: validate_schema is not written yet"]
    ### END SOLUTION


def validate_bindings(plan: Plan) -> list[str]:
    """Check that every argument of a schema-valid plan equals a fact that its step refers to."""
    ### BEGIN SOLUTION
    problems = [*_ambiguous_facts(plan), *_repeated_ids(plan)]
    facts = {fact["id"]: fact for fact in plan["facts"]}
    for step in plan["steps"]:
        problems += [f"{step['id']} {text}" for text in _step_problems(step, facts)]
    return problems
    ### STUB
    # # facts = {fact["id"]: fact for ...}; then for each step: sourced = {key: value} of the
    # # facts in its fact_refs; then compare step["args"] with sourced, in both directions.
    # # Each problem begins with the step's id:
    # #   step_1 references missing fact fact_x
    # #   step_1 arg KEY has no sourced fact
    # #   step_1 arg KEY='acct_0000' does not match sourced 'acct_1044'
    # #   step_1 fact keys unused in args: ['KEY']
    # return ["validate_bindings is not written yet"]
    ### END SOLUTION


def gate_plan(
    plan: Plan, inventory: Inventory | None = None, evidence: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Accept a plan for a dry run, or raise ``PlanRejected`` with the first stage's problems.

    ``evidence`` is what the harness itself saw, ``{"user_messages": [text, ...]}``: a plan must not
    vouch for its own facts, so where evidence is given each user fact has to stand in it.
    """
    ### BEGIN SOLUTION
    _refuse_if(validate_schema(plan))
    _refuse_if(validate_bindings(plan))
    if inventory is not None:
        _refuse_if(validate_inventory(plan, inventory))
    if evidence is not None:
        _refuse_if(_unsaid_facts(plan, evidence))
    if plan["dry_run"] is not True:
        raise PlanRejected("dry_run is false: live execution is not allowed in this lab")
    return {
        "status": "dry_run_accepted",
        "tools": [step["tool"] for step in plan["steps"]],
        "fact_ids": [fact["id"] for fact in plan["facts"]],
    }
    ### STUB
    # # Four stages; the first one with problems raises PlanRejected(*problems), with the star:
    # #   validate_schema, validate_bindings, validate_inventory (where one is given), dry_run.
    # # A plan whose dry_run is not True is refused with a text that says: live execution
    # # Accept with {"status": "dry_run_accepted", "tools": [...], "fact_ids": [...]}:
    # # one tool per step, one id per fact. (evidence is for the hole hunt; leave it for now.)
    # raise PlanRejected("gate_plan is not written yet")
    ### END SOLUTION


### BEGIN SOLUTION
def _refuse_if(problems: list[str]) -> None:
    if problems:
        raise PlanRejected(*problems)


def _step_problems(step: Plan, facts: dict[str, Plan]) -> Iterator[str]:
    """Yield what is wrong with one step's references and arguments."""
    sourced: dict[str, list[Any]] = {}
    for reference in step["fact_refs"]:
        if reference in facts:
            sourced.setdefault(facts[reference]["key"], []).append(facts[reference]["value"])
        else:
            yield f"references missing fact {reference}"
    for key, value in step["args"].items():
        if key not in sourced:
            yield f"arg {key} has no sourced fact"
        elif not _matches(value, sourced[key]):
            shown = sourced[key] if isinstance(value, list) else sourced[key][0]
            yield f"arg {key}={value!r} does not match sourced {shown!r}"
    unused = sorted(sourced.keys() - step["args"].keys())
    if unused:
        yield f"fact keys unused in args: {unused}"


def _matches(value: Any, sourced: list[Any]) -> bool:
    """Compare an argument with its facts: a list takes one fact for each of its elements."""
    if isinstance(value, list):
        return same_json(value, sourced)
    return all(same_json(value, fact) for fact in sourced)


def _ambiguous_facts(plan: Plan) -> Iterator[str]:
    """Yield the fact ids that stand twice, and facts that give one key two values."""
    lists = {
        key for step in plan["steps"] for key, arg in step["args"].items() if type(arg) is list
    }
    by_id: dict[str, Plan] = {}
    by_key: dict[str, Plan] = {}
    for fact in plan["facts"]:
        if by_id.setdefault(fact["id"], fact) is not fact:
            yield f"fact id {fact['id']} stands twice"
        first = by_key.setdefault(fact["key"], fact)
        if fact["key"] not in lists and not same_json(first["value"], fact["value"]):
            yield f"facts {first['id']} and {fact['id']} disagree on {fact['key']}"


def _repeated_ids(plan: Plan) -> Iterator[str]:
    """Yield the step ids that stand twice: an error naming one of them would name nothing."""
    seen: set[str] = set()
    for step in plan["steps"]:
        if step["id"] in seen:
            yield f"step id {step['id']} stands twice"
        seen.add(step["id"])


def _disguises(plan: Plan) -> Iterator[str]:
    """Yield the texts of a plan that are not what a reviewer sees."""
    if shown_length(plan["goal"]) < 8:
        yield f"['goal']: {plan['goal']!r} shows fewer than 8 characters"
    names: list[tuple[list[str | int], str]] = []
    for index, fact in enumerate(plan["facts"]):
        names += [(["facts", index, field], fact[field]) for field in ("id", "key")]
        if type(fact["value"]) is str and (problem := text_problem(fact["value"])):
            yield f"['facts', {index}, 'value']: {problem}"
    for index, step in enumerate(plan["steps"]):
        names += [(["steps", index, field], step[field]) for field in ("id", "tool")]
        names += [(["steps", index, "fact_refs"], reference) for reference in step["fact_refs"]]
        names += [(["steps", index, "args"], key) for key in step["args"]]
    yield from (f"{path}: {problem}" for path, name in names if (problem := name_problem(name)))


def _unsaid_facts(plan: Plan, evidence: dict[str, Any]) -> list[str]:
    """List the user facts that stand in no message of the user."""
    messages = evidence.get("user_messages") if type(evidence) is dict else None
    if type(messages) is not list or not all(type(text) is str for text in messages):
        return ["evidence must be {'user_messages': [text, ...]}"]
    return [
        f"{fact['id']} {fact['key']}={fact['value']!r} stands in no user message"
        for fact in plan["facts"]
        if fact["source"] == "user" and not stands_in(fact["value"], messages)
    ]


### STUB
# # Your code here, where you want helpers of your own.
#
#
### END SOLUTION
def main(arguments: list[str] | None = None) -> int:
    """Gate one file: print the verdict as JSON, or say why it is refused and return 1."""
    parser = argparse.ArgumentParser(prog="python -m lab.plan_gate", description=main.__doc__)
    parser.add_argument("file", help="a plan, as JSON")
    parser.add_argument("--inventory", metavar="FILE", help="the tools the plan may use, as JSON")
    options = parser.parse_args(arguments)
    try:
        inventory = load_plan(options.inventory) if options.inventory else None
        verdict = gate_plan(load_plan(options.file), inventory)
    except PlanRejected as error:
        print(f"rejected: {error}", file=sys.stderr)
        return 1
    print(json.dumps(verdict, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
