"""Notebooks: every repair is said, what each check said is kept, and nothing hides a failure."""

import gc
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from instructor.evidence.notebook_file import changes, read_notebook
from instructor.in_worker import judge_job
from instructor.judging import Job
from instructor.report.model import CellTime, EvidenceReport, Report
from instructor.report.pages import time_text
from instructor.workers import open_pool
from lab.workshop import Workshop
from tests.kit.command import COURSE
from tests.kit.instructor.benches import Change, changed, report_on, write

Grade = Callable[..., Report]
Judge = Callable[..., EvidenceReport]

NOTEBOOK = "notebooks/plan_gate/1_inventory_and_contract.ipynb"
CHECK = 'coach.check("plan_gate", "inventory")'
SETUP = 'import sys\nsys.path.insert(0, "../..")\nfrom lab import coach\n'
OLD = {
    "nbformat": 3, "nbformat_minor": 0, "metadata": {},
    "worksheets": [{"cells": [{"cell_type": "code", "input": "1/1", "language": "python",
                               "outputs": [], "metadata": {}}], "metadata": {}}],
}  # fmt: skip


def code(source: str, name: str = "", kind: str = "code", **metadata: Any) -> dict[str, Any]:
    own = {"id": name} if name else {}
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source, **own, **extra}


def text_of(*cells: dict[str, Any], **metadata: Any) -> str:
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False)


def released() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((COURSE / NOTEBOOK).read_text(encoding="utf-8"))
    return data


def remarks_on(data: bytes | str, tmp_path: Path) -> tuple[str, ...]:
    path = tmp_path / "x.ipynb"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_notebook(path).remarks


def changes_of(notebook: dict[str, Any], tmp_path: Path, workshop: Workshop) -> list[str]:
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return list(changes(read_notebook(path).notebook, COURSE / NOTEBOOK, workshop))


@pytest.fixture(scope="module")
def worker() -> Iterator[Executor]:
    """A grader's own worker, as for a class."""
    with open_pool(1) as pool:
        yield pool


@pytest.fixture
def grade(reference: Path, tmp_path: Path, workshop: Workshop, worker: Executor) -> Grade:
    """Grade a changed submission on its first notebook alone."""

    def in_worker(job: Job) -> Report:
        return worker.submit(judge_job, job).result()

    def grade(*changes: Change) -> Report:
        root = changed(reference, tmp_path, *changes)
        return report_on(root, tmp_path, workshop, "notebook.1", in_worker)

    return grade


@pytest.fixture
def judge(grade: Grade) -> Judge:
    """Judge the first notebook of a changed submission."""
    return lambda *changes: grade(*changes).all_evidence[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("{", "it is not a notebook (JSONDecodeError)"),
        ("[]", "it is not a notebook (TypeError)"),
        ("[" * 100_000, "it is not a notebook (RecursionError)"),
        ('{"nbformat": 5, "cells": []}', "it is not a notebook of the formats 1 to 4"),
        ('{"nbformat": 4, "cells": {}}', "it is not a notebook of the formats 1 to 4"),
        ('{"nbformat": 3, "worksheets": 7}', "it is not a valid notebook"),
        (text_of(code("1", kind="heading")), "its cell 1 has no type or no source"),
        (text_of(code("1"), {"cell_type": "code", "source": [1]}), "its cell 2 has no type or no"),
        (text_of(code("# é")).encode("latin-1"), "it is not UTF-8 text at byte 62"),
        (b'{"nbformat": 4, "x": "\xff"}', "it is not UTF-8 text at byte 22"),
        (text_of(code("é")).encode("utf-16")[:-1], "it is not UTF-16 text at byte"),
        ('{\n"cells": [\n<<<<<<< HEAD\n', "a merge conflict that nobody has settled, at line 3"),
        ('{\r\n>>>>>>> theirs\r\n', "a merge conflict that nobody has settled, at line 2"),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_refused_with_its_reason(
    data: bytes | str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"^it") as refused:
        remarks_on(data, tmp_path)

    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("data", "remark"),
    [
        (text_of(code("# é")), ""),
        (text_of(code("# é")).encode("utf-8-sig"), "It begins with a byte-order mark"),
        (text_of(code("# é")).encode("utf-16"), "It is saved as UTF-16; save it again"),
        (text_of(code("# é")).encode("utf-16-be"), "It is saved as UTF-16; save it again"),
        (text_of(code("# é")).encode("utf-32"), "It is saved as UTF-32; save it again"),
        (json.dumps(OLD), "It is of the old format 3; save it once in JupyterLab."),
        (text_of(code("1", "a"), code("2", "a")), "The cell id 'a' stands 2 times, as after"),
        (text_of(code("1"), code("2")), ""),
        (text_of(code("1", "no id"), code("2", "no id")), ""),
    ],
)
def test_what_can_be_mended_is_read_with_a_remark(
    data: bytes | str, remark: str, tmp_path: Path
) -> None:
    remarks = remarks_on(data, tmp_path)

    assert [said[: len(remark)] for said in remarks] == ([remark] if remark else [])


def test_twin_cells_both_stay_and_their_ids_are_the_same_every_time(tmp_path: Path) -> None:
    text = text_of(code("1", "a"), code("2", "a"), code("3", "cell-2"), code("4"))
    (tmp_path / "x.ipynb").write_text(text)

    cells = read_notebook(tmp_path / "x.ipynb").notebook.cells

    assert [cell.source for cell in cells] == ["1", "2", "3", "4"]
    assert [cell.id for cell in cells] == ["a", "cell-2-", "cell-2", "cell-4"]


def test_the_released_notebook_is_no_change(tmp_path: Path, workshop: Workshop) -> None:
    assert changes_of(released(), tmp_path, workshop) == []


def test_a_check_that_is_gone_is_named_by_its_block(tmp_path: Path, workshop: Workshop) -> None:
    notebook = released()
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "inventory-check"]
    next(c for c in notebook["cells"] if c["id"] == "contract-check")["source"] = (
        '# coach.check("plan_gate", "contract")'
    )

    assert changes_of(notebook, tmp_path, workshop) == [
        f"The check of “{title}” is gone from this notebook; grading has its own."
        for title in ("Inventory one real tool", "Freeze the plan contract")
    ]


@pytest.mark.parametrize(("kind", "shown"), [("markdown", "Markdown"), ("raw", "raw")])
def test_a_cell_of_ours_that_no_longer_runs_is_named(
    kind: str, shown: str, tmp_path: Path, workshop: Workshop
) -> None:
    notebook = released()
    cell = next(c for c in notebook["cells"] if c["id"] == "inventory-check")
    cell["cell_type"] = kind
    del cell["outputs"], cell["execution_count"]

    assert changes_of(notebook, tmp_path, workshop) == [
        f"Our code cell 'inventory-check' is {shown} now, so it was not run. "
        "In JupyterLab: select it, press Esc, then Y."
    ]


def test_a_split_cell_and_new_ids_lose_no_check(tmp_path: Path, workshop: Workshop) -> None:
    notebook = released()
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"new-{number}"
    notebook["cells"].insert(1, code("import sys", "setup"))

    assert changes_of(notebook, tmp_path, workshop) == []


def test_a_notebook_runs_whatever_kernel_it_names_and_each_check_says_what_it_found(
    judge: Judge,
) -> None:
    """A twin, a split cell, magics, a script to display, in UTF-16, for an unknown kernel."""
    script = 'from IPython.display import HTML, display\ndisplay(HTML("<script>1</script>"))\n'
    text = text_of(
        code(SETUP + 'coach.block("plan_gate", "inventory")', "setup"),
        code(CHECK, "inventory-check"),
        code(CHECK, "inventory-check"),
        code("%%time\n1", "timed"),
        code("!echo here\nlines = !echo here\nassert (_exit_code, lines) == (126, [])", "shell"),
        code(f'{script}coach.check("plan_gate", "nothing")', "contract-check"),
        code('print(coach.compare("plan_gate", "valid_plan.json", "live_plan.json"))'),
        kernelspec={"name": "my-conda-env", "language": "python", "display_name": "x"},
    )

    found = judge(write(NOTEBOOK, text.encode("utf-16")))

    assert (found.outcome, found.found) == ("pass", "7 of 7 cells ran.")
    assert found.details == (
        "It is saved as UTF-16; save it again as plain UTF-8, as JupyterLab does.",
        "The cell id 'inventory-check' stands 2 times, as after copying a cell; "
        "all of them were kept.",
        "The check of “Freeze the plan contract” is gone from this notebook; grading has its own.",
        "Code cell 2 (inventory): Inventory one real tool: 4 of 4 checks pass. "
        "Grading adds 1 check that runs only there.",
        "Code cell 3 (inventory): Inventory one real tool: 4 of 4 checks pass. "
        "Grading adds 1 check that runs only there.",
        "Code cell 6 (nothing): <IPython.core.display.HTML object> First: plan_gate has no "
        "block 'nothing'. Its blocks are: inventory, contract, validator, tests, break, debrief, "
        "station.",
        "Code cell 7 (nothing): valid_plan.json and live_plan.json differ in 1 value. /dry_run",
    )
    assert found.minutes == 25
    assert found.seconds is not None
    assert len(found.cells) == 7


def test_a_red_check_says_what_it_found_and_the_cells_after_a_stop_were_not_reached(
    judge: Judge,
) -> None:
    text = text_of(code(SETUP + CHECK), code(f"1/0\n{CHECK}"), code(CHECK))

    found = judge(write(NOTEBOOK, text), write("fixtures/plan_gate/inventory.json", "{}"))

    assert "code cell 2 (“1/0”) raises ZeroDivisionError" in found.found
    first, second, third = (line.partition(": ")[2] for line in found.details[-3:])
    assert first.startswith("Inventory one real tool: 0 of 4 checks pass. First: ")
    assert "Found: " in first
    assert second == "ZeroDivisionError: division by zero"
    assert third == "it was not reached."


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (code("1/0", tags=["raises-exception"]), "raises ZeroDivisionError"),
        (code("1/0", tags=["skip-execution"]), "raises ZeroDivisionError"),
        (code("%%capture\n1/0"), "ZeroDivisionError"),
        (code("import subprocess\nsubprocess.Popen(['sleep', '60'])"), "raises PermissionError"),
        (code("import os\nos._exit(0)"), "ends Python itself"),
        (code("while True: print('x' * 10_000)"), "more than 1 MiB of output"),
        (code("input()"), "raises StdinNotImplementedError"),
        (
            code("n = 0\nwhile True:\n    open(str(n), 'w').close()\n    n += 1"),
            "made more than 8000",
        ),
        (
            code("n = 0\nwhile True:\n    n += 1\n    open(str(n), 'wb').write(b'x' * (8 << 20))"),
            "wrote more than 128 MiB",
        ),
    ],
)
def test_a_cell_that_fails_is_never_believed_to_have_run(
    cell: dict[str, Any], says: str, judge: Judge
) -> None:
    found = judge(write(NOTEBOOK, text_of(cell)))

    assert found.outcome == "fail"
    assert says in found.found
    assert found.found.endswith(" of 1 cells ran).")


@pytest.mark.parametrize("data", [None, "{", b"\xff\xfe\x00"])
def test_a_notebook_that_cannot_be_run_is_named(data: str | bytes | None, judge: Judge) -> None:
    found = judge(write(NOTEBOOK, data) if data else lambda root: (root / NOTEBOOK).unlink())

    assert found.outcome == "fail"
    assert NOTEBOOK in found.found
    assert found.seconds is None


@pytest.mark.parametrize(
    ("seconds", "minutes", "cells", "text"),
    [
        (None, None, (), ""),
        (0.4, 25, (("code cell 1 (“x”)", 0.4),), "less than a second; its blocks have 25 minutes."),
        (7.25, 0, (("code cell 1 (“x”)", 2.0),), "Its cells took 7.2 seconds."),
        (7.0, 9, (("a", 1.0), ("b", 6.0)), "have 9 minutes. The slowest: b, 6.0 seconds."),
    ],
)
def test_times_are_a_matter_of_the_page(
    seconds: float | None, minutes: int | None, cells: tuple[tuple[str, float], ...], text: str
) -> None:
    times = tuple(CellTime(*cell) for cell in cells)
    item = EvidenceReport(
        "a.b", "notebook", "t", "pass", False, "f", "", "", (), seconds, minutes, times
    )

    assert time_text(item).endswith(text)
    assert bool(time_text(item)) == bool(text)


@pytest.mark.parametrize("cell", ["1", "import os\nos._exit(1)"], ids=["ended", "died"])
def test_a_notebook_leaves_no_thread_and_nothing_open_in_the_grader(
    reference: Path, tmp_path: Path, workshop: Workshop, worker: Executor, cell: str
) -> None:
    """A class has hundreds of them, and a process may have some thousand files open."""

    def opened_after(place: Path) -> tuple[int, int]:
        place.mkdir()
        root = changed(reference, place, write(NOTEBOOK, text_of(code(cell))))
        report_on(
            root, place, workshop, "notebook.1", lambda j: worker.submit(judge_job, j).result()
        )
        return worker.submit(open_here).result()

    first = opened_after(tmp_path / "first")
    opened_after(tmp_path / "second")

    assert opened_after(tmp_path / "third") == first


def open_here() -> tuple[int, int]:
    """Count this process's threads, and its files and sockets."""
    gc.collect()
    return threading.active_count(), len(list(Path("/dev/fd").iterdir()))
