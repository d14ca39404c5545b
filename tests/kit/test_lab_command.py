"""``lab`` in a terminal: watching, slips, coming back, and a folder that is somebody else's."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from instructor.classroom import CLASSROOM, build_reference
from instructor.study import study_files
from lab.solutions import study_file
from lab.workshop import Workshop
from tests.kit.command import COURSE, Ended, in_workspace, python

INVENTORY = "fixtures/plan_gate/inventory.json"
# Watches, and makes a change each time it would wait; when there is none left it is interrupted.
WATCH = """
import pathlib, sys
from lab import coach
from lab.watch import watch
from lab.workshop import load_workshop

saved = pathlib.Path({saved!r})
changes = iter([saved.read_text(encoding="utf-8"), None, "{{", None])


def wait(seconds):
    change = next(changes, "end")
    if change == "end":
        raise KeyboardInterrupt
    if change is not None:
        print("save")
        pathlib.Path({file!r}).write_text(change, encoding="utf-8")
    print("wait", seconds)


sys.exit(watch(coach.ROOT, load_workshop(coach.ROOT, "plan_gate"), {block!r}, wait))
"""


# Says which test file runs.
TELL = """
from lab import checks

run = checks.run_suite


def told(root, file, *more):
    print("RUN", file)
    return run(root, file, *more)


checks.run_suite = told
"""
OUTCOMES = "tests/test_plan_gate_outcomes.py"


def watched(workspace: Path, block: str | None, before: str = "") -> Ended:
    code = WATCH.format(saved=str(COURSE / INVENTORY), file=INVENTORY, block=block)
    return in_workspace(workspace, "-c", before + code)


def test_watch_says_what_it_does_before_it_does_it_and_goes_on(workspace: Path) -> None:
    done = watched(workspace, None)

    assert (done.code, done.err) == (0, "")
    rows = done.out.splitlines()
    steps = [row for row in rows if row.startswith(("Saved", "Checking", "Open next", "Stopped"))]
    contract = "lab/agent_plan.schema.json, notebooks/plan_gate/1_inventory_and_contract.ipynb"
    assert steps[:5] == [
        "Checking “Inventory one real tool” …",
        f"Open next: {INVENTORY}, notebooks/plan_gate/1_inventory_and_contract.ipynb",
        f"Saved: {INVENTORY}",
        "Checking “Inventory one real tool” …",
        "Checking “Freeze the plan contract” …",
    ]
    assert steps[5:] == [
        f"Open next: {contract}",
        f"Saved: {INVENTORY}",
        "Checking “Freeze the plan contract” …",
        f"Open next: {contract}",
        "Stopped watching. Your files are as you saved them.",
    ]


def test_watch_of_one_block_stays_with_it(workspace: Path) -> None:
    done = watched(workspace, "inventory")

    assert done.code == 0
    assert done.out.count("Checking “Inventory one real tool” …") == 3
    assert "Freeze the plan contract" not in done.out
    assert "Green. Nothing more to mend here." in done.out
    assert "inventory.json is not JSON" in done.out


def test_a_watch_runs_each_test_file_once_for_a_save(workspace: Path) -> None:
    passes = watched(workspace, None, TELL).out.split("Saved: ")

    assert [text.count(f"RUN {OUTCOMES}") for text in passes] == [1, 1, 1]
    assert passes[1].count("Checking “") == 2


def test_a_check_of_all_blocks_runs_each_test_file_once(workspace: Path) -> None:
    check = "from lab.__main__ import main\nmain(['check', 'plan_gate'])\n"

    rows = in_workspace(workspace, "-c", TELL + check).out.splitlines()

    # The pair's own tests wait for the validator, so their file does not run.
    assert [row for row in rows if row.startswith("RUN")] == [f"RUN {OUTCOMES}"]
    assert sum("checks pass" in row for row in rows) == 6


def test_a_save_is_seen_well_within_a_second(workspace: Path) -> None:
    """A file is saved as a wait begins, so what is waited after it is at most that one wait."""
    rows = watched(workspace, "inventory").out.splitlines()
    seconds = 0.0
    seen = []
    for row in rows:
        if row == "save":
            seconds = 0.0
        elif row.startswith("wait "):
            seconds += float(row.removeprefix("wait "))
        elif row.startswith("Saved: "):
            seen.append(seconds)

    assert rows.count("save") == len(seen) == 2
    assert all(0 < waited <= 0.5 for waited in seen)


@pytest.mark.parametrize("gate", [None, "while True:\n    pass\n"], ids=["waiting", "in a check"])
def test_ctrl_c_ends_a_watch_without_a_traceback(workspace: Path, gate: str | None) -> None:
    if gate:
        (workspace / "lab" / "plan_gate.py").write_text(gate)
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "watch", "plan_gate", "validator"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert process.stdout is not None
    awaited = "Checking" if gate else "Open next"
    for row in process.stdout:
        if row.startswith(awaited):
            break
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[0]

    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert said.endswith("Stopped watching. Your files are as you saved them.\n")


@pytest.fixture
def alone(workshop: Workshop, tmp_path: Path) -> Path:
    """A finished workspace for self-study."""
    build_reference([workshop], tmp_path / "alone")
    for file, data in study_files([workshop]).items():
        path = tmp_path / "alone" / file
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    return tmp_path / "alone"


def test_slips_are_named_without_code_and_only_where_tests_miss_them(alone: Path) -> None:
    """Strong tests notice each; tests that ask for any exception do not; broken ones say so."""
    tests = alone / "tests" / "test_plan_gate.py"
    weak = CLASSROOM / "finished" / "tests" / "test_plan_gate.py"
    text = weak.read_text(encoding="utf-8")
    versions = {
        "strong": tests.read_text(encoding="utf-8"),
        "weak": text.replace('PlanRejected, match="account_id"', "Exception"),
        "wrong": text.replace('"create_support_credit"', '"no_tool"'),
    }
    code = "import json, pathlib, sys\nfrom lab import coach\n"
    code += "for text in json.loads(sys.stdin.read()).values():\n"
    code += f"    pathlib.Path({str(tests)!r}).write_text(text, encoding='utf-8')\n"
    code += "    print('=====', coach.slips('plan_gate'))\n"
    done = in_workspace(alone, "-c", code, given=json.dumps(versions))

    assert (done.code, done.err) == (0, "")
    strong, weak_said, wrong = done.out.split("===== ")[1:]
    assert "Lock behaviour with tests: your tests notice 8 of 8 slips." in strong
    assert "✗ A gate that refuses the invented account without naming the argument." in weak_said
    assert "✗ A gate that crashes on an invented value instead of refusing it." in weak_said
    assert "✓ A gate that accepts every plan." in weak_said
    assert "def " not in weak_said
    assert "the slips are not looked at yet" in wrong
    assert "What is red on a right gate says nothing of a wrong one." in wrong


def test_a_classroom_says_who_knows_the_slips(workspace: Path) -> None:
    done = in_workspace(workspace, "-m", "lab", "slips", "plan_gate")

    assert done.code == 0
    assert "Next: hand in, and your teacher's report names the slips" in done.out
    assert not (workspace / study_file("plan_gate")).exists()


def test_study_makes_a_workspace_and_comes_back_to_the_first_open_notebook(
    tmp_path: Path, reference: Path
) -> None:
    target = tmp_path / "mine, über"
    command = ("-m", "lab", "study", "plan_gate", "--to", str(target), "--plain")

    made = python(*command, cwd=COURSE)

    assert (made.code, made.err) == (0, ""), made.out + made.err
    assert f"Making a workspace for you: {target}" in made.out
    assert f"Notebook: {target / 'notebooks/plan_gate/1_inventory_and_contract.ipynb'}" in made.out
    assert "To come back: uv run lab study plan_gate --plain" in made.out
    assert (target / study_file("plan_gate")).is_file()
    for file in (INVENTORY, "lab/agent_plan.schema.json"):
        shutil.copy(reference / file, target / file)

    back = python(*command, cwd=COURSE)

    assert back.code == 0, back.err
    assert f"Going on in {target}" in back.out
    assert f"Notebook: {target / 'notebooks/plan_gate/2_validator_and_tests.ipynb'}" in back.out


def test_study_in_a_workspace_makes_none_elsewhere(workspace: Path, tmp_path: Path) -> None:
    done = in_workspace(
        workspace, "-m", "lab", "study", "plan_gate", "--to", str(tmp_path / "other")
    )

    assert done.code == 2
    assert "Found: this is a workspace. Expected: --to in a checkout" in done.err
    assert not (tmp_path / "other").exists()


def test_the_command_of_another_folder_runs_the_code_of_this_one(workspace: Path) -> None:
    """As where the course's own ``lab`` is on the path, and we stand in a workspace's folder."""
    done = python("-P", "-m", "lab", "check", "plan_gate", "inventory", cwd=workspace / "fixtures")

    assert done.code == 1
    assert "0 of 4 checks pass" in done.out
