"""Ledgers that the tests of the assumption gate start from, and what the gate says of them."""

import json
from typing import Any

from lab.assumption_gate import AssumptionGateError, assert_tool_args_sourced
from tests.kit.command import COURSE

FIXTURES = COURSE / "fixtures" / "assumption_gate"


def read(name: str) -> Any:
    """Read a fixture with the plain reader, so that the strict one is not taken for granted."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def claim(name: str = "ticket_id", value: Any = "TCK-5520", **changes: Any) -> dict[str, Any]:
    """Make a claim in which nothing is wrong, then change it."""
    sourced = {"tag": "user", "source_pointer": "user_message:0", "required_for": []}
    return {"name": name, "value": value, **sourced, **changes}


def assumed(name: str, value: Any = "made up", **changes: Any) -> dict[str, Any]:
    return claim(name, value, tag="assumed", source_pointer=None, **changes)


def derived(name: str, *inputs: str) -> dict[str, Any]:
    return claim(name, "x", tag="derived", source_pointer=f"derive.f({', '.join(inputs)})")


def ledger(*claims: Any, tool: Any = "ticket.update", args: Any = None) -> dict[str, Any]:
    """Make a ledger; without ``args`` the call uses every claim."""
    used = {row["name"]: row["value"] for row in claims} if args is None else args
    return {"run_id": "t-1", "claims": list(claims), "pending_tool": {"name": tool, "args": used}}


def said(document: Any, evidence: Any = None) -> str:
    """Give the text of the refusal, "" where the call may go; anything else raised goes through."""
    try:
        assert_tool_args_sourced(document, evidence)
    except AssumptionGateError as error:
        return str(error) or "(a refusal without a word)"
    return ""
