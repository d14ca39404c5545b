"""Replace pieces of a text, each of which stands in it exactly once."""

from collections.abc import Iterable, Mapping

from instructor import CourseError


def replaced(text: str, changes: Iterable[Mapping[str, str]], where: str) -> str:
    """Give ``text`` with the ``old`` text of each change replaced by its ``new`` text, in turn.

    Raises ``CourseError``, which begins with ``where``, unless each old text stands exactly once.
    """
    for change in changes:
        old, found = change["old"], text.count(change["old"])
        if found != 1:
            first = next(iter(old.strip().splitlines()), "")
            raise CourseError(f"{where}: its old text {first!r} stands {found} times, not once.")
        text = text.replace(old, change["new"])
    return text
