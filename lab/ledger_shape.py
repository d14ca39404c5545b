"""The shape of a ledger: which keys there are, and of which type each value is.

A gate asks about the shape first, so that no later line can stumble over a list where an object
should be. Objects are closed: a key that nobody named is refused, since nobody would look at it.
"""

from collections.abc import Iterator
from typing import Any

from lab.strict_json import structure_problem

LEDGER_KEYS = ("run_id", "claims", "pending_tool")
CLAIM_KEYS = ("name", "value", "tag", "source_pointer", "required_for")
TOOL_KEYS = ("name", "args")
KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def shape_problem(ledger: object) -> str | None:
    """Say what keeps a value from being a ledger, naming the place; None when it is one.

    A claim may still lack its name, and the pending tool too: the gate has words for both. What
    else a nameless one lacks is not looked at.
    """
    structure = structure_problem(ledger)
    if structure:
        return f"the ledger is not plain JSON: {structure}"
    return next(_problems(ledger), None)


def _problems(ledger: Any) -> Iterator[str]:
    """Yield problems; only the first is taken, so each line may rely on the lines above it."""
    yield from _of_type("the ledger", ledger, dict)
    yield from _closed("the ledger", ledger, LEDGER_KEYS)
    yield from _of_type("run_id", ledger.get("run_id", ""), str)
    yield from _holds("the ledger", ledger, "claims")
    yield from _of_type("claims", ledger["claims"], list)
    for index, claim in enumerate(ledger["claims"]):
        yield from _claim_problems(f"claims[{index}]", claim)
    pending = ledger.get("pending_tool")
    yield from _of_type("pending_tool", pending, dict, type(None))
    if pending:
        yield from _closed("pending_tool", pending, TOOL_KEYS)
        yield from _of_type("pending_tool.name", pending.get("name"), str, type(None))
    if pending and pending.get("name"):
        yield from _holds("pending_tool", pending, "args")
        yield from _of_type("pending_tool.args", pending["args"], dict)


def _claim_problems(place: str, claim: Any) -> Iterator[str]:
    yield from _of_type(place, claim, dict)
    yield from _closed(place, claim, CLAIM_KEYS)
    yield from _of_type(f"{place}.name", claim.get("name"), str, type(None))
    if not claim.get("name"):
        return
    for key in ("value", "tag"):
        yield from _holds(place, claim, key)
    yield from _of_type(f"{place}.tag", claim["tag"], str)
    yield from _of_type(f"{place}.source_pointer", claim.get("source_pointer"), str, type(None))
    tools = claim.get("required_for", [])
    yield from _of_type(f"{place}.required_for", tools, list)
    for index, tool in enumerate(tools):
        yield from _of_type(f"{place}.required_for[{index}]", tool, str)


def _of_type(place: str, value: object, *types: type) -> Iterator[str]:
    # type() and not isinstance(): to Python, True is an int.
    if type(value) not in types:
        yield f"{place} is {KINDS[type(value)]}; expected {' or '.join(KINDS[t] for t in types)}"


def _holds(place: str, document: dict[str, Any], key: str) -> Iterator[str]:
    if key not in document:
        yield f"{place} has no {key}"


def _closed(place: str, document: dict[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    unknown = next((key for key in document if key not in keys), None)
    if unknown is not None:
        yield f"{place} has a key {unknown!r} that nobody named; expected only {', '.join(keys)}"
