"""Moodle: a CSV for each workshop, for *Grades > Import > CSV file*.

Make the grade item first. Map ``idnumber`` to the user's ID number (or to username or email, if
that is how folders are named), and map ``grade`` and ``feedback`` together: feedback alone loses
the grades. Where the roster has an ``idnumber``, it stands there in the place of the submission's
name; where it has ``email``, there is a column of that name to map instead.

A file for each workshop, and only those who were judged in it: Moodle takes an empty cell for a
grade to be removed, and refuses a file that names somebody whom it does not know.
"""

from html import escape
from pathlib import Path

from instructor.report.exports.gradebook import Gradebook, write_left_out
from instructor.report.model import write_text
from instructor.report.points import number_text
from instructor.report.tables import csv_text

COLUMNS = ("idnumber", "grade", "max_grade", "feedback")


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write ``<workshop>.csv`` for each workshop that somebody was judged in."""
    paths = []
    emails = any(scored.ids.get("email") for scored in book.submissions)
    columns = (COLUMNS[0], "email", *COLUMNS[1:]) if emails else COLUMNS
    for workshop in book.shown:
        rows = [
            (
                row.ids.get("idnumber") or row.name,
                *([row.ids.get("email", "")] if emails else ()),
                number_text(row.earned),
                number_text(row.possible),
                # Moodle shows feedback as HTML.
                escape(f"First thing to do: {row.report.first_thing_to_do}", quote=False),
            )
            for row in book.judged(workshop)
        ]
        if rows:
            paths.append(out / f"{workshop}.csv")
            write_text(paths[-1], csv_text([columns, *rows]))
    return paths + write_left_out(book, out)
