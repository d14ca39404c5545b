"""How far students' code is held in on this machine: tier A, B or C, established by trying."""

import contextlib
import functools
import os
from collections.abc import Iterator

from instructor import CourseError

A, B, C = TIERS = ("A", "B", "C")
# What a teacher reads about each.
WORDS = {
    A: "Students' code ran boxed in (tier A, two layers): it reached its own copy, no other file, "
    "no network and no other program.",
    B: "Students' code was held (tier B, one layer): it reached its own copy, no other file, no "
    "network and no other program.",
    C: "Students' code ran with limits only (tier C): it could read what you can read, and reach "
    "the network.",
}
# Tests set it, to have a lesser tier than the machine's best. It never gives a better one.
LESSER = "FAILING_CLOSED_TIER"
_SETTLED: dict[str, str] = {}


def tier() -> str:
    """Give the tier of this process: the one that was settled, or the best that there is."""
    return _SETTLED.get("tier") or best_tier()


@functools.cache
def best_tier() -> str:
    """Establish the best tier by trying attacks in it, once a process."""
    from instructor.sandbox.selftest import contains

    return next((name for name in candidates() if contains(name)), C)


def candidates() -> tuple[str, ...]:
    """List the tiers worth trying, the best first."""
    lesser = os.environ.get(LESSER, A)
    return TIERS[TIERS.index(lesser) : -1] if lesser in TIERS else TIERS[:-1]


def settle(name: str) -> None:
    """Fix the tier of this process, where another process has established it."""
    _SETTLED["tier"] = name


@contextlib.contextmanager
def trying(name: str) -> Iterator[None]:
    """Run code in one tier for a while, whatever is settled."""
    before = dict(_SETTLED)
    settle(name)
    try:
        yield
    finally:
        _SETTLED.clear()
        _SETTLED.update(before)


def expect_tier(wanted: str = B) -> None:
    """Settle on the best tier there is; raise ``CourseError`` where it is less than ``wanted``.

    The last one, C, is had by name only.
    """
    if wanted not in TIERS:
        raise CourseError(f"There is no tier {wanted!r}. Known: {', '.join(TIERS)}.")
    found = tier()
    if found > wanted:
        raise CourseError(_too_little(found, wanted))
    settle(found)


def tier_in_force() -> str:
    """Give the tier that code is run in; raise ``CourseError`` for C that nobody has asked for."""
    if tier() == C and not _SETTLED:
        raise CourseError(_too_little(C, B))
    return tier()


def _too_little(found: str, wanted: str) -> str:
    from instructor.sandbox.selftest import missing

    able = {
        B: "hold students' code by Landlock and seccomp (tier B), not in a box of its own",
        C: "only limit students' code (tier C), not hold it to its own files",
    }
    lacks = " ".join(missing(wanted))
    by_name = (
        " Or grade on a machine that holds nothing else, and say so: --require-tier C."
        if found == C
        else ""
    )
    return (
        f"This machine can {able[found]}. Expected: tier {wanted}"
        f"{' or better' if wanted == B else ''}. {lacks} Nothing of the students' was run.{by_name}"
    )
