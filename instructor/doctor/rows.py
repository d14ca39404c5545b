"""A row of the doctor's table, and the rows that a course and a workspace have in common."""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

OK, WARNING, PROBLEM = "ok", "warning", "problem"
PROBE = Path(__file__).with_name("probe.py")
# For a machine that has never started JupyterLab before.
PROBE_SECONDS = 180


@dataclass(frozen=True)
class Row:
    """One check: what it is about, how it went, what was found, and what to do next if anything."""

    name: str
    status: str
    found: str
    next: str = ""


def ask(python: str, folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Ask ``probe.py`` in a process of a Python; give its answer and "", or {} and what went wrong.

    It starts in ``folder``, so modules are found there first, as in a notebook.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own script, by its full path
            [python, str(PROBE), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PROBE_SECONDS,
        )
        answer = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {}, f"nothing came back within {PROBE_SECONDS} seconds"
    except OSError as error:
        return {}, f"{python} cannot be started ({error.strerror})"
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return {}, f"it ended with {done.returncode}: {last}"
    trouble = str(answer.get("trouble", ""))
    return ({}, trouble) if trouble else (answer, "")


def python_row(version: str, wanted: str, place: str) -> Row:
    """Judge a version of Python against what ``requires-python`` asks for."""
    found = f"{version}, {place}"
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Row("Python", OK, found)
    todo = "Install such a Python, or let uv do it: pip install uv && uv sync."
    return Row("Python", PROBLEM, f"{found}; expected {wanted}.", todo)


def package_rows(wanted: Iterable[str], versions: dict[str, str | None], advice: str) -> list[Row]:
    """Judge the installed versions: one row for all that fit, one for each that does not."""
    rows = []
    fitting = []
    for requirement in map(Requirement, wanted):
        version = versions.get(requirement.name)
        if version is None:
            found = f"{requirement.name} is not installed; expected {requirement.specifier}."
            rows.append(Row("Packages", PROBLEM, found, advice))
        elif not requirement.specifier.contains(version, prereleases=True):
            found = f"{requirement.name} is {version}; expected {requirement.specifier}."
            rows.append(Row("Packages", PROBLEM, found, advice))
        else:
            fitting.append(f"{requirement.name} {version}")
    shown = ", ".join(fitting) if len(fitting) <= 4 else f"{len(fitting)} of them, in range"
    return [Row("Packages", OK, shown), *rows] if fitting else rows


def lab_row(python: str, folder: Path) -> Row:
    """Start JupyterLab as a user does, without a browser, and ask it for a page."""
    answer, trouble = ask(python, folder, "lab")
    if answer:
        return Row("JupyterLab", OK, f"starts, in {answer['seconds']:.0f} s")
    command = f"{Path(python).name} -m jupyterlab"
    todo = f"Start it by hand to see more: {command}. Then install it anew, as README says."
    return Row("JupyterLab", PROBLEM, f"It does not start: {trouble}.", todo)


def this_python() -> str:
    """Name the Python that runs this."""
    return f"in {Path(sys.prefix).name}" if sys.prefix != sys.base_prefix else "the system's own"
