"""Evidence ``notebook``: it runs from top to bottom, within its limits, on a copy of its own.

That a notebook ran is evidence that it ran, and of nothing else, so it is never graded. Tags that
would hide a failure are not believed, and the cells that ran are counted. What its checks said and
where it differs from ours goes along as details.
"""

import re
from collections.abc import Iterator
from typing import Any

from instructor import COURSE
from instructor.evidence.bench import Bench, Finding
from instructor.evidence.notebook_file import calls, changes, code_cells, read_notebook
from instructor.evidence.notebook_run import Trace, cell_name, run_notebook
from lab.suite import cut
from lab.workshop import Evidence

EXPECTED = "Every cell runs to its end."
LINE_CHARACTERS = 300
# A notebook may hold any number of cells; a report does not.
MOST_LINES = 60
# The list of a card's checks, or a JSON value over several lines.
_NO_QUOTE = "✓✗…{["
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Execute one notebook: how far it came, what its checks said, how long its cells took."""
    file = evidence.options["file"]
    path = bench.snapshot / file
    if not path.is_file():
        return Finding("fail", f"{file} is missing.", "The notebook is there.")
    try:
        read = read_notebook(path)
    except ValueError as error:
        return Finding("fail", cut(f"{file} cannot be read: {error}."), "A notebook of format 4.")
    trace = Trace()
    problem = run_notebook(read.notebook, file, bench, trace)
    bench.survivors |= set(trace.survivors)
    released = COURSE / file
    changed = changes(read.notebook, released, bench.workshop) if released.is_file() else ()
    details = [*read.remarks, *changed, *_what_cells_said(read.notebook, trace)]
    return _finding(file, bench, read.notebook, trace, (problem, details))


def _finding(
    file: str, bench: Bench, notebook: Any, trace: Trace, said: tuple[str, list[str]]
) -> Finding:
    problem, details = said
    ran, total = len(trace.done), len(code_cells(notebook))
    stopped = problem or ("" if ran == total else "it ends early")
    found = f"{ran} of {total} cells ran."
    if stopped:
        found = cut(f"{_name(file)}: {stopped} ({ran} of {total} cells ran).")
    times = [
        (cell_name(notebook, index), round(trace.seconds(index), 1))
        for index in sorted(trace.begun)[:MOST_LINES]
    ]
    own = [block for block in bench.workshop.blocks if block.notebook == _name(file)]
    return Finding(
        "fail" if stopped else "pass",
        found,
        EXPECTED if stopped else "",
        details=tuple(cut(line, LINE_CHARACTERS) for line in details[:MOST_LINES]),
        seconds=round(sum(trace.seconds(index) for index in trace.begun), 1),
        minutes=sum(block.minutes for block in own),
        cells=tuple(times),
    )


def _what_cells_said(notebook: Any, trace: Trace) -> Iterator[str]:
    """Yield a line for each cell that asks the coach something: the cell, its block, the answer."""
    block = ""
    places = {id(cell): index for index, cell in enumerate(notebook.cells)}
    for number, cell in enumerate(code_cells(notebook), start=1):
        made = calls(cell.source)
        named = [call.about for call in made if call.function in ("block", "check") and call.about]
        block = named[-1] if named else block
        if any(call.function != "block" for call in made):
            where = f" ({block})" if block else ""
            yield f"Code cell {number}{where}: {_answer(cell, places[id(cell)], trace)}"


def _answer(cell: Any, index: int, trace: Trace) -> str:
    if index not in trace.begun:
        return "it was not reached."
    lines = [line.strip() for line in _shown(cell).splitlines() if line.strip()]
    first = next((n for n, line in enumerate(lines) if line.startswith("First: ")), 0)
    # Of a card its heading, and the first problem with what was found; of a note its quote.
    kept = lines[first : first + 2] if first else [x for x in lines[1:2] if x[0] not in _NO_QUOTE]
    silent = "it showed nothing." if index in trace.done else "it did not come to its end."
    return _ADDRESS.sub("0x…", " ".join([*lines[:1], *kept])) or silent


def _shown(cell: Any) -> str:
    """Give what a cell showed as plain text: printed, displayed or raised."""
    texts = []
    for output in cell.get("outputs", []):
        kind = output.get("output_type")
        if kind == "error":
            texts.append(f"{output.get('ename')}: {output.get('evalue')}")
        else:
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(texts)


def _name(file: str) -> str:
    return file.rpartition("/")[2]
