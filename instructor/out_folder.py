"""Where a class's reports go, what may not lie there, and where copies lie meanwhile."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from instructor import CourseError
from instructor.intake.roster import Entry
from instructor.report.exports import FOLDER
from instructor.report.folders import report_folders
from instructor.sandbox.copies import folder_for_copies
from instructor.sandbox.quota import clear_away

_BROUGHT = ".work"


def check_out(folder: Path | None, out: Path, entries: list[Entry]) -> None:
    """Refuse to write into what is graded; ``folder`` is that of a whole class."""
    sources = [attempt.source for entry in entries for attempt in entry.attempts]
    places = [
        Path(source.place) for source in sources if source.place and "://" not in source.place
    ]
    reports = [out / name for name in report_folders(entry.name for entry in entries).values()]
    whole = [
        *(place for place in places if place.is_dir()),
        *([folder.resolve()] if folder else []),
    ]
    inside = any(out.resolve().is_relative_to(path) for path in whole)
    # Copies and exports are made anew each time, so nothing that is graded may lie there.
    anew = [(out / name).resolve() for name in (FOLDER, _BROUGHT)]
    inside = inside or any(place.is_relative_to(path) for place in places for path in anew)
    if inside or any(path.resolve() in places for path in reports):
        raise CourseError(
            f"The reports would be written into what is graded ({out}). "
            "Give --out a folder outside the class."
        )
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is a file. Give --out a folder, or a name that is free.")


@contextlib.contextmanager
def places_for(out: Path, workers: int) -> Iterator[tuple[Path, Path]]:
    """Give a folder for what is brought in, and one for copies of it; both go away again."""
    brought = (out / _BROUGHT).resolve()
    clear_away(brought)
    try:
        brought.mkdir(parents=True)
    except OSError as error:
        raise CourseError(
            f"{out} cannot be written ({error.strerror}). Give --out a folder that can."
        ) from error
    try:
        with folder_for_copies(brought, workers) as copies:
            yield brought, copies
    finally:
        clear_away(brought)
