"""Hints as data: for each exercise a ladder, from a general hint to a concrete one.

They stand in ``notebooks/<workshop>/hints.toml``, in a classroom's workspace too. None of them is
the answer.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.workshop import Workshop, WorkshopError


@dataclass(frozen=True)
class Ladder:
    """One exercise: its block, the hints in their order, its files, and the checks it is about.

    A file may name one part of it, ``lab/plan_gate.py::gate_plan``.
    """

    exercise: str
    block: str
    title: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    rungs: tuple[str, ...]


def hints_file(workshop_id: str) -> str:
    """Name the file of a workshop's hints, relative to the workspace."""
    return f"notebooks/{workshop_id}/hints.toml"


def load_ladders(root: Path, workshop_id: str) -> tuple[Ladder, ...]:
    """Read the hints of a workshop; raise ``WorkshopError`` with what is wrong with the file."""
    name = hints_file(workshop_id)
    advice = f"Get it back: git checkout -- {name}"
    try:
        data = tomllib.loads((root / name).read_text(encoding="utf-8"))
        return tuple(_ladder(row) for row in data["ladders"])
    except FileNotFoundError as error:
        raise WorkshopError(f"{name} is missing. {advice}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WorkshopError(f"{name} cannot be read: {error}. {advice}") from error


def find_ladder(
    ladders: tuple[Ladder, ...], workshop: Workshop, name: str, red: str = ""
) -> Ladder:
    """Find the exercise of a block's red check, else the one of that name, else the block's first.

    Raises ``WorkshopError`` naming the exercises that there are.
    """
    own = [ladder for ladder in ladders if ladder.block == name]
    about = [ladder for ladder in own if red in ladder.tests]
    named = [ladder for ladder in ladders if ladder.exercise == name]
    for ladder in (*about, *named, *own):
        return ladder
    known = ", ".join(ladder.exercise for ladder in ladders)
    raise WorkshopError(f"{workshop.id} has no exercise {name!r}. Its exercises are: {known}.")


def _ladder(row: dict[str, Any]) -> Ladder:
    lists = {name: tuple(map(str, row.get(name, ()))) for name in ("files", "tests", "rungs")}
    return Ladder(str(row["exercise"]), str(row["block"]), str(row["title"]), **lists)
