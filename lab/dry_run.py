"""A dry run: write down which tools a plan would call, and call none of them.

Nothing here imports a network library, and a refused plan leaves no line behind.
"""

import logging
from typing import Any

from lab import plan_gate

logger = logging.getLogger(__name__)


def dry_run(plan: dict[str, Any], inventory: dict[str, Any] | None = None) -> list[str]:
    """Gate a plan, log one line per tool that it would call, and return the tools' names.

    Raises ``plan_gate.PlanRejected`` before the first line is written.
    """
    tools: list[str] = plan_gate.gate_plan(plan, inventory)["tools"]
    for number, tool in enumerate(tools, start=1):
        logger.info("dry run, step %d of %d: would call %s", number, len(tools), tool)
    return tools
