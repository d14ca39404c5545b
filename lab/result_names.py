"""Names in a refusal: shown where they are plain, counted where they are not.

A refusal is often printed into the agent's transcript. Whoever chooses a key of a payload chooses
words of that text, so a key that reads like a sentence is counted and never repeated. Values of a
payload are not repeated at all.
"""

import re
from collections.abc import Iterable

MOST_NAMES = 50
_PLAIN = re.compile(r"[A-Za-z0-9_.@$:/-]{1,64}")
_REPEATED_KEY = re.compile(r"\bkey (.*) stands twice", re.DOTALL)


def is_plain(name: object) -> bool:
    """Tell whether a name is at most 64 letters, digits and characters of ``_ . @ $ : / -``."""
    return type(name) is str and _PLAIN.fullmatch(name) is not None


def shown_name(name: object) -> str:
    """Give a plain name as it is, and a placeholder for any other."""
    return str(name) if is_plain(name) else _counted(1)


def shown_names(names: Iterable[object]) -> list[str]:
    """Sort the plain names, at most ``MOST_NAMES``; say how many others there are."""
    names = list(names)
    plain = sorted(str(name) for name in names if is_plain(name))
    others = len(names) - len(plain)
    more = len(plain) - MOST_NAMES
    return [
        *plain[:MOST_NAMES],
        *([f"<{more} more>"] if more > 0 else []),
        *([_counted(others)] if others else []),
    ]


def without_strange_keys(text: str) -> str:
    """Replace, in the loader's message about a key that stands twice, a key that is not plain."""
    return _REPEATED_KEY.sub(
        lambda found: f"key {shown_name(found[1].strip(chr(39)))} stands twice", text
    )


def _counted(number: int) -> str:
    return "<1 name that is not plain>" if number == 1 else f"<{number} names that are not plain>"
