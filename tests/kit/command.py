"""Run the kit's commands as a user does: in a process of their own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """A finished command."""

    code: int
    out: str
    err: str


def instructor(*arguments: object, cwd: Path = COURSE) -> Ended:
    return _run([sys.executable, "-m", "instructor", *map(str, arguments)], cwd)


def in_workspace(workspace: Path, *arguments: str) -> Ended:
    """Run Python inside a workspace, whose own ``lab`` comes first there."""
    return _run([sys.executable, *arguments], workspace, PYTHONPATH=str(workspace))


def _run(command: list[str], cwd: Path, **environment: str) -> Ended:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
