"""What the coach shows: a card with the checks of a block, a note with a short text.

Both are HTML in a notebook and plain text everywhere else.
"""

import html
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

MARKS = {"pass": "✓", "fail": "✗", "blocked": "…"}


@dataclass(frozen=True)
class Line:
    """One check of a block, as the pair reads it; ``name`` is its test's or its evidence's."""

    title: str
    outcome: str
    found: str = ""
    expected: str = ""
    next: str = ""
    name: str = ""


@dataclass(frozen=True)
class Card:
    """Something to show: a heading and lines; the first problem is open, the rest is folded."""

    heading: str
    lines: tuple[Line, ...]
    note: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether there is a line and every line passes."""
        return bool(self.lines) and all(line.outcome == "pass" for line in self.lines)

    def __str__(self) -> str:
        """Give the card as text, for a terminal."""
        problem = self._first_problem
        rows = [self.heading, *(f"  {MARKS[line.outcome]} {line.title}" for line in self.lines)]
        if problem:
            rows += ["", f"First: {problem.title}", *_labelled(problem)]
        if self.note:
            rows += ["", self.note]
        return "\n".join(rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        problem = self._first_problem
        rows = "".join(
            f"<li>{MARKS[line.outcome]} {html.escape(line.title)}</li>" for line in self.lines
        )
        listing = f"<ul style='list-style:none;padding-left:.5em;margin:.3em 0'>{rows}</ul>"
        colour = "#1a7f37" if self.passed else "#b35900"
        if problem:
            parts = "".join(f"<div>{html.escape(text)}</div>" for text in _labelled(problem))
            listing = (
                f"<div><b>{MARKS[problem.outcome]} {html.escape(problem.title)}</b></div>{parts}"
                f"<details><summary>All {len(self.lines)} checks</summary>{listing}</details>"
            )
        return (
            f"<div style='border-left:4px solid {colour};padding:.3em .8em'>"
            f"<b>{html.escape(self.heading)}</b>{listing}{_small(self.note)}</div>"
        )

    @property
    def _first_problem(self) -> Line | None:
        return next((line for line in self.lines if line.outcome != "pass"), None)


@dataclass(frozen=True)
class Note:
    """A short text to show, in monospace where that helps to read it aloud."""

    text: str
    quote: str = ""

    def __str__(self) -> str:
        """Give the note as text, for a terminal."""
        return f"{self.text}\n{textwrap.indent(self.quote, '  ')}" if self.quote else self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        quote = f"<pre style='white-space:pre-wrap'>{html.escape(self.quote)}</pre>"
        return f"<div>{html.escape(self.text)}{quote if self.quote else ''}</div>"


def outcome_of(lines: Iterable[Line]) -> str:
    """Sum up lines: ``fail`` before ``blocked`` before ``pass``, "" where there is none."""
    seen = {line.outcome for line in lines}
    return next((word for word in ("fail", "blocked", "pass") if word in seen), "")


def _small(text: str) -> str:
    rows = "".join(f"<div>{html.escape(line)}</div>" for line in text.splitlines())
    return f"<div style='margin-top:.3em;opacity:.8'>{rows}</div>" if text else ""


def _labelled(line: Line) -> list[str]:
    parts = (("Found", line.found), ("Expected", line.expected), ("Next", line.next))
    return [f"{label}: {text}" for label, text in parts if text]
