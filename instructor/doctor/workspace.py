"""A student's machine: a workspace on it is whole, and what its notebooks need is there."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from instructor import COURSE, CourseError
from instructor.doctor.rows import OK, PROBLEM, WARNING, Row, ask, lab_row, package_rows, python_row
from instructor.release import COMMON
from instructor.submission import course_files
from lab.workshop import Workshop, WorkshopError, load_workshop, workshop_ids

INSTALL = "In the workspace's folder: pip install uv && uv sync (or pip install -e .)."
ANEW = "Make the workspace anew: uv run instructor release."


def check_workspace(workspace: Path, python: str) -> Iterator[Row]:
    """Check a workspace and the Python that it runs on, row by row.

    Its modules are imported, as its notebooks would, so give it a workspace that you trust.
    Raises ``CourseError`` where there is no workspace.
    """
    workspace = workspace.resolve()
    if not (workspace / "pyproject.toml").is_file() or not (workspace / "lab").is_dir():
        raise CourseError(
            f"{workspace} is no workspace: expected pyproject.toml and lab/ in it. "
            "Make one with: instructor release WORKSHOP --to FOLDER."
        )
    own = own_python(workspace)
    python = own or python
    yield from _python_rows(workspace, python, "the workspace's own" if own else "the kit's")
    workshops, rows = _load(workspace)
    yield from rows
    yield files_row(workspace, workshops)
    yield version_row(workspace, workshops)
    yield modules_row(workspace, workshops, python)
    yield kernel_row(workspace, python)
    yield lab_row(python, workspace)


def own_python(workspace: Path) -> str:
    """Give the Python of a workspace's own environment; "" where it has none yet."""
    for place in ("bin/python", "Scripts/python.exe"):
        path = workspace / ".venv" / place
        if path.exists():
            return os.fspath(path)
    return ""


def _python_rows(workspace: Path, python: str, whose: str) -> Iterator[Row]:
    text = (workspace / "pyproject.toml").read_text(encoding="utf-8")
    try:
        project = tomllib.loads(text)["project"]
        wanted, versions = project["dependencies"], project["requires-python"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        yield Row("Workspace", PROBLEM, f"pyproject.toml cannot be used: {error}.", ANEW)
        return
    names = [Requirement(text).name for text in wanted]
    answer, trouble = ask(python, workspace, "packages", *names)
    if not answer:
        yield Row("Python", PROBLEM, f"{python}: {trouble}.", INSTALL)
        return
    yield python_row(answer["python"], versions, whose)
    yield from package_rows(wanted, answer["versions"], INSTALL)


def _load(workspace: Path) -> tuple[list[Workshop], list[Row]]:
    try:
        found = [load_workshop(workspace, name) for name in workshop_ids(workspace)]
    except WorkshopError as error:
        return [], [Row("Workspace", PROBLEM, f"{error}.", ANEW)]
    if not found:
        return [], [Row("Workspace", PROBLEM, "It holds no workshop.", ANEW)]
    return found, [Row("Workspace", OK, ", ".join(workshop.id for workshop in found))]


def files_row(workspace: Path, workshops: list[Workshop]) -> Row:
    """Judge whether every file that a release puts there is there."""
    files = dict.fromkeys([*COMMON, *(file for workshop in workshops for file in workshop.files)])
    missing = [file for file in files if not (workspace / file).is_file()]
    if missing:
        return Row("Files", PROBLEM, f"Missing: {_some(missing)}.", ANEW)
    return Row("Files", OK, f"{len(files)} of {len(files)} are there")


def version_row(workspace: Path, workshops: list[Workshop]) -> Row:
    """Judge whether the course's own code in a workspace is this course's."""
    files = dict.fromkeys(file for workshop in workshops for file in course_files(workshop))
    here = [file for file in files if (workspace / file).is_file()]
    other = [f for f in here if _lines(workspace / f) != _lines(COURSE / f)]
    if other:
        found = f"Other than in this course: {_some(other)}."
        return Row("Version", WARNING, found, f"{ANEW} Grading uses this course's.")
    return Row("Version", OK, "the course's code is this course's")


def _lines(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n") if path.is_file() else b""


def modules_row(workspace: Path, workshops: list[Workshop], python: str) -> Row:
    """Import what the notebooks import: the coach, and each gate."""
    names = ["lab.coach", *(workshop.gate.module for workshop in workshops)]
    answer, trouble = ask(python, workspace, "modules", *names)
    broken = {"lab": trouble} if trouble else answer["broken"]
    if broken:
        found = "; ".join(f"{name}: {why}" for name, why in broken.items())
        return Row("Modules", PROBLEM, f"Cannot be imported: {found}.", f"{INSTALL} If not: {ANEW}")
    return Row("Modules", OK, f"{', '.join(names)} can be imported")


def kernel_row(workspace: Path, python: str) -> Row:
    """Have a kernel answer, as a notebook does."""
    answer, trouble = ask(python, workspace, "kernel")
    if answer:
        return Row("Kernel", OK, f"answers, after {answer['seconds']:.0f} s")
    return Row("Kernel", PROBLEM, f"It does not answer: {trouble}.", INSTALL)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
