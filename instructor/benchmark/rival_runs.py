"""Grade one notebook with nbgrader and with otter-grader, whichever this Python has.

It is started as ``rival_runs.py NOTEBOOKS FOLDER`` by the Python in which they are installed, and
prints as its last line a JSON object: by grader its version, the seconds for each submission once
it is running, and the share of points that each got.
"""

import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ASSIGNMENT, NOTEBOOK = "assignment", "notebook"
Grade = Callable[[str, str], float]


def main() -> None:
    """Grade every submission with each grader that is there."""
    given, place = Path(sys.argv[1]), Path(sys.argv[2])
    # Both call programs of their environment by bare name.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    notebooks = json.loads(given.read_text(encoding="utf-8"))
    found = {}
    for name, start in {"nbgrader": nbgrader, "otter-grader": otter}.items():
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        own = place / name
        own.mkdir(parents=True)
        os.chdir(own)
        grade = start(own, notebooks["masters"][name], notebooks["submissions"])
        found[name] = {"version": version, **measured(grade, notebooks["submissions"])}
    print()
    print(json.dumps(found))


def measured(grade: Grade, submissions: dict[str, str]) -> dict[str, Any]:
    """Grade the first submission untimed, then all that follow."""
    shares, seconds = {}, []
    for name, text in submissions.items():
        began = time.monotonic()
        shares[name] = grade(name, text)
        seconds.append(time.monotonic() - began)
    return {"seconds": seconds[1:], "shares": shares}


def nbgrader(place: Path, master: str, submissions: dict[str, str]) -> Grade:
    """Make a course with one assignment; give what grades one submission of it."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(place)
    config.CourseDirectory.course_id = "benchmark"
    write(place / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", master)
    for name, text in submissions.items():
        write(place / "submitted" / name / ASSIGNMENT / f"{NOTEBOOK}.ipynb", text)
    api = NbGraderAPI(config=config)
    check(api.generate_assignment(ASSIGNMENT))

    def grade(name: str, _: str) -> float:
        check(api.autograde(ASSIGNMENT, name))
        with Gradebook(f"sqlite:///{place}/gradebook.db") as book:
            found = book.find_submission(ASSIGNMENT, name)
            return float(found.score / found.max_score)

    return grade


def check(result: dict[str, Any]) -> None:
    """Raise where nbgrader says that it could not do something."""
    if not result["success"]:
        raise RuntimeError(result.get("error") or result.get("log"))


def otter(place: Path, master: str, _: dict[str, str]) -> Grade:
    """Make an assignment; give what grades one submission of it."""
    import subprocess

    from otter.api import grade_submission

    write(place / f"{NOTEBOOK}.ipynb", master)
    subprocess.run(  # noqa: S603  the program that is measured
        [sys.executable, "-m", "otter", "assign", "--no-run-tests", f"{NOTEBOOK}.ipynb", "dist"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    archive = next((place / "dist" / "autograder").glob("*.zip"))

    def grade(name: str, text: str) -> float:
        path = place / f"{name}.ipynb"
        write(path, text)
        found = grade_submission(str(path), str(archive), quiet=True)
        return float(found.total / found.possible)

    return grade


def write(path: Path, text: str) -> None:
    """Write a file, and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
