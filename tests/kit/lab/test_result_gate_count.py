"""The count that a class sees: append first fails four of the five teaching tests, gated none.

The first memory is the one that a workspace starts with, behind a finished gate; the second is the
course's own.
"""

import json
import shutil
from pathlib import Path

import pytest

from instructor.solutions import strip_solutions
from tests.kit.command import COURSE, python

FIVE = [
    "test_the_contract_payload_is_accepted_unchanged",
    "test_an_extra_reorder_hint_is_refused",
    "test_a_quantity_in_quotes_is_refused",
    "test_a_discount_code_never_reaches_memory",
    "test_a_tool_that_nobody_listed_is_refused",
]
RUN = """
import json, sys
from pathlib import Path
root = Path.cwd()
sys.path.insert(0, str(root))
from lab import result_gate
from lab.suite import run_suite
assert Path(result_gate.__file__).is_relative_to(root), result_gate.__file__
report = run_suite(root, "tests/test_result_gate.py", json.loads(sys.argv[1]))
print(json.dumps([[test.outcome, test.message] for test in report.tests]))
"""


def leaking_memory(source: str) -> str:
    """Put a workspace's memory behind the finished gate."""
    start = source.index("class AgentMemory:")
    end = source.index("### BEGIN SOLUTION\ndef ")
    memory = strip_solutions(source[start:end], "result_gate.py")
    return source[:start] + memory + source[end:]


def outcomes(folder: Path, gate: str) -> list[list[str]]:
    shutil.copytree(COURSE / "lab", folder / "lab")
    shutil.copytree(COURSE / "fixtures" / "result_gate", folder / "fixtures" / "result_gate")
    (folder / "tests").mkdir()
    shutil.copy(COURSE / "tests" / "test_result_gate.py", folder / "tests")
    (folder / "lab" / "result_gate.py").write_text(gate, encoding="utf-8")
    ended = python("-c", RUN, json.dumps(FIVE), cwd=folder)
    assert ended.code == 0, ended.err
    found: list[list[str]] = json.loads(ended.out)
    return found


@pytest.fixture(scope="module")
def source() -> str:
    return (COURSE / "lab" / "result_gate.py").read_text(encoding="utf-8")


def test_append_first_fails_four_of_the_five(source: str, tmp_path: Path) -> None:
    leaking = leaking_memory(source)
    assert '"content": payload}' in leaking

    found = outcomes(tmp_path, leaking)

    assert [outcome for outcome, _ in found] == ["passed", *["failed"] * 4]
    # Each is refused, as it must be, and fails on what memory holds.
    assert all(message.startswith("refused, and memory holds [") for _, message in found[1:]), found


def test_the_gated_memory_passes_all_five(source: str, tmp_path: Path) -> None:
    assert [outcome for outcome, _ in outcomes(tmp_path, source)] == ["passed"] * 5
