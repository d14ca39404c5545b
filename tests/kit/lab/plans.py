"""Plans and inventories that the tests of the plan gate start from, and ways to change them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lab.plan_gate import PlanRejected, gate_plan
from tests.kit.command import COURSE, Ended

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
        place = document
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
    return document


def without(document: Any, path: tuple[str | int, ...]) -> Any:
    """Remove what is at a path; the document is changed in place and returned."""
    place = document
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    return document


def nested(levels: int, leaf: Any = 1) -> Any:
    """Put a value into lists and objects, in turn, that many levels deep."""
    value = leaf
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def problems_of(plan: Any, *more: Any) -> tuple[str, ...]:
    """Give the problems of a refusal, () where the plan is accepted."""
    try:
        gate_plan(plan, *more)
    except PlanRejected as error:
        return error.problems
    return ()


def python(*arguments: str, cwd: Path) -> Ended:
    """Run Python in any folder, with this course's ``lab`` to import."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(COURSE), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
