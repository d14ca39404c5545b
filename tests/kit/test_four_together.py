"""All four workshops in one workspace, and the notebook that comes after them."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from instructor.classroom import build_reference, load_workshops
from instructor.release import release
from lab.workshop import Workshop, workshop_ids
from tests.kit.command import COURSE, in_workspace
from tests.kit.conftest import NOW

NOTEBOOK = "notebooks/agent_loop/four_gates.ipynb"


@pytest.fixture(scope="module")
def all_four() -> list[Workshop]:
    return load_workshops(tuple(workshop_ids(COURSE)))


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory, all_four: list[Workshop]) -> Path:
    target = tmp_path_factory.mktemp("together") / "pair"
    release(all_four, target, NOW)
    return target


def shown_by(workspace: Path) -> dict[str, str]:
    """Run the notebook and give what each code cell shows, as text."""
    notebook: Any = nbformat.read(workspace / NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str((workspace / NOTEBOOK).parent)}}
    NotebookClient(
        notebook, timeout=60, force_raise_errors=True, skip_cells_with_tag="", resources=place
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    return {
        cell.id: "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        for cell in cells
    }


def test_one_workspace_holds_all_four_and_says_where_each_begins(
    together: Path, all_four: list[Workshop]
) -> None:
    readme = (together / "README.md").read_text(encoding="utf-8")
    checked = (together / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")

    for workshop in all_four:
        assert f"notebooks/{workshop.id}/{workshop.notebooks[0]}" in readme
        assert (together / "notebooks" / workshop.id / workshop.notebooks[0]).is_file()
        assert workshop.id in checked
    assert NOTEBOOK in readme
    assert "{{" not in readme


def test_a_workspace_of_one_workshop_has_nothing_that_needs_all(
    released: Path, all_four: list[Workshop]
) -> None:
    names = [path.name for path in (released / "notebooks").iterdir()]

    assert names == ["plan_gate"]
    assert len(all_four) == 4
    assert not (released / "lab" / "agent_loop.py").exists()


def test_each_workshop_is_red_in_a_fresh_workspace(
    together: Path, all_four: list[Workshop]
) -> None:
    for workshop in all_four:
        done = in_workspace(together, "-m", "lab", "check", workshop.id)
        assert done.code == 1, workshop.id
        assert "Traceback" not in done.out + done.err


def test_each_notebook_runs_to_its_end_as_a_plain_script(together: Path) -> None:
    """Where there is no kernel, and nothing is solved yet."""
    notebooks = sorted((together / "notebooks").rglob("*.ipynb"))
    assert len(notebooks) == 13

    for path in notebooks:
        cells = json.loads(path.read_bytes())["cells"]
        code = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        done = in_workspace(path.parent, "-c", code)
        assert done.code == 0, (path.name, done.err)
        assert "Traceback" not in done.out + done.err, path.name


def test_with_finished_gates_the_loop_refuses_four_mistakes(
    tmp_path: Path, all_four: list[Workshop]
) -> None:
    build_reference(all_four, tmp_path / "pair")

    shown = shown_by(tmp_path / "pair")

    assert "writes to protected target ledger.charges" in shown["run"]
    assert "credit 15 dollars to acct_0000" in shown["without-plan-gate"]
    assert "warehouse.truncate on ledger.charges" in shown["without-plan-record"]
    assert "'discount_code': 'STAFF'" in shown["without-result-gate"]


def test_with_stubs_the_loop_shows_a_refusal_and_no_traceback(together: Path) -> None:
    shown = shown_by(together)

    assert "not written yet" in shown["run"]
    assert "Would have been done:" in shown["run"]
