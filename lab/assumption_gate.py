"""The assumption gate: refuse a tool call while one of its arguments is still a guess.

A ledger holds a claim for each value that an agent wants to use: what it is called, the value, a
tag that says where it came from, and a pointer that lets somebody else go and look. The gate joins
the pending arguments to the claims by name. It proves that a source was recorded, not that the
value is true.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from lab.ledger_shape import shape_problem
from lab.strict_json import NotStrictJson, load_json

### BEGIN SOLUTION
from collections.abc import Iterator  # isort: skip
from lab.ledger_pointers import CircularClaims, guesses_below, pointer_problem  # isort: skip
from lab.ledger_tools import tool_problem  # isort: skip
from lab.ledger_transcript import is_said  # isort: skip
from lab.plain_text import name_problem  # isort: skip
from lab.strict_json import same_json  # isort: skip

### STUB
### END SOLUTION

Ledger = dict[str, Any]
Claim = dict[str, Any]

TAGS = frozenset({"observed", "retrieved", "user", "derived", "assumed"})
# A tag without a pointer is another form of guessing. Only an assumption may stand without one.
POINTER_REQUIRED = frozenset({"observed", "retrieved", "user", "derived"})
WRITE_TOOLS = frozenset({"ticket.update", "ticket.close", "fs.write", "shell.run"})
# Closed: a tool that is not in here counts as a write, also one that nobody has heard of.
READ_TOOLS = frozenset({"ticket.get", "fs.read"})
FORBIDDEN_FOR_WRITES = frozenset({"assumed"})


class AssumptionGateError(ValueError):
    """A tool call is refused; the text says which argument of it, and why."""


def load_ledger(path: str | Path) -> Ledger:
    """Read one ledger; a text that is not strict JSON is refused here, before the gate."""
    try:
        ledger: Ledger = load_json(path)
    except NotStrictJson as error:
        raise AssumptionGateError(str(error)) from error
    return ledger


def assert_tool_args_sourced(ledger: Ledger, evidence: dict[str, Any] | None = None) -> None:
    """Return nothing when the pending call may go; raise ``AssumptionGateError`` otherwise.

    ``evidence`` is what the harness itself saw, ``{"user_messages": [text, ...]}``: a ledger must
    not vouch for itself, so where evidence is given each user pointer has to lead to its value.
    """
    ### BEGIN SOLUTION
    problem = next(_problems(ledger, evidence), None)
    if problem:
        raise AssumptionGateError(problem)
    ### STUB
    # # Raise AssumptionGateError(text) at the first thing that is wrong. In this order:
    # # 1. shape_problem(ledger) is a text where the ledger has the wrong shape: refuse with it.
    # # 2. Each claim: a name ("claim missing name"), and no name twice
    # #    ("duplicate claim name: NAME").
    # # 3. The pending tool, which may be missing or null: "pending_tool.name is required".
    # # 4. Each claim: a tag of TAGS ("NAME has unknown tag 'TAG'"); a tag of POINTER_REQUIRED has
    # #    its pointer ("NAME tag 'retrieved' requires source_pointer").
    # # 5. Each argument: there is a claim of its name ("TOOL arg 'NAME' has no claim in the
    # #    ledger"), with the same value ("NAME value does not match ledger claim").
    # #    A tool outside of READ_TOOLS is a write. For a write, further:
    # #    a tag of FORBIDDEN_FOR_WRITES: "refusing TOOL: NAME is tagged 'assumed'";
    # #    required_for is not empty and lacks the tool: "NAME is not listed for TOOL".
    # # 6. For a write: a claim whose required_for lists the tool is among the arguments
    # #    ("TOOL needs NAME").
    # raise AssumptionGateError("assert_tool_args_sourced is not written yet")
    ### END SOLUTION


### BEGIN SOLUTION
def _problems(ledger: Ledger, evidence: dict[str, Any] | None) -> Iterator[str]:
    """Yield what is wrong; only the first is taken, so each line may rely on those above it."""
    yield from _if_any(shape_problem(ledger))
    yield from _name_problems(ledger["claims"])
    claims = {claim["name"]: claim for claim in ledger["claims"]}
    pending = ledger.get("pending_tool") or {}
    if not pending.get("name"):
        yield "pending_tool.name is required"
    tool, args = pending["name"], pending["args"]
    yield from _if_any(name_problem(tool))
    for claim in claims.values():
        yield from _source_problems(claim)
    for name, value in args.items():
        yield from _argument_problems(tool, name, value, claims)
    if tool not in READ_TOOLS:
        yield from _left_out(tool, args, claims)
    yield from _taint_problems(tool, args, claims)
    yield from _if_any(tool_problem(tool, args))
    if evidence is not None:
        yield from _unsaid_claims(claims, evidence)


def _if_any(problem: str | None) -> Iterator[str]:
    if problem:
        yield problem


def _name_problems(claims: list[Claim]) -> Iterator[str]:
    seen: set[str] = set()
    for claim in claims:
        name: Any = claim.get("name")
        if not name:
            yield "claim missing name"
        if name in seen:
            yield f"duplicate claim name: {name}"
        yield from _if_any(name_problem(name))
        seen.add(name)


def _source_problems(claim: Claim) -> Iterator[str]:
    """Yield what is wrong with one claim's tag and pointer, whether or not the call uses it."""
    name, tag = claim["name"], claim["tag"]
    pointer: Any = claim.get("source_pointer")
    if tag not in TAGS:
        yield f"{name} has unknown tag {tag!a}; expected one of {', '.join(sorted(TAGS))}"
    if tag in POINTER_REQUIRED and not pointer:
        yield f"{name} tag '{tag}' requires source_pointer"
    if tag in POINTER_REQUIRED and (problem := pointer_problem(tag, pointer)):
        yield f"{name} {problem}"


def _argument_problems(tool: str, name: str, value: Any, claims: dict[str, Claim]) -> Iterator[str]:
    """Yield what is wrong with one pending argument."""
    if name not in claims:
        yield f"{tool} arg {name!r} has no claim in the ledger"
    claim = claims[name]
    if not same_json(value, claim["value"]):
        yield f"{name} value does not match ledger claim"
    if tool in READ_TOOLS:
        return
    if claim["tag"] in FORBIDDEN_FOR_WRITES:
        yield f"refusing {tool}: {name} is tagged 'assumed'"
    listed = claim.get("required_for")
    if listed and tool not in listed:
        yield f"{name} is not listed for {tool}"


def _left_out(tool: str, args: dict[str, Any], claims: dict[str, Claim]) -> Iterator[str]:
    for name, claim in claims.items():
        if tool in claim.get("required_for", []) and name not in args:
            yield f"{tool} needs {name}"


def _taint_problems(tool: str, args: dict[str, Any], claims: dict[str, Claim]) -> Iterator[str]:
    """Yield the arguments of a write that are derived from a guess: it stays one all the way."""
    try:
        guesses = guesses_below(claims)
    except CircularClaims as error:
        yield str(error)
        return
    for name in args if tool not in READ_TOOLS else ():
        if name in guesses:
            yield f"refusing {tool}: {name} is derived from {guesses[name]}, tagged 'assumed'"


def _unsaid_claims(claims: dict[str, Claim], evidence: dict[str, Any]) -> Iterator[str]:
    """Yield the user claims whose pointer does not lead to a message in which the value stands."""
    messages = evidence.get("user_messages") if type(evidence) is dict else None
    if type(messages) is not list or not all(type(text) is str for text in messages):
        yield "evidence must be {'user_messages': [text, ...]}"
        return
    for name, claim in claims.items():
        if claim["tag"] != "user":
            continue
        pointer = claim["source_pointer"]
        number = int(pointer.partition(":")[2])
        if number >= len(messages):
            yield f"{name} source_pointer {pointer} leads to no message: there are {len(messages)}"
        elif not is_said(claim["value"], messages[number]):
            yield f"{name} value does not stand in {pointer}"


### STUB
# # Your code here, where you want helpers of your own.
#
#
### END SOLUTION
def main(arguments: list[str] | None = None) -> int:
    """Gate one ledger: say that its call may go, or why it is refused and return 1."""
    parser = argparse.ArgumentParser(prog="python -m lab.assumption_gate", description=main.__doc__)
    parser.add_argument("file", help="a ledger, as JSON")
    options = parser.parse_args(arguments)
    try:
        ledger = load_ledger(options.file)
        assert_tool_args_sourced(ledger)
    except AssumptionGateError as error:
        print(f"rejected: {error}", file=sys.stderr)
        return 1
    print(f"{ledger['pending_tool']['name']} may go: every argument has a source")
    return 0


if __name__ == "__main__":
    sys.exit(main())
