"""Exports: the same reports for other programs. One module a consumer, one door for all of them."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from instructor import CourseError
from instructor.report.exports import canvas, classroom50, github, gradescope, junit, moodle
from instructor.report.exports.gradebook import Gradebook, score

__all__ = ["EXPORTS", "FOLDER", "Gradebook", "check_names", "score", "write_exports"]

FOLDER = "exports"
# Each writes below a folder of its own and gives the files that it wrote.
EXPORTS: dict[str, Callable[[Gradebook, Path], list[Path]]] = {
    "canvas": canvas.write,
    "classroom50": classroom50.write,
    "github": github.write,
    "gradescope": gradescope.write,
    "junit": junit.write,
    "moodle": moodle.write,
}


def check_names(names: Iterable[str]) -> None:
    """Refuse a name that is no export, before anything is graded."""
    for name in names:
        if name not in EXPORTS:
            known = ", ".join(EXPORTS)
            raise CourseError(f"There is no export {name!r}. Known: {known}. Give one of them.")


def write_exports(names: Iterable[str], book: Gradebook, out: Path) -> list[Path]:
    """Write each export anew into its folder below ``out``; give every file written."""
    paths: list[Path] = []
    for name in dict.fromkeys(names):
        # What an earlier run wrote may be about a submission that is gone.
        shutil.rmtree(out / name, ignore_errors=True)
        try:
            paths += EXPORTS[name](book, out / name)
        except OSError as error:
            raise CourseError(
                f"The export {name} could not be written: {error}. The reports are there; "
                "make room for it, then grade again."
            ) from error
    return paths
