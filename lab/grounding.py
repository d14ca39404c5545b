"""Literal grounding: a value counts as said only if its text stands in a message, as a word."""

import re
from collections.abc import Iterable


def stands_in(value: str | float | bool, texts: Iterable[str]) -> bool:
    """Tell whether a value stands in one of the texts, not merely as part of a longer word."""
    word = re.compile(rf"(?<![\w.-]){re.escape(str(value))}(?![\w-]|\.\w)")
    return any(word.search(text) for text in texts)
