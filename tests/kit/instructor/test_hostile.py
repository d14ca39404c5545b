"""Submissions that break graders: each gets its own report, and the class goes on.

A row is a finished submission with one thing done to it, the outcomes that may change, and what the
report has to say. They are graded in two classes, through the real command; what one kind of
evidence alone decides is tried in ``test_trials`` and ``test_notebooks``, which cost far less.
"""

import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from typing import Any

import psutil
import pytest

from tests.kit.command import instructor
from tests.kit.instructor.benches import GATE, TESTS, append, prepend, write

NOTEBOOK = "notebooks/plan_gate/1_inventory_and_contract.ipynb"
# Nothing is done to these two, and a kernel for each would only take time.
LEFT_OUT = ("2_validator_and_tests.ipynb", "3_break_it_and_debrief.ipynb")
ALL = ("inventory", "contract", "validator", "tests", "break", "debrief")

WORDING = """

def test_wording(said):
    assert said["assumed"].startswith("step_1")
"""


@dataclass(frozen=True)
class Try:
    """One thing done to a finished submission, and what must be said of it."""

    do: Callable[[Path], object]
    says: tuple[str, ...]
    not_passed: tuple[str, ...] = ()
    about: str = "evidence"


def settings(root: Path) -> None:
    """Write what Python and pytest would read before any test."""
    write("conftest.py", "raise SystemExit(0)\n")(root)
    write("json.py", "raise RuntimeError('not json')\n")(root)
    write("jsonschema.py", "")(root)
    write("queue.py", "print('hi')\n")(root)
    (root / "link").symlink_to("/etc")


def cells(*sources: str, **metadata: Any) -> Callable[[Path], object]:
    rows = [
        {"cell_type": "code", "id": f"c{number}", "metadata": metadata, "source": source,
         "outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]  # fmt: skip
    notebook = {"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return write(NOTEBOOK, json.dumps(notebook))


GATE_DOWN = ("validator", "tests", "break", "debrief")
# Decides rightly for a while.
TIRED = """

_rightly, _calls = gate_plan, []

def gate_plan(plan, *arguments, **named):
    _calls.append(plan)
    if len(_calls) > 60 and isinstance(plan, dict) and plan.get("dry_run") is False:
        plan = {**plan, "dry_run": True}
    return _rightly(plan, *arguments, **named)
"""

# Looks for other inputs in the frames of the program that calls it.
PEEK = """
import sys
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, (dict, list)) and "account_id" in str(value):
            raise RuntimeError("PEEKED " + str(value)[:400])
    frame = frame.f_back
"""
GOOD_TESTS = """
from pathlib import Path
import pytest
from lab.plan_gate import PlanRejected, gate_plan, load_plan

@pytest.fixture(scope="module")
def said():
    found = {}
    for name in ("valid", "assumed", "live"):
        path = Path(__file__).parents[1] / "fixtures/plan_gate" / f"{name}_plan.json"
        try:
            found[name] = gate_plan(load_plan(path))
        except PlanRejected as error:
            found[name] = str(error)
    return found

def test_valid(said):
    assert said["valid"]["status"] == "dry_run_accepted"
    assert said["valid"]["tools"] == ["create_support_credit"]

def test_assumed(said):
    assert "account_id" in said["assumed"]

def test_live(said):
    assert "live execution" in said["live"]

def test_a_set_is_no_plan():
    with pytest.raises(PlanRejected):
        gate_plan({"goal": {1, 2}})
"""

TRIES: dict[str, dict[str, Try]] = {
    "endings": {
        "os_exit": Try(
            prepend(GATE, "import os\nos._exit(0)\n"), ("it ended Python itself",), GATE_DOWN
        ),
        "loop": Try(
            prepend(GATE, "while True:\n    try:\n        while True: pass\n"
                    "    except BaseException: pass\n"),
            ("it was not done after",), GATE_DOWN,
        ),
        "flood": Try(
            prepend(GATE, "print('x' * 100_000_000)\n"), ("printed more than 1 MiB",), GATE_DOWN
        ),
        "latin_1": Try(
            write(GATE, b"# caf\xe9\n"), ("not UTF-8 text at byte 5",), GATE_DOWN, "remarks"
        ),
        "peek": Try(prepend(GATE, PEEK), ("PEEKED",), GATE_DOWN),
        "stubborn": Try(
            cells("while True:\n try:\n  while True: pass\n except BaseException: pass"),
            ("was not done after 4 seconds",),
        ),
    },
    "files": {
        "settings": Try(
            settings,
            ("'conftest.py' was not read", "json.py takes the place of", "'link' is a link",
             "jsonschema.py takes the place of", "queue.py takes the place of"),
            about="remarks",
        ),
        "tired": Try(append(GATE, TIRED), ("when it was asked something else",), GATE_DOWN),
        "bad_json": Try(
            write("fixtures/plan_gate/inventory.json", "{"), ("inventory.json is not JSON",),
            ("inventory", "tests", "break"),
        ),
        "schema_address": Try(
            write("lab/agent_plan.schema.json", '{"$ref": "https://example.invalid/x"}'),
            ("crashes instead of deciding",), ("contract", *GATE_DOWN),
        ),
        "no_lab": Try(lambda root: rmtree(root / "lab"), ("lab/plan_gate.py is missing",),
                      ("contract", *GATE_DOWN)),
        "wording": Try(
            write(TESTS, GOOD_TESTS + WORDING),
            ("On a gate that is right and puts words of its own before its problems",),
            ("tests",),
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TRIES)
def test_each_submission_gets_its_own_report_and_the_class_goes_on(
    name: str, tmp_path: Path, reference: Path
) -> None:
    folder = tmp_path / "class"
    for label, row in TRIES[name].items():
        copytree(reference, folder / label, ignore=ignore_patterns(*LEFT_OUT))
        row.do(folder / label)
    before = listing(folder)

    done = instructor(
        "grade",
        folder,
        "--out",
        tmp_path / "out",
        "--cell-seconds",
        4,
        "--seconds",
        3,
        "--workers",
        2,
    )

    assert (done.code, done.err) == (0, "")
    assert "xxxx" not in done.out
    problems = [
        f"{label}: {problem}"
        for label, row in TRIES[name].items()
        for problem in report_problems(tmp_path / "out" / label / "report.json", row)
    ]
    assert problems == []
    assert listing(folder) == before
    assert not (tmp_path / "out" / ".work").exists()
    assert strays(tmp_path) == []


def report_problems(path: Path, row: Try) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    report = json.loads(text)
    blocks = {block["id"]: block for block in report["workshops"][0]["blocks"]}
    evidence = [item for block in blocks.values() for item in block["evidence"]]
    said = [item["found"] for item in (evidence if row.about == "evidence" else report["remarks"])]
    for part in row.says:
        if not any(part in found for found in said):
            yield f"{part!r} is not said in {said}"
    lost = tuple(name for name in ALL if blocks[name]["outcome"] != "pass")
    if lost != row.not_passed:
        yield f"not passed are {lost}"
    if "error" in {item["outcome"] for item in evidence}:
        yield "a student's doing is called our error"
    if "acct_7310" in text:
        yield "a hidden case shows"
    if str(path.parents[2]) in text:
        yield f"a path of this machine shows: {text[text.index(str(path.parents[2])) :][:200]}"


def listing(folder: Path) -> dict[str, bytes | str]:
    return {
        path.relative_to(folder).as_posix(): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or stat.S_ISREG(path.lstat().st_mode)
    }


def strays(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = " ".join(process.info["cmdline"] or ())
        if str(folder) in command:
            found.append(command)
    return found
