"""Source pointers: where a value is said to come from, and whether a guess lies underneath.

A pointer is a short text. Its form depends on the tag of its claim:

=========  ==========================================================
user       ``user_message:0``, counted among the user's messages from 0
retrieved  ``tools.ticket.get:result.status``, a place and a path
observed   ``shell:stdout``, a place and a path
derived    ``derive.sla_bucket(last_status, opened_at)``, with its inputs
=========  ==========================================================

A place may be a file or a scheme (``docs/runbook.md:12``, ``https://docs.example.com/runbook``). It
is never the model, and never the ledger itself. Inputs are names, with numbers or quoted texts
beside them (``derive.add(opened_at, 3)``).

A form says that somebody could go and look. It does not say that the value is true.
"""

import re
from graphlib import CycleError, TopologicalSorter
from typing import Any

from lab.plain_text import text_problem

Claim = dict[str, Any]

# The lengths are limited so that no pointer takes long to read.
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,199}"
_LITERAL = r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?|'[^'\"]{0,200}'|\"[^'\"]{0,200}\""
_INPUT = re.compile(rf"{_NAME}|{_LITERAL}")
_LITERAL_WORDS = frozenset({"true", "false", "null", "none"})
# What may stand before a claim's name where an input says in full which value it means.
_WITHIN_THE_LEDGER = re.compile(r"(?:(?:ledger|claims|pending_tool|args)\.)+", re.IGNORECASE)
# At most six digits: Python refuses to read a number of several thousand.
USER_MESSAGE = re.compile(r"user_message:(0|[1-9][0-9]{0,5})")
PLACE_AND_PATH = re.compile(
    r"([A-Za-z][A-Za-z0-9_./-]*(?:\[[0-9]{1,6}\])?):((?:\w|[./$])(?:\w|[!-~])*)"
)
DERIVED = re.compile(
    rf"derive\.{_NAME}\( *((?:{_INPUT.pattern})(?: *, *(?:{_INPUT.pattern}))*) *\)"
)
# Places from which nothing is retrieved or observed: another tag says it, the model said it, or
# it is the ledger, which must not vouch for itself. The first part of a place is compared.
NO_PLACES = frozenset(
    {"user_message", "derive", "assistant", "assistant_message", "model", "llm", "agent"}
    | {"claims", "ledger", "none", "unknown"}
)
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
    fits = text_problem(pointer) is None and _fits(tag, pointer)
    return None if fits else f"source_pointer {pointer!r} leads nowhere; expected {FORMS[tag]}"


def _fits(tag: str, pointer: str) -> bool:
    if tag == "user":
        return bool(USER_MESSAGE.fullmatch(pointer))
    if tag == "derived":
        return any(map(_is_a_name, _inputs(pointer)))
    parts = PLACE_AND_PATH.fullmatch(pointer)
    return parts is not None and re.split(r"\W", parts[1])[0].casefold() not in NO_PLACES


def _is_a_name(text: str) -> bool:
    return bool(re.fullmatch(_NAME, text)) and text.casefold() not in _LITERAL_WORDS


def _inputs(pointer: str) -> list[str]:
    parts = DERIVED.fullmatch(pointer)
    return _INPUT.findall(parts[1]) if parts else []


def inputs_of(claim: Claim) -> list[str]:
    """List the inputs of a derived claim, literals without quotes; [] for every other claim."""
    if claim["tag"] != "derived":
        return []
    return [text.strip("'\"") for text in _inputs(claim.get("source_pointer") or "")]


def claim_meant(text: str, claims: dict[str, Claim]) -> str | None:
    """Find the claim that an input means, by its name or by the longest part that ends at a dot.

    A field of a guess is a guess: ``owner.domain`` and ``claims.owner.domain`` both mean ``owner``.
    """
    bare = _WITHIN_THE_LEDGER.sub("", text, count=1)
    spellings = [text, *_up_to_each_dot(bare), *_up_to_each_dot(text)]
    return next((name for name in spellings if name in claims), None)


def _up_to_each_dot(text: str) -> list[str]:
    parts = text.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def guesses_below(claims: dict[str, Claim]) -> dict[str, str]:
    """Map each derived claim that rests on a guess, at any depth, to the assumed claim below it.

    An input that is no claim of the ledger counts as no guess: nothing is known about it. Raises
    ``CircularClaims`` naming the circle.
    """
    graph = {
        name: [meant for part in inputs_of(claim) if (meant := claim_meant(part, claims))]
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
