"""Read a stranger's notebook: repair first, say each repair, then compare it with ours.

Only the type, the id and the source of a cell are taken over. What a notebook says about itself
(tags, outputs, counts, the name of a kernel) is nobody's evidence.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from instructor.conflicts import conflict_line
from lab.workshop import Workshop

FORMAT = 4
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# A call of the coach that is no comment: its function and, where given as texts, two arguments.
_CALL = re.compile(
    r"""^[^#\n]*?\bcoach\.(\w+)\((?:\s*["']([^"']*)["']\s*,\s*["']([^"']*)["'])?""", re.MULTILINE
)


@dataclass(frozen=True)
class NotebookFile:
    """A notebook of format 4 that can be run, and what had to be mended or overlooked."""

    notebook: Any
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A cell's call of the coach; ``about`` is its second argument, a block where it checks one."""

    function: str
    about: str


def read_notebook(path: Path) -> NotebookFile:
    """Read a notebook of any format and encoding that can be told.

    Raises ``ValueError`` with the reason where it is no notebook.
    """
    text, encoding = _decode(path.read_bytes())
    raw = _parse(text)
    remarks = [encoding] if encoding else []
    version = raw["nbformat"]
    if version < FORMAT:
        raw = _upgrade(text)
        remarks.append(f"It is of the old format {version}; save it once in JupyterLab.")
    cells = list(_clean(raw["cells"]))
    remarks += _number_twins(cells)
    notebook = nbformat.from_dict(
        {"cells": cells, "metadata": {}, "nbformat": FORMAT, "nbformat_minor": 5}
    )
    return NotebookFile(notebook, tuple(remarks))


def code_cells(notebook: Any) -> list[Any]:
    """List the cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def calls(source: str) -> list[Call]:
    """List a cell's calls of the coach."""
    return [Call(function, about) for function, _, about in _CALL.findall(source)]


def changes(notebook: Any, released: Path, workshop: Workshop) -> Iterator[str]:
    """Say which of our code cells are Markdown now, and which checks are gone."""
    kinds = {cell.id: cell.cell_type for cell in notebook.cells}
    kept = {call for cell in code_cells(notebook) for call in calls(cell.source)}
    for cell in read_notebook(released).notebook.cells:
        if cell.cell_type != "code":
            continue
        kind = kinds.get(cell.id, "code")
        gone = [c.about for c in calls(cell.source) if c.function == "check" and c not in kept]
        if kind != "code":
            shown = {"markdown": "Markdown"}.get(kind, kind)
            yield (
                f"Our code cell {cell.id!r} is {shown} now, so it was not run. "
                "In JupyterLab: select it, press Esc, then Y."
            )
        else:
            titles = (workshop.block(block).title for block in gone)
            yield from (
                f"The check of “{title}” is gone from this notebook; grading has its own."
                for title in titles
            )


def _decode(data: bytes) -> tuple[str, str]:
    """Give the text of a JSON file, and a remark where it is not plain UTF-8."""
    encoding = json.detect_encoding(data)
    name = encoding.upper().replace("-SIG", "").removesuffix("-LE").removesuffix("-BE")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not {name} text at byte {error.start}") from error
    if encoding == "utf-8":
        return text, ""
    odd = "begins with a byte-order mark" if encoding == "utf-8-sig" else f"is saved as {name}"
    return text, f"It {odd}; save it again as plain UTF-8, as JupyterLab does."


def _parse(text: str) -> Any:
    if line := conflict_line(text):
        raise ValueError(f"it holds a merge conflict that nobody has settled, at line {line}")
    try:
        raw = json.loads(text)
        known = isinstance(raw["nbformat"], int) and 1 <= raw["nbformat"] <= FORMAT
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"it is not a notebook ({type(error).__name__})") from error
    if not known or (raw["nbformat"] == FORMAT and not isinstance(raw.get("cells"), list)):
        raise ValueError("it is not a notebook of the formats 1 to 4")
    return raw


def _upgrade(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return nbformat.reads(text, as_version=FORMAT)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it is not a valid notebook: {reason}") from error


def _clean(cells: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield each cell with nothing but its type, its id ("" for none) and its source."""
    for number, cell in enumerate(cells, start=1):
        kind, source, own = (
            (cell.get("cell_type"), cell.get("source", ""), cell.get("id"))
            if isinstance(cell, dict)
            else ("", "", "")
        )
        lines = [source] if isinstance(source, str) else source
        texts = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
        if kind not in ("code", "markdown", "raw") or not texts:
            raise ValueError(f"its cell {number} has no type or no source that Jupyter knows")
        usable = isinstance(own, str) and _ID.fullmatch(own)
        clean = {"cell_type": kind, "id": own if usable else "", "source": "".join(lines)}
        code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
        yield {**clean, "metadata": {}, **code}


def _number_twins(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Give every cell an id of its own, always the same; yield a remark on each that had a twin."""
    own = [cell["id"] for cell in cells]
    taken = set(own)
    seen: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        if not cell["id"] or cell["id"] in seen:
            name = f"cell-{number}"
            while name in taken:
                name += "-"
            cell["id"] = name
            taken.add(name)
        seen.add(cell["id"])
    for name, times in Counter(own).items():
        if name and times > 1:
            yield (
                f"The cell id {name!r} stands {times} times, as after copying a cell; "
                "all of them were kept."
            )
