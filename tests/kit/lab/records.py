"""What the tests of the plan record start from: the policy, a plan, its problems."""

import json
from pathlib import Path
from typing import Any

from lab.plan_record import check
from tests.kit.command import COURSE

FIXTURES = COURSE / "fixtures" / "plan_record"


def read(name: str) -> Any:
    """Read a fixture with the plain reader, so that the strict one is not taken for granted."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def policy(**changes: Any) -> dict[str, Any]:
    return {**read("policy.json"), **changes}


def step(**changes: Any) -> dict[str, Any]:
    """Make a write on a table that nobody protects; a field set to None is left out."""
    fields = {
        "n": 1,
        "tool": "warehouse.load",
        "args": {"table": "staging.lines"},
        "effect": "write",
        "targets": ["staging.lines"],
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def on(table: str, **changes: Any) -> dict[str, Any]:
    return step(args={"table": table}, targets=[table], **changes)


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"goal": "Load the lines", "steps": list(steps or [step()])}


def problems_of(*steps: dict[str, Any], **changes: Any) -> list[str]:
    """Check a plan of these steps with the policy, changed where that is asked for."""
    return check(plan(*steps), policy(**changes))


def record_text(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
