"""Run the kit's commands as a user does: in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """A finished command."""

    code: int
    out: str
    err: str


def instructor(*arguments: object, cwd: Path = COURSE, **environment: str) -> Ended:
    return _run(["-m", "instructor", *arguments], cwd, **environment)


def in_workspace(workspace: Path, *arguments: str, given: str = "") -> Ended:
    """Run Python inside a workspace or a course, whose own ``lab`` comes first there."""
    return _run(arguments, workspace, given, PYTHONPATH=str(workspace))


def python(*arguments: str, cwd: Path) -> Ended:
    """Run Python in any folder, with this course's ``lab`` to import and no trace left of it."""
    return _run(arguments, cwd, PYTHONPATH=str(COURSE), PYTHONDONTWRITEBYTECODE="1")


def _run(arguments: Sequence[object], cwd: Path, given: str = "", **environment: str) -> Ended:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        input=given,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
