"""Tables of inputs on which a teaching gate decides wrongly: one JSON file each, in ``holes/``.

Every object in such a file is a case: its ``id``, its ``kind``, the right ``verdict`` (``accept``
or ``reject``), and the input itself.
"""

import json
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Case = dict[str, Any]


@dataclass(frozen=True)
class HoleTable:
    """The cases of one workshop."""

    cases: list[Case]

    def refused(self, *kinds: str) -> list[Case]:
        """List the cases to refuse; without kinds, those of every kind."""
        rejected = [case for case in self.cases if case["verdict"] == "reject"]
        return [case for case in rejected if not kinds or case["kind"] in kinds]

    def accepted(self) -> list[Case]:
        return [case for case in self.cases if case["verdict"] == "accept"]

    def verdicts(self) -> set[str]:
        return {case["verdict"] for case in self.cases}

    def kinds(self) -> set[str]:
        return {case["kind"] for case in self.cases}

    def repeated_ids(self) -> list[str]:
        return [name for name, n in Counter(case["id"] for case in self.cases).items() if n > 1]

    def incomplete(self, needed: Set[str], optional: Set[str] = frozenset()) -> list[str]:
        """List the cases that lack a needed key or have one that nobody reads."""
        return [case["id"] for case in self.cases if needed ^ (case.keys() - optional)]

    def kinds_with_fewer_than(self, number: int) -> list[str]:
        kinds = Counter(case["kind"] for case in self.cases)
        return [kind for kind, times in kinds.items() if times < number]


def hole_table(workshop: str) -> HoleTable:
    """Read the table of a workshop with the plain reader."""
    path = Path(__file__).with_name("holes") / f"{workshop}.json"
    return HoleTable(json.loads(path.read_text(encoding="utf-8")))


def identifier(case: Case) -> str:
    return f"{case['kind']}: {case['id']}"
