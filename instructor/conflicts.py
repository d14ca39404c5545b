"""Find the marks of a merge that nobody has finished."""

import re

_MARK = re.compile(r"^(<{7}|>{7})( |\r?$)", re.MULTILINE)


def conflict_line(text: str) -> int:
    """Give the line of the first mark that git left in a text; 0 where there is none."""
    found = _MARK.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 0
