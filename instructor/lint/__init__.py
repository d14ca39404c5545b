"""The course lint: one command proves that all parts of the course agree with each other."""

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from instructor import COURSE, CourseError
from instructor.extras import all_extras
from instructor.lint import data, gates, graded, hints, notebooks
from instructor.lint.notebooks import extra_problems
from instructor.report.weights import load_weights
from lab.workshop import Workshop, load_workshop, workshop_ids

Area = tuple[str, list[str]]


def check_course(
    workers: int, *, quick: bool = False, keep: Path | None = None, pairs: Collection[str] = ()
) -> Iterator[Area]:
    """Yield each area that was checked, with its problems; ``quick`` leaves out what is graded.

    ``keep`` is a free folder for the submissions that are graded, and for their reports. ``pairs``
    names the sample pairs to grade, all of them when empty.
    """
    ids = workshop_ids(COURSE)
    if not ids:
        yield "Workshops", ["There is no notebooks/<workshop>/timing.toml."]
        return
    for workshop_id in ids:
        problems = list(data.schema_problems(workshop_id))
        yield f"{workshop_id}: its data files have the form that they must have", problems
        if problems:
            return
    workshops = [load_workshop(COURSE, workshop_id) for workshop_id in ids]
    for workshop in workshops:
        name = workshop.id
        yield f"{name}: minutes, cues and cuts add up", list(data.timing_problems(workshop))
        yield f"{name}: notebooks agree with the plan", list(notebooks.problems(workshop))
        yield f"{name}: each block with work has hints", list(hints.problems(workshop))
        yield f"{name}: each block has something to earn", list(data.guard_problems(workshop))
        yield f"{name}: cases and wrong gates decide", list(gates.answer_problems(workshop))
        yield f"{name}: no file is missing or orphaned", list(data.file_problems(workshop))
    for extra in all_extras():
        yield f"{extra.title}: its notebook and files are there", list(extra_problems(extra))
    yield "weights name what there is", _weight_problems(workshops)
    if quick:
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from graded.areas(workshops, keep or Path(folder), workers, pairs)


def _weight_problems(workshops: list[Workshop]) -> list[str]:
    try:
        load_weights(None, workshops)
    except CourseError as error:
        return [str(error)]
    return []
