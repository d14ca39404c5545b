"""Hold a plan in prose against the terms of the harness: what is named can be compared, no more."""

import logging
from pathlib import Path
from typing import Any

from lab.plan_policy import load_policy
from lab.plan_resources import names_in

POLICY_FILE = Path(__file__).resolve().parents[1] / "fixtures" / "plan_record" / "policy.json"
logger = logging.getLogger(__name__)


def check_prose(document: Any) -> list[str]:
    """Look through ``document["prose"]`` for every term that the policy has; list the problems."""
    policy = load_policy(POLICY_FILE)
    names = names_in(document["prose"])
    words = {str(name) for name in names}
    tools = sorted(words & set(policy.available_tools))
    tables = sorted(
        str(name)
        for name in names
        if "." in str(name) and any(map(name.begins_with, policy.protected))
    )
    logger.info("looked for %d tools, found: %s", len(policy.available_tools), tools)
    logger.info("looked for %d protected prefixes, found: %s", len(policy.protected), tables)
    return [f"names protected {table}" for table in tables]
