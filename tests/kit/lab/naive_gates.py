"""Gates as somebody writes them who has done the workshop and nothing beyond: full of holes."""

import tomllib
import types
from collections.abc import Mapping

from instructor.answer_key import build_gate
from instructor.edits import replaced
from instructor.solutions import without_solutions
from lab.workshop import Workshop
from tests.kit.command import COURSE

CLASSROOM = COURSE / "fixtures" / "classroom"
# The course gives pairs a strict loader; these have the one that everybody writes first.
LOADER = {"load_json(path)": 'json.loads(Path(path).read_text(encoding="utf-8"))'}
JSON = {"from pathlib import Path\n": "import json\nfrom pathlib import Path\n"}
NO_SHAPE = {"    problem = shape_problem(ledger)\n": "    problem = None\n"}

# Nothing in it asks the modules that the course gives along.
PLAN_RECORD = """
import json
from pathlib import Path

from lab.record_file import PlanRecordError


def load_plan(path):
    return json.loads(Path(path).read_text())


def check(plan, policy):
    problems = []
    for step in plan["steps"]:
        if step["tool"] not in policy["available_tools"]:
            problems.append(f"step {step['n']}: no such tool {step['tool']!r}")
        for target in step["targets"]:
            if any(name.rstrip(".") in target for name in policy["protected"]):
                problems.append(f"step {step['n']}: writes to protected target {target}")
    return problems
"""


def naive_gate(workshop: Workshop) -> types.ModuleType:
    """Build the naive gate of a workshop of this course."""
    return build_gate(workshop.gate, SOURCES[workshop.id](workshop))


def _plan_gate(_: Workshop) -> str:
    text = (CLASSROOM / "stuck_after_block_2" / "lab" / "plan_gate.py").read_text(encoding="utf-8")
    return _edited(text, {**LOADER, "validate_inventory(plan, inventory)": "[]"})


def _result_gate(workshop: Workshop) -> str:
    text = _of_a_pair(workshop, "result_finished")
    return _edited(text, {**LOADER, "copy.deepcopy(self._events)": "self._events"})


def _assumption_gate(workshop: Workshop) -> str:
    return _edited(_of_a_pair(workshop, "assumption_finished"), {**LOADER, **JSON, **NO_SHAPE})


def _of_a_pair(workshop: Workshop, pair: str) -> str:
    """Make the changes of a sample pair to the gate as it is released."""
    file = workshop.gate.file
    text = without_solutions(file, (COURSE / file).read_bytes()).decode()
    rows = tomllib.loads((CLASSROOM / pair / "changes.toml").read_text(encoding="utf-8"))
    return replaced(text, [row for row in rows["changes"] if row["file"] == file], pair)


def _edited(text: str, edits: Mapping[str, str]) -> str:
    changes = [{"old": old, "new": new} for old, new in edits.items()]
    return replaced(text, changes, "a naive gate")


SOURCES = {
    "plan_gate": _plan_gate,
    "result_gate": _result_gate,
    "assumption_gate": _assumption_gate,
    "plan_record": lambda _: PLAN_RECORD,
}
