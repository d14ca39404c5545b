"""Whose answer is this? The calls that a harness made, and the results that claim to answer them.

A result with the right shape may still answer no call, or answer one a second time. The harness
knows which calls it made; the gate only has to ask.
"""

import re
from collections.abc import Collection
from typing import Any

from lab.strict_json import structure_problem

# A UUID fits in, and so does what the makers of models write before one.
_CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def call_problem(
    tool_name: str, call_id: object, used: Collection[str], calls_made: object = None
) -> str | None:
    """Say why a result may not claim this call, or return None.

    ``calls_made`` is the harness's own list, ``[{"id": text, "tool": name}, ...]``; without one
    only a call id that stands twice can be noticed. ``used`` holds the ids already answered.
    """
    if type(call_id) is not str or not _CALL_ID.fullmatch(call_id):
        return "call_id must be a plain id: name the call that this result answers"
    if call_id in used:
        return f"call {call_id} is answered already"
    if calls_made is not None:
        return _not_made(tool_name, call_id, calls_made)
    return None


def _not_made(tool_name: str, call_id: str, calls_made: object) -> str | None:
    tools = _tools_by_call(calls_made)
    if tools is None:
        return "calls_made must be [{'id': text, 'tool': name}, ...], each id once"
    if call_id not in tools:
        return f"call {call_id} was never made"
    if tools[call_id] != tool_name:
        return f"call {call_id} was made to another tool"
    return None


def _tools_by_call(calls_made: object) -> dict[str, str] | None:
    if type(calls_made) is not list or structure_problem(calls_made):
        return None
    calls: list[Any] = calls_made
    tools = {call["id"]: call["tool"] for call in calls if _is_call(call)}
    return tools if len(tools) == len(calls) else None


def _is_call(call: Any) -> bool:
    return (
        type(call) is dict
        and call.keys() == {"id", "tool"}
        and all(type(value) is str for value in call.values())
    )
