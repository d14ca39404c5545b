"""One pair's row on the live board: its blocks now, and what to mend first."""

from collections.abc import Mapping, Sequence
from typing import Any

from instructor.session.quick import Seen

# Files that were seen before are not judged anew: a fresh workspace's, or a change taken back.
STATES_KEPT = 100


class States:
    """What was found in files that were seen lately, whoever they belong to."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[str, Seen] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """Give the digests of files whose outcomes are known."""
        return tuple(self._found)

    def whole(self, seen: Seen) -> Seen:
        """Complete what was seen with what is known of its files, or remember it."""
        if not seen.digest:
            return seen
        state = self._found.pop(seen.digest, seen)
        self._found[seen.digest] = state
        while len(self._found) > STATES_KEPT:
            del self._found[next(iter(self._found))]
        return state


class Row:
    """What the board shows of one pair."""

    def __init__(self, name: str, blocks: Sequence[str]) -> None:
        """Begin with nothing seen."""
        self.name = name
        self._cells = dict.fromkeys(blocks, "none")
        self._latest: Mapping[str, str] | None = None
        self._reached: set[str] = set()
        self._shown: Seen | None = None

    def take(self, seen: Seen) -> list[str] | None:
        """Take what was seen; give the blocks reached for the first time, None for no change."""
        if seen == self._shown:
            return None
        self._shown = seen
        self._cells.update(self._outcomes(seen))
        self._latest = seen.latest or _trouble(seen)
        passed = [block for block, outcome in self._cells.items() if outcome == "pass"]
        reached = [block for block in passed if block not in self._reached]
        self._reached.update(reached)
        return reached

    def to_json(self) -> dict[str, Any]:
        """Give the row as plain JSON values."""
        return {
            "name": self.name,
            "cells": {block: {"outcome": outcome} for block, outcome in self._cells.items()},
            "latest": dict(self._latest) if self._latest else None,
        }

    def _outcomes(self, seen: Seen) -> Mapping[str, str]:
        if not seen.trouble:
            return seen.outcomes
        return dict.fromkeys(self._cells, "none" if seen.missing else "error")


def _trouble(seen: Seen) -> dict[str, str] | None:
    if not seen.trouble:
        return None
    check = "There is work to look at."
    return {"check": check, "found": seen.trouble, "expected": "", "next": seen.advice}
