"""Canvas: a CSV for each workshop, for *Grades > Import*.

Canvas finds a student by ID, SIS User ID, SIS Login ID, then name. The ids are those of the roster
(``canvas_id``, ``sis_user_id``, ``sis_login``). Without any, the submission's name stands in ``SIS
Login ID`` as it does in ``Student``; where folders are not named by login, fill in a column of ids.
The last column makes a new assignment. To fill one that exists, write its id behind the title, as
in ``Title (1234)``.

A file for each workshop, and only those who were judged in it: Canvas takes an empty cell for a
grade to be removed.
"""

from pathlib import Path

from instructor.report.exports.gradebook import Gradebook, Judged, write_left_out
from instructor.report.model import write_text
from instructor.report.points import number_text
from instructor.report.tables import csv_text

STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_ROW = "Points Possible"


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write ``<workshop>.csv`` for each workshop that somebody was judged in."""
    paths = []
    for workshop, title in book.shown.items():
        judged = book.judged(workshop)
        if judged:
            possible = number_text(judged[0].possible)
            rows = [[*STUDENT_COLUMNS, title], [f"    {POINTS_ROW}", "", "", "", "", possible]]
            rows += [[*_student(row), "", number_text(row.earned)] for row in judged]
            paths.append(out / f"{workshop}.csv")
            write_text(paths[-1], csv_text(rows))
    return paths + write_left_out(book, out)


def _student(row: Judged) -> list[str]:
    """Give a student's name and ids; the name is a login only where a roster says nothing else."""
    name = _name(row.name)
    ids = [row.ids.get(kind, "") for kind in ("canvas_id", "sis_user_id", "sis_login")]
    return [name, *(ids if any(ids) else ["", "", name])]


def _name(name: str) -> str:
    """Give a name that Canvas takes for a student, never for the row that sets what is possible."""
    return name.replace(POINTS_ROW, POINTS_ROW.lower())
