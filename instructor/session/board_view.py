"""The board as a page shows it: names for the teacher, numbers for the room if names are hidden."""

import hashlib
import re
from typing import Any

MARKS = {"pass": "✓", "fail": "✗", "blocked": "…", "error": "!", "none": "·"}
WORDS = {
    "pass": "reached",
    "fail": "not yet",
    "blocked": "waits for an earlier block",
    "error": "could not be judged",
    "none": "nothing there yet",
}


class Numbers:
    """A number for each pair, that says nothing of its place in the alphabet.

    A pair that came late has the last number; a session that is started again numbers all anew.
    """

    def __init__(self, salt: bytes) -> None:
        """Take what nobody else knows; the same salt gives the same numbers to the same class."""
        self._salt = salt
        self._numbers: dict[str, int] = {}

    def of(self, names: list[str]) -> dict[str, int]:
        """Give each name its number; a pair that comes later does not change the others'."""
        new = [name for name in names if name not in self._numbers]
        for name in sorted(new, key=self._shuffled):
            self._numbers[name] = len(self._numbers) + 1
        return {name: self._numbers[name] for name in names}

    def _shuffled(self, name: str) -> bytes:
        return hashlib.sha256(self._salt + name.encode("utf-8", "surrogatepass")).digest()


def board_view(snapshot: dict[str, Any], numbers: Numbers, *, names: bool) -> dict[str, Any]:
    """Give rows and counts; without ``names``, no name of a pair is in what is returned."""
    blocks = snapshot["blocks"]
    given = numbers.of([pair["name"] for pair in snapshot["pairs"]])
    rows = [_row(pair, blocks, given[pair["name"]]) for pair in snapshot["pairs"]]
    if not names:
        known = re.compile("|".join(map(re.escape, sorted(given, key=len, reverse=True))))
        rows = [
            _without_names(row, known, given) for row in sorted(rows, key=lambda r: r["number"])
        ]
    reached = [sum(row["cells"][place]["outcome"] == "pass" for row in rows)
               for place in range(len(blocks))]  # fmt: skip
    columns = [
        {"title": block["title"], "reached": count}
        for block, count in zip(blocks, reached, strict=True)
    ]
    return {"columns": columns, "rows": rows, "named": names}


def _row(pair: dict[str, Any], blocks: list[dict[str, Any]], number: int) -> dict[str, Any]:
    cells = [_cell(pair["cells"].get(block["id"])) for block in blocks]
    latest = pair["latest"]
    return {"number": number, "name": pair["name"], "cells": cells, "latest": latest}


def _cell(cell: dict[str, Any] | None) -> dict[str, str]:
    outcome = cell["outcome"] if cell else "none"
    outcome = outcome if outcome in MARKS else "error"
    return {"outcome": outcome, "mark": MARKS[outcome], "word": WORDS[outcome]}


def _without_names(
    row: dict[str, Any], known: re.Pattern[str], given: dict[str, int]
) -> dict[str, Any]:
    """Put numbers for names, in what a pair's checks said as well."""
    said = row["latest"] or {}
    # In one go: a pair may be called like what stands for another.
    hidden = {k: known.sub(lambda m: f"Pair {given[m[0]]}", text) for k, text in said.items()}
    return {**row, "name": f"Pair {row['number']}", "latest": hidden or None}
