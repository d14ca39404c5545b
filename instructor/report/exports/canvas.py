"""Canvas: a CSV for each workshop, for *Grades > Import*.

Canvas finds a student by ID, SIS User ID, SIS Login ID, then name. The submission's name stands in
``SIS Login ID`` and in ``Student``; where folders are not named by login, fill in a column of ids.
The last column makes a new assignment. To fill one that exists, write its id behind the title, as
in ``Title (1234)``.

A file for each workshop, and only those who were judged in it: Canvas takes an empty cell for a
grade to be removed.
"""

from pathlib import Path

from instructor.report.exports.gradebook import Gradebook, write_left_out
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
            for row in judged:
                name = _name(row.name)
                rows.append([name, "", "", name, "", number_text(row.earned)])
            paths.append(out / f"{workshop}.csv")
            write_text(paths[-1], csv_text(rows))
    return paths + write_left_out(book, out)


def _name(name: str) -> str:
    """Give a name that Canvas takes for a student, never for the row that sets what is possible."""
    return name.replace(POINTS_ROW, POINTS_ROW.lower())
