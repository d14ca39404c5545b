"""Plans and inventories that the tests of the plan gate start from, and ways to change them."""

import json
from typing import Any

from lab.plan_gate import PlanRejected, gate_plan
from tests.kit.command import COURSE
from tests.kit.lab.anything import placed

FIXTURES = COURSE / "fixtures" / "plan_gate"


def read(name: str) -> Any:
    """Read a fixture with the plain reader, so that the strict one is not taken for granted."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def valid_plan() -> dict[str, Any]:
    plan: dict[str, Any] = read("valid_plan.json")
    return plan


def notify_plan() -> dict[str, Any]:
    plan: dict[str, Any] = read("notify_plan.json")
    return plan


def inventory() -> dict[str, Any]:
    tools: dict[str, Any] = read("inventory.json")
    return tools


def changed(document: Any, *changes: tuple[tuple[str | int, ...], Any]) -> Any:
    """Set the value at each path; the document is changed in place and returned."""
    for path, value in changes:
        placed(document, value, *path)
    return document


def without(document: Any, path: tuple[str | int, ...]) -> Any:
    """Remove what is at a path; the document is changed in place and returned."""
    place = document
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    return document


def problems_of(plan: Any, *more: Any) -> tuple[str, ...]:
    """Give the problems of a refusal, () where the plan is accepted."""
    try:
        gate_plan(plan, *more)
    except PlanRejected as error:
        return error.problems
    return ()
