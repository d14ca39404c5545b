"""What was spent on what, and what came out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

NOTEBOOKS, SUITES, RUNS, CASES = "notebook", "suite run", "run on a gate", "replayed case"


@dataclass
class Spent:
    """Seconds and numbers by kind of work."""

    seconds: dict[str, float] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def on(self, kind: str, number: int = 1) -> Iterator[None]:
        """Count what is done meanwhile as so many of a kind."""
        began = time.monotonic()
        yield
        self.seconds[kind] = self.seconds.get(kind, 0) + time.monotonic() - began
        self.numbers[kind] = self.numbers.get(kind, 0) + number

    def add(self, other: "Spent") -> None:
        """Add what was spent elsewhere."""
        for kind, seconds in other.seconds.items():
            self.seconds[kind] = self.seconds.get(kind, 0) + seconds
            self.numbers[kind] = self.numbers.get(kind, 0) + other.numbers[kind]

    def each(self, kind: str) -> float | None:
        """Give the seconds for one of a kind; None where there was none."""
        number = self.numbers.get(kind, 0)
        return self.seconds[kind] / number if number else None


@dataclass
class Judged:
    """One submission's outcomes by the id of the evidence, and what they took."""

    outcomes: dict[str, str]
    spent: Spent

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "outcomes": self.outcomes,
            "seconds": self.spent.seconds,
            "numbers": self.spent.numbers,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Judged":
        """Read what ``to_json`` gave."""
        return cls(data["outcomes"], Spent(data["seconds"], data["numbers"]))
