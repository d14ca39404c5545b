"""Submissions that break graders: each gets its own report, and the class goes on.

A row is a finished submission with one thing done to it, the outcomes that may change, and what the
report has to say. They are graded in a few classes, through the real command.
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

GATE, TESTS = "lab/plan_gate.py", "tests/test_plan_gate.py"
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
    says: str
    not_passed: tuple[str, ...] = ()
    about: str = "evidence"


def write(file: str, text: str | bytes) -> Callable[[Path], object]:
    def do(root: Path) -> object:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.write_bytes(text.encode() if isinstance(text, str) else text)

    return do


def prepend(file: str, text: str) -> Callable[[Path], object]:
    return lambda root: (root / file).write_text(text + (root / file).read_text("utf-8"), "utf-8")


def append(file: str, text: str) -> Callable[[Path], object]:
    return lambda root: (root / file).write_text((root / file).read_text("utf-8") + text, "utf-8")


def cells(*sources: str, **metadata: Any) -> Callable[[Path], object]:
    rows = [
        {"cell_type": "code", "id": f"c{number}", "metadata": metadata, "source": source,
         "outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]  # fmt: skip
    notebook = {"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return write(NOTEBOOK, json.dumps(notebook))


GATE_DOWN = ("validator", "tests", "break", "debrief")
OLD_NOTEBOOK = {
    "nbformat": 3, "nbformat_minor": 0, "metadata": {},
    "worksheets": [{"cells": [{"cell_type": "code", "input": "1/1", "language": "python",
                               "outputs": [], "metadata": {}}], "metadata": {}}],
}  # fmt: skip
FORGE = """
import pytest, _pytest.runner, _pytest.reports
_pytest.reports.TestReport.outcome = property(lambda self: "passed", lambda self, value: None)
"""

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
    "imports": {
        "sys_exit": Try(
            prepend(GATE, "import sys\nsys.exit()\n"), "cannot be imported: SystemExit", GATE_DOWN
        ),
        "os_exit": Try(
            prepend(GATE, "import os\nos._exit(0)\n"), "it ended Python itself", GATE_DOWN
        ),
        "syntax": Try(prepend(GATE, "def broken(:\n"), "SyntaxError", GATE_DOWN),
        "keyboard": Try(prepend(GATE, "input()\n"), "EOFError", GATE_DOWN),
        "latin_1": Try(
            write(GATE, b"# caf\xe9\n"), "not UTF-8 text at byte 5", GATE_DOWN, "remarks"
        ),
        "nul": Try(write(GATE, b"x = 1\x00\n"), "null bytes", GATE_DOWN),
    },
    "endless": {
        "loop": Try(
            prepend(GATE, "while True:\n    try:\n        while True: pass\n"
                    "    except BaseException: pass\n"),
            "it was not done after", GATE_DOWN,
        ),
        "flood": Try(
            prepend(GATE, "print('x' * 100_000_000)\n"), "printed more than 1 MiB", GATE_DOWN
        ),
    },
    "settings": {
        "conftest": Try(
            write("conftest.py", "raise SystemExit(0)\n"), "'conftest.py' was not read",
            about="remarks",
        ),
        "json_py": Try(
            write("json.py", "raise RuntimeError('not json')\n"), "json.py takes the place of",
            about="remarks",
        ),
        "jsonschema_py": Try(
            write("jsonschema.py", ""), "jsonschema.py takes the place of", about="remarks"
        ),
        "link": Try(
            lambda root: (root / "link").symlink_to("/etc"), "'link' is a link", about="remarks"
        ),
        "queue_py": Try(
            write("queue.py", "print('hi')\n"), "queue.py takes the place of", about="remarks"
        ),
        "tired": Try(append(GATE, TIRED), "when it was asked something else", GATE_DOWN),
        "peek": Try(prepend(GATE, PEEK), "PEEKED", GATE_DOWN),
        "forged": Try(prepend(GATE, FORGE + "raise RuntimeError\n"), "RuntimeError", GATE_DOWN),
    },
    "files": {
        "no_notebook": Try(lambda root: (root / NOTEBOOK).unlink(), f"{NOTEBOOK} is missing."),
        "bad_json": Try(
            write("fixtures/plan_gate/inventory.json", "{"), "inventory.json is not JSON",
            ("inventory", "tests", "break"),
        ),
        "twice": Try(
            write("fixtures/plan_gate/limits.json", '{"a": 1, "a": 2}'), "key 'a' stands twice",
            ("debrief",),
        ),
        "schema_list": Try(
            write("lab/agent_plan.schema.json", "[]"), "agent_plan.schema.json is not",
            ("contract", *GATE_DOWN),
        ),
        "schema_address": Try(
            write("lab/agent_plan.schema.json", '{"$ref": "https://example.invalid/x"}'),
            "crashes instead of deciding", ("contract", *GATE_DOWN),
        ),
        "no_lab": Try(lambda root: rmtree(root / "lab"), "lab/plan_gate.py is missing",
                      ("contract", *GATE_DOWN)),
    },
    "notebooks": {
        "old": Try(write(NOTEBOOK, json.dumps(OLD_NOTEBOOK)), "of the old format 3"),
        "broken": Try(write(NOTEBOOK, "{"), "it is not a notebook"),
        "tagged": Try(cells("1/0", tags=["raises-exception"]), "raises ZeroDivisionError"),
        "skipped": Try(cells("1/0", tags=["skip-execution"]), "raises ZeroDivisionError"),
        "captured": Try(cells("%%capture\n1/0"), "ZeroDivisionError"),
        "dead": Try(cells("import os\nos._exit(0)"), "ends Python itself"),
        "flooding": Try(cells("while True: print('x' * 10_000)"), "more than 1 MiB of output"),
        "stubborn": Try(
            cells("while True:\n try:\n  while True: pass\n except BaseException: pass"),
            "was not done after 4 seconds",
        ),
    },
    "tests": {
        "none": Try(write(TESTS, "x = 1\n"), "There is no test in the file", ("tests",)),
        "skipped": Try(
            write(TESTS, "import pytest\npytestmark = pytest.mark.skip\n"
                  "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n"),
            "test_a", ("tests",),
        ),
        "true": Try(
            write(TESTS, "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n"),
            "would not notice a gate that accepts every plan", ("tests",),
        ),
        "coin": Try(
            write(TESTS, "import random\ndef test_a(): assert random.random() < 2\n"
                  "def test_b(): raise SystemExit\ndef test_c(): pass\n"),
            "SystemExit", ("tests",),
        ),
        "shared": Try(write(TESTS, GOOD_TESTS), "Your tests catch 8 of 8 wrong gates."),
        "wording": Try(
            write(TESTS, GOOD_TESTS + WORDING),
            "On a gate that is right and puts words of its own before its problems",
            ("tests",),
        ),
        "helper": Try(
            write(TESTS, "from lab.plan_gate import my_helper\ndef test_a(): pass\n"),
            "my_helper", ("tests",),
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
    if not any(row.says in found for found in said):
        yield f"{row.says!r} is not said in {said}"
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
