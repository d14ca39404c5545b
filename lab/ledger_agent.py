"""A stand-in for an agent that never leaves an argument empty. It calls nothing.

Give it a transcript: it does what the user wants, writes down the calls that it would make, and
where it lacks the ticket's id it makes up one that looks right. No model is needed for this; a
model does the same, only with better manners.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

from lab.ledger_transcript import Transcript, result_values, transcript_problem, user_messages

logger = logging.getLogger(__name__)

_TICKET_ID = re.compile(r"TCK-([0-9]{5})")


def run(transcript: Transcript) -> list[dict[str, Any]]:
    """List the calls that the agent would make, and log each; raise ``ValueError`` without them."""
    problem = transcript_problem(transcript)
    if problem:
        raise ValueError(problem)
    calls = [
        {"tool": row["tool"], "args": row.get("args", {})} for row in transcript["tool_results"]
    ]
    calls += _writes(_ticket_id(transcript))
    for number, call in enumerate(calls, start=1):
        arguments = ", ".join(f"{name}={value!r}" for name, value in call["args"].items())
        logger.info("call %d: %s(%s)", number, call["tool"], arguments)
    return calls


def _writes(ticket_id: str) -> Iterator[dict[str, Any]]:
    yield {"tool": "ticket.get", "args": {"ticket_id": ticket_id}}
    yield {"tool": "ticket.close", "args": {"ticket_id": ticket_id}}


def _ticket_id(transcript: Transcript) -> str:
    """Give the ticket's id where somebody said it; else one in the same style."""
    texts = [*user_messages(transcript), *(str(value) for _, value in result_values(transcript))]
    found = next((match for text in texts if (match := _TICKET_ID.search(text))), None)
    if found:
        return found[0]
    prompts = " ".join(row["content"] for row in transcript["messages"])
    example = _TICKET_ID.search(prompts)
    return f"TCK-{int(example[1]) + 1 if example else 10001:05d}"
