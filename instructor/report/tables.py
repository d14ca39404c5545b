"""CSV for spreadsheets and gradebooks: quoted where it must be, and never a formula."""

import csv
import io
from collections.abc import Iterable, Sequence

# A spreadsheet computes a cell that begins with one of these, whoever wrote it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def cell(value: object) -> str:
    """Write a cell as text; an apostrophe goes before what a spreadsheet would take for a formula.

    Numbers of ours are never negative, so they are never touched.
    """
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Write rows as CSV with commas, a line feed after each."""
    return "".join(f"{_line(row)}\n" for row in rows)


def _line(row: Sequence[object]) -> str:
    file = io.StringIO()
    # With this terminator the writer quotes a carriage return too; it leaves a lone one bare else.
    csv.writer(file, lineterminator="\r\n").writerow([cell(value) for value in row])
    return file.getvalue().removesuffix("\r\n")
