"""Take solutions out: nbgrader's markers, in Python files and in the cells of notebooks alike.

A solution stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION``. Commented lines after
``### STUB`` inside the region become the student's starting point; without them one comment does.
"""

import re

import nbformat

from instructor import CourseError

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
NO_STUB = "# Your code here, where you want helpers of your own.\n"


def without_solutions(file: str, data: bytes) -> bytes:
    """Strip a Python file or a notebook; give any other file as it is."""
    if file.endswith(".py"):
        return strip_solutions(data.decode(), file).encode()
    if file.endswith(".ipynb"):
        notebook = nbformat.reads(data.decode(), as_version=4)
        for cell in notebook.cells:
            cell.source = strip_solutions(cell.source, f"{file}, cell {cell.id}")
        written: str = nbformat.writes(notebook)
        return (written + "\n").encode()
    return data


def strip_solutions(text: str, name: str) -> str:  # noqa: C901  one state machine, read in one go
    """Turn each solution region of a text into its stub; raise ``CourseError`` if one is open."""
    kept: list[str] = []
    stub: list[str] = []
    state = "outside"
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        marker = line.strip()
        if marker == BEGIN and state == "outside":
            state = "solution"
            stub = [f"{line[: len(line) - len(line.lstrip())]}{NO_STUB}"]
        elif marker == STUB and state == "solution":
            state, stub = "stub", []
        elif marker == END and state in ("solution", "stub"):
            kept += stub
            state = "outside"
        elif marker in (BEGIN, STUB, END):
            raise CourseError(f"{name}, line {number}: {marker} does not belong here.")
        elif state == "stub":
            stub.append(re.sub(r"^(\s*)# ?", r"\1", line))
        elif state == "outside":
            kept.append(line)
    if state != "outside":
        raise CourseError(f"{name}: a solution region has no {END}.")
    return "".join(kept)


def with_solutions(text: str) -> str:
    """Give a text with its solutions, without their markers and stubs."""
    kept: list[str] = []
    in_stub = False
    for line in text.splitlines(keepends=True):
        marker = line.strip()
        if marker in (BEGIN, STUB, END):
            in_stub = marker == STUB
        elif not in_stub:
            kept.append(line)
    return "".join(kept)
