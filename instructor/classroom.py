"""The sample class: each pair is only what it changes in what it builds on.

A pair's folder holds whole files, and a ``changes.toml`` for a file of which most stays: rows of
``file``, ``old`` and ``new``, where each old text stands exactly once in the file so far.
"""

import shutil
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from instructor import COURSE, CourseError
from instructor.commits import commit_all
from instructor.edits import replaced
from instructor.release import build, release, workspace_files
from lab.workshop import Workshop, load_workshop

CLASSROOM = COURSE / "fixtures" / "classroom"
CHANGES = "changes.toml"
MARK = ".sample-class"


@dataclass(frozen=True)
class Pair:
    """One pair of the sample class: its name, what is wrong, and the outcome of each block."""

    name: str
    shows: str
    workshops: tuple[str, ...]
    builds_on: str
    without: tuple[str, ...]
    outcomes: dict[str, str]
    first: str
    # The minute of the session at which the step is committed; None where it never is.
    minute: int | None = None


def load_pairs() -> list[Pair]:
    """Read ``class.toml``, in the order in which pairs build on each other."""
    rows = tomllib.loads((CLASSROOM / "class.toml").read_text(encoding="utf-8"))["pairs"]
    return [
        Pair(**{**row, "workshops": tuple(row["workshops"]), "without": tuple(row["without"])})
        for row in rows
    ]


def build_pair(pair: Pair, pairs: list[Pair], target: Path, now: datetime) -> None:
    """Make one pair's submission: a release, what the pairs before it change, then its own.

    Raises ``CourseError`` naming pair and file where a change does not fit.
    """
    release(load_workshops(pair.workshops), target, now)
    for step in _lineage(pair, pairs):
        folder, ignore = CLASSROOM / step.name, shutil.ignore_patterns(CHANGES)
        shutil.copytree(folder, target, dirs_exist_ok=True, ignore=ignore)
        _change(step.name, folder / CHANGES, target)
        for file in step.without:
            (target / file).unlink()
        if step.minute is not None:
            commit_all(target, now + timedelta(minutes=step.minute), step.shows)


def build_class(target: Path, now: datetime, names: Collection[str] = ()) -> None:
    """Make the submissions of the sample pairs, or of those named, below a folder that is free.

    Raises ``CourseError`` for a name that no pair has.
    """
    pairs = load_pairs()
    known = [pair.name for pair in pairs]
    for name in names:
        if name not in known:
            raise CourseError(f"There is no sample pair {name!r}. Known: {', '.join(known)}.")
    for pair in pairs:
        if pair.name in names or not names:
            build_pair(pair, pairs, target / pair.name, now)


def build_demo(to: Path, now: datetime, names: Collection[str] = ()) -> Path:
    """Make the sample class anew below ``to``; refuse a folder that holds anything else."""
    if to.exists() and any(to.iterdir()) and not (to / MARK).is_file():
        raise CourseError(f"{to} holds something that the demo did not make. Name a free folder.")
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    (to / MARK).write_text("Made by instructor demo, which will make it anew.\n", encoding="utf-8")
    build_class(to / "class", now, names)
    return to / "class"


def build_reference(workshops: list[Workshop], target: Path) -> None:
    """Make a submission of the course's own solutions."""
    build(workshops, target)
    for file, data in workspace_files(workshops, solved=True):
        (target / file).write_bytes(data)


def load_workshops(ids: tuple[str, ...]) -> list[Workshop]:
    """Load workshops of this course by id."""
    return [load_workshop(COURSE, workshop_id) for workshop_id in ids]


def _change(name: str, changes: Path, target: Path) -> None:
    """Make a pair's changes, where it has any, to the files that are there so far."""
    if not changes.is_file():
        return
    for change in tomllib.loads(changes.read_text(encoding="utf-8"))["changes"]:
        path, where = target / change["file"], f"{name}/{CHANGES}, {change['file']}"
        if not path.is_file():
            raise CourseError(f"{where}: there is no such file in what the pair builds on.")
        text = replaced(path.read_text(encoding="utf-8"), [change], where)
        path.write_text(text, encoding="utf-8", newline="\n")


def _lineage(pair: Pair, pairs: list[Pair]) -> list[Pair]:
    """List a pair and what it builds on, the oldest first."""
    if pair.builds_on == "release":
        return [pair]
    by_name = {other.name: other for other in pairs}
    if pair.builds_on not in by_name:
        raise CourseError(
            f"class.toml: {pair.name} builds on {pair.builds_on!r}, which is no pair."
        )
    return [*_lineage(by_name[pair.builds_on], pairs), pair]
