"""What must stay with the teacher, as texts to search for: cases, wrong gates, solutions.

A text counts where it says something by itself: names of the contract and short ones stand in many
places, so they are left out by their form and never by where they were found.
"""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from instructor.answer_key import AnswerKey, Case, load_answer_key
from instructor.solutions import BEGIN, END, STUB
from lab.workshop import Workshop
from tests.kit.command import COURSE

TELLING_CHARACTERS = 12
TELLING_LINE = 40
# Names of fields, tools and pointers, as the contract has them; a record's first words.
_NAME = re.compile(r'\$?[a-z0-9_]*([.:][a-z0-9_]*)*|\s*|\{"event": "plan", "at"')


def case_texts(case: Case) -> set[str]:
    """List what in a case can be recognised: its long texts, also those given beside it."""
    found = {*texts(case.document), *([case.text] if case.text else [])}
    return {t for t in found if len(t) >= TELLING_CHARACTERS and not _NAME.fullmatch(t)}


def wrong_lines(answers: AnswerKey, gate: Path) -> set[str]:
    """List the telling lines of wrong gates that the reference does not have."""
    right = set(_bare(gate.read_text(encoding="utf-8").splitlines()))
    gates = (*answers.wrong_gates, *answers.rewrites)
    lines = {line for wrong in gates for line in _bare(wrong.source.splitlines())}
    return {line for line in lines - right if len(line) >= TELLING_LINE}


def solution_lines() -> set[str]:
    """List the telling lines of the package that stand between the markers of a solution."""
    found: set[str] = set()
    public: set[str] = set()
    for path in (COURSE / "lab").glob("*.py"):
        inside = False
        for line in _bare(path.read_text(encoding="utf-8").splitlines()):
            inside = line == BEGIN or (inside and line not in (STUB, END))
            # A stub's lines are given without their comment mark.
            (found if inside else public).add(line if inside else line.removeprefix("# "))
    return {line for line in found - public if len(line) >= TELLING_LINE and line[0] != "#"}


def secrets(workshops: list[Workshop]) -> set[str]:
    """List all of it, with the ids of the cases. A slip is no secret: feedback names it."""
    keys = [load_answer_key(workshop) for workshop in workshops]
    cases = [case for key in keys for case in key.cases]
    wrong = [
        wrong_lines(key, COURSE / workshop.gate.file)
        for key, workshop in zip(keys, workshops, strict=True)
    ]
    return {case.id for case in cases}.union(solution_lines(), *map(case_texts, cases), *wrong)


def shown_in(text: str, hidden: set[str]) -> list[str]:
    """List what shows in a text as it is."""
    return sorted(one for one in hidden if one in text)


def as_read(text: str) -> str:
    """Give a text as it is, then as who reads it as JSON, a page or Markdown sees it."""
    return "\n".join((text, text.replace('\\"', '"'), unescape(text)))


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.items() for part in item for text in texts(part))
    elif isinstance(value, list):
        yield from (text for item in value for text in texts(item))


def _bare(lines: list[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())
