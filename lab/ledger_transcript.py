"""Transcripts: what was said and what tools returned, and which place a pointer leads to.

A transcript has ``messages``, each with ``role`` and ``content``, and ``tool_results``, each with
``tool`` and ``result``. ``user_message:N`` counts the user's messages only, from 0.
``tools.NAME:result.a.b`` is a path into the first result of that tool, ``tools.NAME[1]:result.a.b``
into the second.
"""

import re
from collections.abc import Iterator
from typing import Any

from lab.grounding import stands_in
from lab.ledger_pointers import USER_MESSAGE
from lab.strict_json import same_json, structure_problem

Transcript = dict[str, Any]

_RESULT = re.compile(r"tools\.([A-Za-z0-9_.-]+)(?:\[([0-9]{1,6})\])?:result((?:\.[A-Za-z0-9_-]+)*)")
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TOOL = re.compile(r"[A-Za-z0-9_.-]+")


class PointsNowhere(LookupError):  # noqa: N818  said of a pointer
    """A pointer leads to nothing in the transcript; the text says how far it got."""


def transcript_problem(transcript: Any) -> str | None:
    """Say what keeps a value from being a transcript, or return None."""
    structure = structure_problem(transcript)
    if structure:
        return f"the transcript is not plain JSON: {structure}"
    if type(transcript) is not dict or not {"messages", "tool_results"} <= transcript.keys():
        return "a transcript is an object with messages and tool_results"
    for key, wanted in (("messages", ("role", "content")), ("tool_results", ("tool", "result"))):
        rows = transcript[key]
        if type(rows) is not list:
            return f"{key} must be a list"
        for index, row in enumerate(rows):
            if type(row) is not dict or not set(wanted) <= row.keys():
                return f"{key}[{index}] must be an object with {' and '.join(wanted)}"
            texts = wanted if key == "messages" else wanted[:1]
            if not all(type(row[name]) is str for name in texts):
                return f"{key}[{index}]: {' and '.join(texts)} must be text"
    return None


def user_messages(transcript: Transcript) -> list[str]:
    """List what the user said, in order; ``user_message:N`` counts in this list."""
    return [row["content"] for row in transcript["messages"] if row["role"] == "user"]


def result_values(transcript: Transcript) -> Iterator[tuple[str, Any]]:
    """Yield every value in the tools' results with a pointer that leads to it.

    A value below a key that a pointer cannot spell (with a dot or a blank in it) is left out.
    """
    seen: dict[str, int] = {}
    for row in transcript["tool_results"]:
        number = seen.get(row["tool"], 0)
        seen[row["tool"]] = number + 1
        place = f"tools.{row['tool']}" + (f"[{number}]" if number else "")
        if _TOOL.fullmatch(row["tool"]):
            yield from _values(row["result"], f"{place}:result")


def resolve_pointer(transcript: Transcript, pointer: str) -> Any:
    """Give the message or the value that a pointer leads to; raise ``PointsNowhere``."""
    if said := USER_MESSAGE.fullmatch(pointer):
        messages = user_messages(transcript)
        if int(said[1]) >= len(messages):
            raise PointsNowhere(f"{pointer}: the user has {len(messages)} messages, counted from 0")
        return messages[int(said[1])]
    returned = _RESULT.fullmatch(pointer)
    if returned is None:
        raise PointsNowhere(f"{pointer!r} is neither user_message:N nor tools.NAME:result.PATH")
    results = [row["result"] for row in transcript["tool_results"] if row["tool"] == returned[1]]
    number = int(returned[2] or 0)
    if number >= len(results):
        raise PointsNowhere(f"{pointer}: {returned[1]} has {len(results)} results")
    return _follow(results[number], returned[3].split(".")[1:], pointer)


def grounds(transcript: Transcript, pointer: str, value: Any) -> bool:
    """Tell whether a pointer leads to a value, or to a text in which it stands as a word."""
    try:
        found = resolve_pointer(transcript, pointer)
    except PointsNowhere:
        return False
    if pointer.startswith("user_message:"):
        return is_said(value, found)
    return is_returned(value, found)


def is_returned(value: Any, found: Any) -> bool:
    """Tell whether a tool's value is this one, of the same type, or a text that holds it."""
    if value is None or value in ("", [], {}):
        return False
    return same_json(value, found) or (
        type(value) is str and type(found) is str and is_said(value, found)
    )


def is_said(value: Any, text: str) -> bool:
    """Tell whether a value stands in a text, literally; of a list, each element has to."""
    if type(value) is list:
        return bool(value) and all(is_said(item, text) for item in value)
    if type(value) is bool:
        return stands_in("true" if value else "false", [text])
    if type(value) is str:
        return bool(value.strip()) and stands_in(value, [text])
    return type(value) in (int, float) and stands_in(value, [text])


def _values(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    yield pointer, value
    if type(value) is dict:
        children = [(key, child) for key, child in value.items() if _KEY.fullmatch(key)]
    else:
        children = [(str(i), child) for i, child in enumerate(value if type(value) is list else [])]
    for key, child in children:
        yield from _values(child, f"{pointer}.{key}")


def _follow(value: Any, path: list[str], pointer: str) -> Any:
    for part in path:
        if type(value) is dict and part in value:
            value = value[part]
        elif type(value) is list and part.isdigit() and len(part) < 7 and int(part) < len(value):
            value = value[int(part)]
        else:
            raise PointsNowhere(f"{pointer}: there is no {part!r} at that place")
    return value
