"""Literal grounding: a value counts as said only if its text stands in a message, as a word.

Letters, digits, ``_``, ``-``, ``/`` and ``@`` make a word longer; quotation marks, brackets,
emphasis and punctuation stand around it. A label may stand right before it: ``ticket:TCK-10419``.
"""

import re
from collections.abc import Iterable

# What may stand right before and right after a word that is not part of something longer. The
# numbers are limits, so that no message takes long to search.
_OPENING = r"[\"'“‘„‚«‹»›「『《〈（【(\[{<$€£#*`]{0,20}"
_CLOSING = r"[\"'”’“‘»›«‹」』》〉）】)\]}>,.;:!?…*`%€£]{0,20}"
_LABEL = r"[^\W\d]\w{0,40}[\"'*`]{0,4}[:=]"
# After these a new word begins without a blank, unless both sides are parts of one number.
_DIVIDER = r"[—。，、；：！？](?!\d)"


def stands_in(value: str | float | bool, texts: Iterable[str]) -> bool:
    """Tell whether a value stands in one of the texts, not merely as part of a longer word."""
    before = rf"(?:^|\s){_OPENING}(?:{_LABEL}{_OPENING})?"
    after = rf"(?={_CLOSING}(?:['’]s{_CLOSING})?(?:\s|$|{_DIVIDER}))"
    word = re.compile(before + re.escape(str(value)) + after)
    return any(word.search(text) for text in texts)
