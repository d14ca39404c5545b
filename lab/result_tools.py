"""A tool without a server, and two ways of putting its answer into memory.

The tool is dry: it answers from a table in this file and calls nothing. It also does what real
tools do after an update nobody announced: it returns more than it was asked for.
"""

import importlib
import logging
from typing import Any

logger = logging.getLogger(__name__)

SHELVES = {"SKU-19": (4, "sfo"), "SKU-7": (0, "ams"), "BX-204": (7, "nrt")}


def call_tool(call: dict[str, Any]) -> dict[str, Any]:
    """Answer ``{"tool": ..., "arguments": {"sku": ...}}`` as the tool's last version does."""
    sku = call["arguments"]["sku"]
    quantity, warehouse = SHELVES[sku]
    return {
        "sku": sku,
        "quantity": quantity,
        "warehouse": warehouse,
        "discount_code": "STAFF",
        "retry_token": f"again-{sku}",
    }


def call_and_remember(call: dict[str, Any]) -> list[Any]:
    """Hand the answer to the memory, as an agent's loop does, and give what memory then holds."""
    gate: Any = importlib.import_module("lab.result_gate")
    memory = gate.AgentMemory()
    try:
        memory.append_tool_result(call["tool"], call_tool(call))
    except gate.ResultGateError as error:
        logger.info("the gate says: %s", error)
    return list(memory.events)


def call_validate_and_remember(call: dict[str, Any]) -> list[Any]:
    """Ask the gate first: what it refuses is never handed to the memory."""
    gate: Any = importlib.import_module("lab.result_gate")
    memory = gate.AgentMemory()
    try:
        clean = gate.validate_tool_result(call["tool"], call_tool(call))
        memory.append_tool_result(call["tool"], clean)
    except gate.ResultGateError as error:
        logger.info("the gate says: %s", error)
    return list(memory.events)
