"""The rooms of the house: who may know whom."""

import ast
import re
from pathlib import Path

import pytest

from lab.workshop import workshop_ids
from tests.kit.command import COURSE

LAB = sorted((COURSE / "lab").rglob("*.py"))
INSTRUCTOR = sorted((COURSE / "instructor").rglob("*.py"))
# IPython is the kernel that a notebook runs in, so it is there wherever it is imported.
STUDENT_PACKAGES = {"IPython", "jsonschema", "pytest", "lab"}
# What the extra `model` of a workspace installs: one module asks a model, and imports it to ask.
EXTRA = {"model.py": {"openai", "httpx"}}


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("path", LAB, ids=lambda path: path.name)
def test_lab_imports_only_what_a_workspace_installs(path: Path) -> None:
    import sys

    known = set(sys.stdlib_module_names) | STUDENT_PACKAGES | EXTRA.get(path.name, set())
    foreign = imports(path) - known

    assert foreign == set()


def test_the_check_of_imports_sees_an_import(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f():\n    from instructor.grade import x\n    import typer.main\n")

    assert imports(path) == {"instructor", "typer"}


@pytest.mark.parametrize("path", INSTRUCTOR, ids=lambda path: path.as_posix()[-40:])
def test_no_code_of_the_instructor_names_a_workshop(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    code = re.sub(r'help="[^"]*"', "", text)

    named = [name for name in workshop_ids(COURSE) if name in code]

    assert named == []


def test_the_sandbox_never_imports_an_answer() -> None:
    sandbox = [path for path in INSTRUCTOR if path.parent.name == "sandbox"]
    text = "".join(path.read_text(encoding="utf-8") for path in sandbox)

    assert len(sandbox) >= 4
    assert "answer_key" not in text
    assert "instructor.evidence" not in text
