"""Literal grounding: a value counts as said only if its text stands in a message, as a word."""

import re
from collections.abc import Iterable

# What may stand right before and right after a word that is not part of something longer.
_OPENING = r"[\"'“‘(\[{<$€£]"
_CLOSING = r"[\"'”’)\]}>,.;:!?]"


def stands_in(value: str | float | bool, texts: Iterable[str]) -> bool:
    """Tell whether a value stands in one of the texts, not merely as part of a longer word."""
    before, after = rf"(?:^|\s){_OPENING}*", rf"(?={_CLOSING}*(?:\s|$))"
    word = re.compile(before + re.escape(str(value)) + after)
    return any(word.search(text) for text in texts)
