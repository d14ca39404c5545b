"""Whose turn it is to be looked at: first come, first served, and nobody twice in the line."""

from collections import deque


class Turns:
    """A line of names; who asks while being served stands in line once more afterwards.

    Who took long the last time is served alone: the others never all wait for such names.
    """

    def __init__(self) -> None:
        """Begin with an empty line."""
        self._line: deque[str] = deque()
        self._served: set[str] = set()
        self._again: set[str] = set()
        self._slow: set[str] = set()

    def ask(self, name: str) -> None:
        """Stand in line, unless the name does already."""
        if name in self._served:
            self._again.add(name)
        elif name not in self._line:
            self._line.append(name)

    def take(self) -> str | None:
        """Serve the first in line who may be served now; None where there is nobody."""
        waits = bool(self._slow & self._served)
        name = next((name for name in self._line if not (waits and name in self._slow)), None)
        if name is not None:
            self._line.remove(name)
            self._served.add(name)
        return name

    def done(self, name: str, *, slow: bool = False) -> None:
        """Note that a name was served; it goes to the end of the line if it asked meanwhile."""
        self._served.discard(name)
        (self._slow.add if slow else self._slow.discard)(name)
        if name in self._again:
            self._again.discard(name)
            self.ask(name)
