"""Source pointers: where a value is said to come from, and whether a guess lies underneath.

A pointer is a short text. Its form depends on the tag of its claim:

=========  ==========================================================
user       ``user_message:0``, counted among the user's messages from 0
retrieved  ``tools.ticket.get:result.status``, a place and a path
observed   ``shell:stdout``, a place and a path
derived    ``derive.sla_bucket(last_status, opened_at)``, with its inputs
=========  ==========================================================

A form says that somebody could go and look. It does not say that the value is true.
"""

import re
from graphlib import CycleError, TopologicalSorter
from typing import Any

Claim = dict[str, Any]

_NAME = r"[A-Za-z_][A-Za-z0-9_.]*"
# At most six digits: Python refuses to read a number of several thousand.
USER_MESSAGE = re.compile(r"user_message:(0|[1-9][0-9]{0,5})")
PLACE_AND_PATH = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*(?:\[[0-9]{1,6}\])?):([A-Za-z0-9_][!-~]*)")
DERIVED = re.compile(rf"derive\.{_NAME}\( *({_NAME}(?: *, *{_NAME})*) *\)")
# Places from which nothing is retrieved or observed: another tag says it, or the model said it.
NO_PLACES = frozenset({"user_message", "derive", "assistant", "assistant_message", "model"})
FORMS = {
    "user": "user_message:N",
    "retrieved": "a place and a path, such as tools.ticket.get:result.status",
    "observed": "a place and a path, such as shell:stdout",
    "derived": "derive.NAME(input, input), which names its inputs",
}


class CircularClaims(ValueError):  # noqa: N818  said of a ledger
    """Claims are derived from each other in a circle, so none of them has a source."""


def pointer_problem(tag: str, pointer: str) -> str | None:
    """Say why a pointer does not have the form of its tag, or return None."""
    if tag == "user":
        fits = bool(USER_MESSAGE.fullmatch(pointer))
    elif tag == "derived":
        fits = bool(DERIVED.fullmatch(pointer))
    else:
        parts = PLACE_AND_PATH.fullmatch(pointer)
        fits = parts is not None and parts[1] not in NO_PLACES
    return None if fits else f"source_pointer {pointer!r} leads nowhere; expected {FORMS[tag]}"


def inputs_of(claim: Claim) -> list[str]:
    """List the inputs that a derived claim names; [] for every other claim."""
    parts = DERIVED.fullmatch(claim.get("source_pointer") or "")
    if claim["tag"] != "derived" or parts is None:
        return []
    return [name.strip() for name in parts[1].split(",")]


def guesses_below(claims: dict[str, Claim]) -> dict[str, str]:
    """Map each derived claim that rests on a guess, at any depth, to the assumed claim below it.

    An input that is no claim of the ledger counts as no guess: nothing is known about it. Raises
    ``CircularClaims`` naming the circle.
    """
    graph = {
        name: [part for part in inputs_of(claim) if part in claims]
        for name, claim in claims.items()
    }
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        raise CircularClaims(
            f"{circle[0]} is derived in a circle ({' from '.join(circle)}), so it has no source"
        ) from error
    guesses = {name: name for name in order if claims[name]["tag"] == "assumed"}
    for name in order:
        below = next((guesses[part] for part in graph[name] if part in guesses), None)
        if below is not None:
            guesses[name] = below
    return {name: below for name, below in guesses.items() if name != below}
