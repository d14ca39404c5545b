"""What comes after several workshops together: a notebook that is neither timed nor graded.

An extra is a folder ``notebooks/<name>/`` with an ``extra.toml``. A workspace gets it when it holds
every workshop that the extra needs.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from instructor import COURSE, CourseError
from lab.workshop import Workshop


@dataclass(frozen=True)
class Extra:
    """One notebook for afterwards, and the files that it needs beside it."""

    title: str
    notebook: str
    needs: frozenset[str]
    files: tuple[str, ...]


def extras_for(workshops: Iterable[Workshop]) -> list[Extra]:
    """List the extras of which every needed workshop is there."""
    ids = {workshop.id for workshop in workshops}
    return [extra for extra in all_extras() if extra.needs <= ids]


def all_extras() -> list[Extra]:
    """Read every ``extra.toml``; raise ``CourseError`` naming the file that is wrong."""
    return [_read(path.parent.name) for path in sorted(COURSE.glob("notebooks/*/extra.toml"))]


def _read(name: str) -> Extra:
    folder = f"notebooks/{name}"
    try:
        row = tomllib.loads((COURSE / folder / "extra.toml").read_text(encoding="utf-8"))
        notebook = f"{folder}/{row['notebook']}"
        return Extra(
            row["title"], notebook, frozenset(row["needs"]), (notebook, *map(str, row["files"]))
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{folder}/extra.toml cannot be used: {error}") from error
