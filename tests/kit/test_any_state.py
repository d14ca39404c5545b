"""Whatever state a workspace is in, the coach answers in words: found, expected, next."""

import json
import shutil

import pytest

from instructor.release import release
from instructor.study import study_files
from lab.workshop import Workshop
from tests.kit.command import in_workspace
from tests.kit.conftest import NOW

GATE, TESTS = "lab/plan_gate.py", "tests/test_plan_gate.py"
PLAN, INVENTORY = "fixtures/plan_gate/valid_plan.json", "fixtures/plan_gate/inventory.json"
NOTEBOOK, ROOM = "notebooks/plan_gate/1_inventory_and_contract.ipynb", "notebooks/plan_gate"
PROBES = "fixtures/plan_gate/holes.json"
OUTCOMES, NOTES = "tests/test_plan_gate_outcomes.py", ".lab/progress.json"
STUDY, SCHEMA = ".lab/study/plan_gate.txt", "lab/agent_plan.schema.json"
GONE = None
FOLDER = "a folder"
# A file, what is in it (GONE: it is deleted), and what one of the answers says about it.
STATES: dict[str, tuple[str, str | bytes | None, str]] = {
    "gate gone": (GATE, GONE, "No module named 'lab.plan_gate'"),
    "gate empty": (GATE, "", "gate_plan"),
    "gate not Python": (GATE, "def gate_plan(:\n", "SyntaxError"),
    "gate leaves": (GATE, "raise SystemExit(3)\n", "SystemExit: 3"),
    "gate not UTF-8": (GATE, b"# \xff\xfe\n", "utf-8"),
    "gate holds a null": (GATE, b"x = 1\0\n", "null bytes"),
    "gate renamed": (GATE, "def gate(plan):\n    return {}\n", "has no attribute"),
    "gate asks": (GATE, "input()\n", "lab/plan_gate.py cannot be"),
    "gate is a folder": (GATE, FOLDER, "No module named 'lab.plan_gate'"),
    "tests gone": (TESTS, GONE, "test_plan_gate.py is missing"),
    "tests not Python": (TESTS, "def (\n", "SyntaxError"),
    "tests empty": (TESTS, "", "tests"),
    "tests are a folder": (TESTS, FOLDER, "test_plan_gate.py is missing"),
    "visible checks gone": (
        OUTCOMES,
        GONE,
        "Get it back: git checkout -- tests/test_plan_gate_out",
    ),
    "fixture gone": (PLAN, GONE, "valid_plan.json is missing"),
    "fixture not JSON": (PLAN, "{", "valid_plan.json is not JSON"),
    "fixture of another shape": (PLAN, "[]", "valid_plan.json is not what it was"),
    "fixture deeply nested": (PLAN, "[" * 100_000, "valid_plan.json"),
    "fixture not UTF-8": (PLAN, b"\xff", "valid_plan.json is not JSON"),
    "inventory of another shape": (INVENTORY, "3", "inventory.json does not have its form"),
    "schema no schema": (SCHEMA, '{"type": 3}', "agent_plan.schema.json"),
    "notebook gone": (NOTEBOOK, GONE, ""),
    "workshop not TOML": (f"{ROOM}/workshop.toml", "[", "workshop.toml cannot be read"),
    "workshop lacks fields": (f"{ROOM}/workshop.toml", "version = 1", "missing or misspelt field"),
    "workshop's blocks are texts": (f"{ROOM}/timing.toml", 'blocks = ["x"]', "misspelt field"),
    "timing of another shape": (f"{ROOM}/timing.toml", "blocks = 3", "missing or misspelt field"),
    "timing gone": (f"{ROOM}/timing.toml", GONE, "there is no workshop 'plan_gate' here"),
    "hints gone": (f"{ROOM}/hints.toml", GONE, "hints.toml is missing. Get it back"),
    "hints not TOML": (f"{ROOM}/hints.toml", "[[", "hints.toml cannot be read"),
    "hints of another shape": (f"{ROOM}/hints.toml", "ladders = 3", "hints.toml cannot be read"),
    "notes not JSON": (NOTES, "{", "It is now .lab/progress.unreadable.json"),
    "notes deeply nested": (NOTES, "[" * 100_000, "cannot be read (RecursionError)"),
    "notes of holes of wrong types": (
        NOTES,
        '{"blocks": {}, "hints": {}, "holes": {"plan_gate": 3}}',
        "cannot be read (TypeError)",
    ),
    "probes not JSON": (PROBES, "{", "Get it back: git checkout -- fixtures/plan_gate/holes.json"),
    "notes of another shape": (NOTES, '{"blocks": [], "hints": {}}', ".lab/progress.json cannot"),
    "notes of wrong types": (NOTES, '{"blocks": {"a": {"tries": "x"}}, "hints": {}}', "TypeError"),
    "notes without a zone": (
        NOTES,
        '{"blocks": {"a": {"began": "2026-01-01T10:00:00"}}, "hints": {}}',
        "cannot be read (TypeError)",
    ),
    "notes not UTF-8": (NOTES, b"\xff", "cannot be read (UnicodeDecodeError)"),
    "notes are a folder": (NOTES, FOLDER, ".lab/progress"),
    "solutions damaged": (STUDY, "no base64!", "plan_gate.txt is damaged"),
    "solutions of another shape": (STUDY, "eJyLBgAAXgBe", "plan_gate.txt is damaged"),
    "original gone": (f".lab/originals/{GATE}", GONE, f".lab/originals/{GATE} is not here"),
}
# The doors of the coach and the commands, after each change of a file; then all as it was. Running
# a suite is what costs, so each state asks for those that its file is about.
RUN = """
import contextlib, io, json, shutil, sys
from pathlib import Path
from lab import coach
from lab.__main__ import main

CALLS = {
    "block": lambda: coach.block("plan_gate", "validator"),
    "check": lambda: coach.check("plan_gate", "validator"),
    "hint": lambda: coach.hint("plan_gate", "gate"),
    "any": lambda: coach.hint("plan_gate"),
    "solution": lambda: coach.solution("plan_gate", "gate"),
    "progress": lambda: coach.progress("plan_gate"),
    "try": lambda: coach.try_gate("plan_gate", "valid_plan.json", predict="accept"),
    "compare": lambda: coach.compare("plan_gate", "valid_plan.json", "live_plan.json"),
    "reset": lambda: coach.reset("plan_gate", "gate"),
}
FURTHER = {
    "tests/test_plan_gate.py": {
        "tests": lambda: coach.check("plan_gate", "tests"),
        "slips": lambda: coach.slips("plan_gate"),
    },
    "lab/plan_gate.py": {
        "slips": lambda: coach.slips("plan_gate"),
        "function": lambda: coach.try_function(
            "plan_gate", "plan_gate.gate_plan", "valid_plan.json"
        ),
    },
    "lab/agent_plan.schema.json": {"contract": lambda: coach.check("plan_gate", "contract")},
    "fixtures/plan_gate/inventory.json": {
        "inventory": lambda: coach.check("plan_gate", "inventory")
    },
    "fixtures/plan_gate/holes.json": {"holes": lambda: coach.holes("plan_gate")},
    ".lab/progress.json": {"holes": lambda: coach.holes("plan_gate", hint="x")},
    ".lab/study/plan_gate.txt": {"slips": lambda: coach.slips("plan_gate")},
    "notebooks/plan_gate/workshop.toml": {
        "lab check": lambda: terminal(),
        "holes": lambda: coach.holes("plan_gate"),
    },
    "notebooks/plan_gate/timing.toml": {
        "lab check": lambda: terminal(),
        "holes": lambda: coach.holes("plan_gate"),
    },
}


def terminal():
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            main(["check", "plan_gate", "validator"])
        except SystemExit:
            pass
    return out.getvalue()


said = {}
for name, (file, content, _) in json.loads(sys.stdin.read()).items():
    path = Path(file)
    keep = path.read_bytes() if path.is_file() else None
    if path.is_file():
        path.unlink()
    if content == "a folder":
        path.mkdir(parents=True)
    elif content is not None:
        path.write_bytes(content.encode("latin-1"))
    calls = CALLS | FURTHER.get(file, {})
    said[name] = {call: str(ask()) for call, ask in calls.items()}
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if keep is not None:
        path.write_bytes(keep)
print("SAID" + json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> dict[str, dict[str, str]]:
    """What was said in each state: call to answer."""
    target = tmp_path_factory.mktemp("states") / "alone"
    release([workshop], target, NOW, study_files([workshop]))
    states = {
        name: (file, data.decode("latin-1") if isinstance(data, bytes) else data, text)
        for name, (file, data, text) in STATES.items()
    }
    done = in_workspace(target, "-c", RUN, given=json.dumps(states))
    assert done.code == 0, done.err
    shutil.rmtree(target)
    return dict(json.loads(done.out.partition("SAID")[2]))


@pytest.mark.parametrize("name", STATES)
def test_every_call_answers_in_words(name: str, said: dict[str, dict[str, str]]) -> None:
    answers = said[name]

    assert not [call for call, text in answers.items() if "Traceback" in text]
    assert all(answers.values())
    assert STATES[name][2] in "\n".join(answers.values()), answers
    assert not [call for call, text in answers.items() if "it is no fault of your work" in text]


@pytest.mark.parametrize("name", STATES)
def test_a_red_check_says_what_comes_next(name: str, said: dict[str, dict[str, str]]) -> None:
    red = said[name]["check"]

    assert "Next:" in red or "Get it back" in red, red
