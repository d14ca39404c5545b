"""One notebook with five checks: through nbgrader and otter-grader, and through us."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from instructor import CourseError
from instructor.benchmark.assignment import RIGHT, WRONG, master, submission
from instructor.in_worker import judge_job
from instructor.judging import Job
from instructor.workers import open_pool
from lab.workshop import Evidence, Workshop

SCRIPT = Path(__file__).with_name("rival_runs.py")
GRADERS = ("nbgrader", "otter-grader")
OURS = "ours"


@dataclass(frozen=True)
class Grader:
    """One grader: the seconds for a notebook, and whether it told right solutions from wrong."""

    name: str
    seconds: float
    right: bool


def compare_rivals(python: str, workshop: Workshop, place: Path, number: int) -> list[Grader]:
    """Grade the same notebooks with each grader that a Python has, and with ours, one at a time.

    Ours goes before and after, so that a machine that gets busier favours nobody.
    """
    names = [f"student-{n}" for n in range(number + 1)]
    submissions = {name: submission(WRONG if n % 2 else RIGHT) for n, name in enumerate(names)}
    with open_pool(1) as pool:
        before, right = pool.submit(_ours, workshop, place / "before", submissions).result()
        others = _theirs(python, place, submissions)
        after, still = pool.submit(_ours, workshop, place / "after", submissions).result()
    return [*others, Grader(OURS, median([*before, *after]), right and still)]


def python_with_rivals() -> str:
    """Give our own Python if another grader is installed in it, else ""."""
    there = any(find_spec(name) for name in ("nbgrader", "otter"))
    return sys.executable if there else ""


def _theirs(python: str, place: Path, submissions: dict[str, str]) -> list[Grader]:
    given = place / "notebooks.json"
    masters = {name: master(name) for name in GRADERS}
    given.write_text(json.dumps({"masters": masters, "submissions": submissions}), "utf-8")
    try:
        done = subprocess.run(  # noqa: S603  our own script, by the Python that was named
            [python, str(SCRIPT), str(given), str(place / "rivals")],
            capture_output=True,
            text=True,
            check=False,
        )
        found = json.loads(done.stdout.splitlines()[-1])
    except OSError as error:
        raise CourseError(
            f"{python} cannot be started ({error.strerror}). Give --rivals the path of a Python."
        ) from error
    except (ValueError, IndexError) as error:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CourseError(f"The other graders ended with {done.returncode}: {last}") from error
    if not found:
        raise CourseError(
            f"{python} has neither nbgrader nor otter-grader. In an environment of its own: "
            "pip install nbgrader otter-grader."
        )
    return [
        Grader(f"{name} {row['version']}", median(row["seconds"]), _told(row["shares"], 1.0))
        for name, row in found.items()
    ]


def _told(results: dict[str, float] | dict[str, str], right: float | str) -> bool:
    """Tell whether right solutions, and only these, got what a right one gets."""
    return all((said == right) == (n % 2 == 0) for n, said in enumerate(results.values()))


def _ours(
    workshop: Workshop, place: Path, submissions: dict[str, str]
) -> tuple[Sequence[float], bool]:
    """Judge each from its folder to its report; the first is not timed, as for the others."""
    file = f"notebooks/{workshop.id}/assignment.ipynb"
    block = workshop.blocks[0].id
    evidence = Evidence("notebook.1", block, "notebook", "It runs.", "", options={"file": file})
    alone = replace(workshop, evidence=(evidence,))
    (place / "scratch").mkdir(parents=True)
    seconds, outcomes = [], {}
    for name, text in submissions.items():
        path = place / name / file
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        began = time.monotonic()
        report = judge_job(Job(name, place / name, (alone,), place / "scratch"))
        seconds.append(time.monotonic() - began)
        outcomes[name] = report.all_evidence[0].outcome
    return seconds[1:], _told(outcomes, "pass")
