"""Lint of the notebooks: minutes equal the plan's, no outputs, ids that mean something."""

import re
from collections.abc import Iterator
from typing import Any

import nbformat

from instructor import COURSE
from instructor.extras import Extra
from lab.workshop import Workshop

MAX_CODE_LINES = 15
# What an editor makes up for a cell without an id.
_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]+)?$")


def problems(workshop: Workshop) -> Iterator[str]:
    """Check each notebook of a workshop, and that each block has one."""
    for name in workshop.notebooks:
        path = COURSE / "notebooks" / workshop.id / name
        if not path.is_file():
            yield f"{name} is missing."
            continue
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        for problem in (*_plan(workshop, name, notebook), *_cells(notebook)):
            yield f"{name}: {problem}"


def extra_problems(extra: Extra) -> Iterator[str]:
    """Check that an extra's files are there and that its notebook is as clean as the others."""
    missing = [file for file in extra.files if not (COURSE / file).is_file()]
    if missing:
        yield from (f"{file} is named in extra.toml and is not there." for file in missing)
        return
    notebook = nbformat.read(COURSE / extra.notebook, as_version=nbformat.NO_CONVERT)
    yield from _cells(notebook)


def _plan(workshop: Workshop, name: str, notebook: Any) -> Iterator[str]:
    own = [block for block in workshop.all_blocks if block.notebook == name]
    wanted = [{"id": block.id, "minutes": block.minutes} for block in own]
    said = notebook.metadata.get("courseware", {})
    if said.get("workshop") != workshop.id or list(said.get("blocks", [])) != wanted:
        yield f"its metadata do not say workshop {workshop.id} and blocks {wanted}."
    first = notebook.cells[0].source if notebook.cells else ""
    for block in own:
        if f"| {block.title} | {block.minutes}" not in first and block in workshop.blocks:
            yield f"its first cell does not say that “{block.title}” has {block.minutes} minutes."
        call = f'coach.check("{workshop.id}", "{block.id}")'
        if block in workshop.blocks and not any(call in cell.source for cell in notebook.cells):
            yield f"no cell checks the outcome of {block.id}: {call}"


def _cells(notebook: Any) -> Iterator[str]:
    if (notebook.nbformat, notebook.nbformat_minor) != (4, 5):
        yield f"it is of format {notebook.nbformat}.{notebook.nbformat_minor}, not 4.5."
    ids = [cell.get("id", "") for cell in notebook.cells]
    for cell_id in ids:
        if ids.count(cell_id) > 1 or _MADE_UP.fullmatch(cell_id) or not cell_id:
            yield f"cell id {cell_id!r} says nothing, or stands twice."
    for cell in notebook.cells:
        if cell.metadata.get("tags"):
            yield f"cell {cell.id} has tags, which graders do not believe."
        if cell.cell_type == "code":
            yield from _code_cell(cell)


def _code_cell(cell: Any) -> Iterator[str]:
    if cell.outputs or cell.execution_count is not None:
        yield f"cell {cell.id} has outputs or a count; clear them before you save."
    if len(cell.source.splitlines()) > MAX_CODE_LINES:
        yield f"cell {cell.id} has more than {MAX_CODE_LINES} lines of code."
