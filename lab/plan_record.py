"""The plan record: a plan is refused, or stored under a version, before the model's next turn.

``check`` compares the terms of a plan with what the harness owns. ``PlanRecord.write_plan`` is the
handler that the model calls with a plan; it owns the moment of writing.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.plan_policy import Policy, PolicyError
from lab.plan_rules import plan_problems, shape_problems, snapshots
from lab.record_file import ATTEMPTS, PlanRecordError, RecordFile
from lab.strict_json import NotStrictJson, load_json

### BEGIN SOLUTION
from collections.abc import Iterator  # isort: skip
from lab.plan_policy import is_milder, worst_effect  # isort: skip
from lab.plan_resources import canonical, protected_targets  # isort: skip
from lab.plan_rules import finer_problems  # isort: skip

### STUB
# from lab.plan_policy import is_milder  # isort: skip
# from lab.plan_resources import canonical, protected_targets  # isort: skip
# from lab.plan_rules import finer_problems  # isort: skip
### END SOLUTION

Plan = dict[str, Any]

# Beside this module, never in the current folder: a gate must not depend on where it is called.
SCHEMA_FILE = Path(__file__).with_name("plan_record.schema.json")
STORED_PROBLEMS = 20


def load_plan(path: str | Path) -> Any:
    """Read one plan; raise ``PlanRecordError`` for a text that is not strict JSON."""
    try:
        return load_json(path)
    except NotStrictJson as error:
        raise PlanRecordError(str(error)) from error


def check(plan: Any, policy: Policy | dict[str, Any]) -> list[str]:
    """List what is wrong with a plan, [] when it is clean; the plan may be any value whatever.

    Nothing that is compared comes from the plan alone. A resource with a lifetime is no problem:
    ``PlanRecord.snapshots`` reports it. Raises ``PlanRecordError`` only where the policy cannot be
    used, which is no fault of the plan.
    """
    owned = own_policy(policy)
    problems = shape_problems(plan, SCHEMA_FILE)
    if problems:
        return problems
    problems = plan_problems(plan)
    ### BEGIN SOLUTION
    for step in plan["steps"]:
        problems += [f"step {step['n']}: {text}" for text in _step_problems(step, owned)]
    return problems
    ### STUB
    # # For each step of plan["steps"], add one text for each thing that is wrong. Each begins with
    # # the step's number: "step 3: ". What the harness owns is in `owned`, never in the plan.
    # #   1. The tool is not in owned.available_tools:    no such tool 'notify_customer'
    # #      (go on with the next step then: nothing else is known about this one)
    # #   2. owned.is_destructive(tool), declared read:   warehouse.truncate declared as read
    # #      else is_milder(declared, owned.effect_of(tool)):
    # #                                        credits.issue is money, declared as read
    # #   3. The step is not declared a read; for each name in protected_targets(step, owned):
    # #                                        writes to protected target ledger.charges
    # #   4. The step is not declared a read, and step.get("targets") is missing or empty:
    # #                                        warehouse.truncate names no targets
    # #   5. Each text in finer_problems(step, owned), with the step's number in front, too: caps,
    # #      bounds, paths, arguments.                 refunds.pay has no cap in the policy
    # return [*problems, "check is not written yet"]
    ### END SOLUTION


class PlanRecord(RecordFile):
    """One task's plans, under version numbers, in a file of their own.

    ``RecordFile`` keeps them: ``versions``, ``revisions``, ``trace``, ``version_at``, ``plan_at``.
    """

    def __init__(self, file: str | Path, policy: Policy | dict[str, Any]) -> None:
        """Open a record, or begin one; raise ``PlanRecordError`` for a broken file or policy."""
        super().__init__(file)
        self.policy = own_policy(policy)

    def write_plan(self, plan: Any, now: str) -> dict[str, Any]:
        """Check a plan and store it, or refuse it: all before the model's next turn.

        ``now`` is ISO 8601 with its zone. The answer is short: accepted with the version; refused
        with the problems; handed back, once ATTEMPTS plans in a row were refused.
        """
        ### BEGIN SOLUTION
        if self.refusals >= ATTEMPTS:
            return self.hand_back(now)
        problems = check(plan, self.policy)
        if problems:
            self.add_refusal(now)
            left = ATTEMPTS - self.refusals
            return {"status": "refused", "problems": problems, "attempts_left": left}
        return {"status": "accepted", "version": self.add_plan(plan, now)}
        ### STUB
        # # 1. self.refusals counts the plans in a row that were refused. Once there are ATTEMPTS,
        # #    look at no further plan, however good: return self.hand_back(now).
        # # 2. check(plan, self.policy). With problems: self.add_refusal(now), store nothing else,
        # #    return {"status": "refused", "problems": [...], "attempts_left": ...}: 1, then 0.
        # # 3. Clean: version = self.add_plan(plan, now) stores it and gives its number.
        # #    Return {"status": "accepted", "version": version}.
        # problems = ["write_plan is not written yet"]
        # return {"status": "refused", "problems": problems, "attempts_left": 0}
        ### END SOLUTION

    @property
    def snapshots(self) -> list[str]:
        """Report what the plan in force takes for granted only until it is deleted."""
        steps = self.versions[-1]["plan"]["steps"] if self.versions else []
        return [
            f"step {step['n']}: {name} is a snapshot, deleted after {hours:g} hours: it was true "
            "when checked, and is checked again at the step"
            for step in steps
            for name, hours in snapshots(step, self.policy).items()
        ]

    def dry_run(self, now: str, present: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Go through the plan in force, calling nothing, up to the first step that must not run.

        ``present`` is what the harness sees there now of the resources that have a lifetime.
        """
        rows: list[dict[str, Any]] = []
        for step in self._plan_in_force()["steps"]:
            rows.append(self.run_step(step["n"], now, present))
            if rows[-1]["status"] != "would_call":
                break
        return rows

    def run_step(self, number: int, now: str, present: Iterable[str] = ()) -> dict[str, Any]:
        """Take one step of the plan in force without calling its tool, and record the version.

        The plan is checked again, since the policy may have changed, and so is each snapshot.
        """
        plan = self._plan_in_force()
        step = _step_of(plan, number)
        names = list(snapshots(step, self.policy))
        there = _names_of(present)
        problems = check(plan, self.policy)
        problems += [
            f"step {number}: {name} was there when the plan was checked, and is not there now"
            for name in names
            if name not in there
        ]
        return self.add_step({
            "at": now, "version": len(self.versions), "n": number, "tool": step["tool"],
            "status": "stopped" if problems else "would_call",
            "problems": _first(problems), "snapshots": names,
        })  # fmt: skip

    def _plan_in_force(self) -> Plan:
        if self.handed_back:
            raise PlanRecordError("the task was handed back: a person says how it goes on")
        if not self.versions:
            raise PlanRecordError("no plan is in force: have one accepted by write_plan first")
        plan: Plan = self.versions[-1]["plan"]
        return plan


def needs_approval_by_effect(plan: Any) -> list[int]:
    """List the steps that a person must see, going by what the plan declares.

    It can hold a step whose danger is in its arguments, and it trusts a field of the model's.
    """
    return [step["n"] for step in _steps(plan) if step["effect"] in ("external", "money")]


def needs_approval_by_tool(plan: Any, policy: Policy | dict[str, Any]) -> list[int]:
    """List the steps that a person must see, going by what the harness knows of their tools.

    No field of the model's can talk it out of that, and it sees no argument.
    """
    owned = own_policy(policy)
    held = ("external", "money")
    return [step["n"] for step in _steps(plan) if owned.effect_of(step["tool"]) in held]


def own_policy(policy: Policy | dict[str, Any]) -> Policy:
    """Give the policy, read from plain JSON where it is that; refuse one that is broken."""
    try:
        # A subclass could answer otherwise than the values that were checked.
        return policy if type(policy) is Policy else Policy.from_json(policy)
    except PolicyError as error:
        raise PlanRecordError(*error.problems) from error


def _step_of(plan: Plan, number: int) -> dict[str, Any]:
    """Give the step with a number; raise ``PlanRecordError`` where there is none, or no number."""
    if type(number) is not int:
        raise PlanRecordError(f"a step number is a whole number, no {type(number).__name__}")
    for step in plan["steps"]:
        if step["n"] == number:
            return dict(step)
    named = str(number) if abs(number) < 10**18 else "with a number as long as that"
    raise PlanRecordError(f"the plan in force has no step {named}")


def _names_of(present: Iterable[str]) -> set[str]:
    try:
        return {canonical(name) for name in present if type(name) is str}
    except TypeError as error:
        raise PlanRecordError("what is present is a list of names") from error


def _first(problems: list[str]) -> list[str]:
    """Keep as many problems as one line of the record has room for."""
    more = len(problems) - STORED_PROBLEMS
    return [*problems[:STORED_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]


def _steps(plan: Any) -> list[dict[str, Any]]:
    """Give the steps of a plan that has the shape of one; raise ``PlanRecordError`` otherwise."""
    problems = shape_problems(plan, SCHEMA_FILE)
    if problems:
        raise PlanRecordError(*problems)
    steps: list[dict[str, Any]] = plan["steps"]
    return steps


### BEGIN SOLUTION
def _step_problems(step: dict[str, Any], owned: Policy) -> Iterator[str]:
    """Yield what is wrong with one step, each without its number."""
    tool, declared = step["tool"], step["effect"]
    if tool not in owned.available_tools:
        yield f"no such tool {tool!a} (there are: {', '.join(owned.available_tools)})"
        return
    if owned.is_destructive(tool) and declared == "read":
        yield f"{tool} declared as read"
    elif is_milder(declared, owned.effect_of(tool)):
        yield f"{tool} is {owned.effect_of(tool)}, declared as {declared}"
    if worst_effect(step, owned) != "read":
        for name in protected_targets(step, owned):
            yield f"writes to protected target {name}"
        if not step.get("targets"):
            yield f"{tool} names no targets"
    yield from finer_problems(step, owned)


### STUB
# # Your code here, where you want helpers of your own.
### END SOLUTION
