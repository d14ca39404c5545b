"""The teacher's machine: what releasing, teaching and grading need."""

import importlib.util
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from platform import python_version

from packaging.requirements import Requirement

from instructor import COURSE
from instructor.doctor.probe import packages
from instructor.doctor.rows import (
    OK,
    PROBLEM,
    WARNING,
    Row,
    lab_row,
    package_rows,
    python_row,
    this_python,
)
from instructor.sandbox.copies import MEMORY, ROOM_A_WORKER, room
from instructor.sandbox.selftest import AttackResult, attack_results, missing
from instructor.sandbox.tiers import A, B, C, tier
from lab.workshop import WorkshopError, load_workshop, workshop_ids

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "firefox",
    "microsoft-edge", "brave-browser", "vivaldi", "opera", "epiphany", "konqueror",
)  # fmt: skip
MIB, GIB = 1 << 20, 1 << 30
LITTLE_DISK, TOO_LITTLE_DISK = 2 * GIB, 256 * MIB
# Files that were just unpacked may be from another time zone.
CLOCK_SLACK = timedelta(days=1)
INSTALL = "Install them again, in the course's folder: uv sync (or pip install -e .)."


def check_machine(folder: Path, now: datetime) -> Iterator[Row]:
    """Check a teacher's machine row by row; reports are to go below ``folder``."""
    project = tomllib.loads((COURSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield python_row(python_version(), project["requires-python"], this_python())
    names = [Requirement(text).name for text in project["dependencies"]]
    yield from package_rows(project["dependencies"], packages(names)["versions"], INSTALL)
    yield course_row(COURSE)
    yield lab_row(sys.executable, folder)
    yield browser_row()
    yield from sandbox_rows()
    yield cores_row(os.cpu_count() or 1)
    for name, place in {"Disk": folder, "Disk, temporary": Path(tempfile.gettempdir())}.items():
        yield disk_row(name, place, shutil.disk_usage(place).free)
    yield copies_row(room(), os.cpu_count() or 1)
    yield clock_row(now, newest_file(COURSE))
    yield Row("git", OK, "not needed: the kit reads repositories by itself")
    yield dask_row()


def course_row(course: Path) -> Row:
    """Judge whether the course's folders stand beside this package."""
    try:
        ids = workshop_ids(course)
        for name in ids:
            load_workshop(course, name)
    except WorkshopError as error:
        return Row("Course", PROBLEM, f"{error}.", "Mend the file, or take the course anew.")
    if not ids:
        todo = "Run this from a checkout of the course: uv sync there, then uv run instructor."
        return Row("Course", PROBLEM, "There is no notebooks/ beside the program.", todo)
    return Row("Course", OK, ", ".join(ids))


def browser_row() -> Row:
    """Look for a browser on the path; macOS always has one."""
    found = [name for name in BROWSERS if shutil.which(name)]
    if sys.platform == "darwin" or found:
        return Row("Browser", OK, found[0] if found else "the system's own")
    todo = "Install one, for example Firefox, or open the pages on another machine."
    return Row("Browser", WARNING, "None was found, for notebooks, pages and projector.", todo)


def sandbox_rows() -> Iterator[Row]:
    """Say what holds a student's code on this machine, and what came of each attack on it."""
    found, results = tier(), attack_results()
    if found == C:
        todo = " ".join([*missing(B), "Until then, --require-tier C grades all the same."])
        text = "tier C: a student's code can read and write what you can."
        yield Row("Sandbox", PROBLEM, text, todo)
    else:
        more = " ".join(["", "For tier A:", *missing(A)]) if found != A else ""
        text = f"tier {found}: {len(results)} attacks were tried, none came through.{more}"
        yield Row("Sandbox", OK, text)
    yield from (attack_row(result) for result in results)


def attack_row(result: AttackResult) -> Row:
    """Say what came of one attack; where one succeeds, the tier is what there is to mend."""
    if result.contained:
        return Row("", OK, f"{result.name}: held off")
    return Row("", WARNING, f"{result.name}: {result.said}", "Mend the sandbox, above.")


def cores_row(cores: int) -> Row:
    """Say how many submissions are graded at once."""
    one = cores == 1
    return Row("Cores", OK, f"{cores}, so {cores} submission{'' if one else 's'} at once")


def disk_row(name: str, place: Path, free: int) -> Row:
    """Judge the free space of the disk on which a folder lies."""
    found = f"{free / GIB:.1f} GiB free at {place}"
    if free >= LITTLE_DISK:
        return Row(name, OK, found)
    status = WARNING if free >= TOO_LITTLE_DISK else PROBLEM
    other = "set TMPDIR to a folder" if "temporary" in name else "give --out a folder"
    todo = f"Free some, or {other} on a disk that has more."
    return Row(name, status, f"{found}; expected {LITTLE_DISK // GIB} GiB.", todo)


def copies_row(room: int, cores: int) -> Row:
    """Say where the copies of submissions lie while they are graded."""
    wanted = cores * ROOM_A_WORKER
    if room >= wanted:
        return Row("Copies", OK, f"in memory ({MEMORY})")
    if not MEMORY.is_dir():
        return Row("Copies", OK, "on the disk")
    more = f"{wanted / GIB:.0f} GiB that are free in {MEMORY} and in memory would make it quicker"
    return Row("Copies", OK, f"on the disk; {more}, and there are {room / GIB:.1f}")


def clock_row(now: datetime, newest: datetime) -> Row:
    """Judge the clock: no earlier than the course's files, and in which time zone."""
    zone = f"{now:%Y-%m-%d %H:%M}, UTC{now:%z} ({now.tzname()})"
    if now + CLOCK_SLACK < newest:
        todo = "Set the clock: session minutes, --began and the pace of commits go by it."
        found = f"{zone}; expected no earlier than the course's files ({newest:%Y-%m-%d})."
        return Row("Clock", PROBLEM, found, todo)
    return Row("Clock", OK, zone)


def newest_file(course: Path) -> datetime:
    """Give the time at which the newest of the course's files was written."""
    files = (path for part in ("instructor", "lab", "notebooks") for path in _files(course / part))
    newest = max((path.stat().st_mtime for path in files), default=0)
    return datetime.fromtimestamp(newest, UTC)


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def dask_row() -> Row:
    """Say whether grading can go beyond this machine."""
    there = importlib.util.find_spec("distributed") is not None
    return Row(
        "Cluster", OK, "--dask can be used" if there else "--dask is not installed, optional"
    )
