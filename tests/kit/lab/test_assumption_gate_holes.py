"""Inputs on which a teaching gate decides wrongly: the reference decides each of them rightly.

``holes/assumption_gate.json`` has one object for each input. ``text`` is the file as it stands,
because some are no strict JSON on purpose; ``evidence`` is what the harness saw.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from lab.assumption_gate import AssumptionGateError, assert_tool_args_sourced, load_ledger
from tests.kit.lab.hole_table import hole_table, identifier

TABLE = hole_table("assumption_gate")
REFUSED = TABLE.refused()
ACCEPTED = TABLE.accepted()

# What the refusal must say: a refusal for another reason would hide the hole.
REASONS = {
    "unknown-tag": "has unknown tag|tag is a boolean",
    "allow-list": "^refusing |has no argument|is not plain ASCII",
    "absence": "has no (value|tag|args|claims)",
    "required-arg": " needs ",
    "falsy": "; expected ",
    "crash": "; expected |nested more than",
    "ignored-input": "that nobody named",
    "pointer": "requires source_pointer|source_pointer is|leads nowhere|leads to no message"
    "|does not stand in|^evidence must be",
    "taint": "is derived ",
    "equality": "value does not match ledger claim",
    "non-json-number": "is not a JSON number|would be rounded",
    "parser-differential": "stands twice in one object",
    "uniqueness": "^duplicate claim name: ",
    "typing": r"(required_for(\[0\])?|run_id) is ",
    "unicode": "is not plain ASCII",
    "granularity": "^shell.run ",
}
WITHOUT_A_REFUSAL = {"control", "contradiction"}


def decide(case: dict[str, Any], folder: Path) -> None:
    path = folder / "ledger.json"
    path.write_bytes(case["text"].encode())
    assert_tool_args_sourced(load_ledger(path), case.get("evidence"))


@pytest.mark.parametrize("case", REFUSED, ids=identifier)
def test_an_input_with_a_hole_is_refused_for_the_reason_of_its_kind(
    case: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(AssumptionGateError) as caught:
        decide(case, tmp_path)

    assert re.search(REASONS[case["kind"]], str(caught.value))


@pytest.mark.parametrize("case", ACCEPTED, ids=identifier)
def test_a_sourced_input_is_accepted(case: dict[str, Any], tmp_path: Path) -> None:
    decide(case, tmp_path)


# The table


def test_no_two_cases_have_one_id() -> None:
    assert TABLE.repeated_ids() == []


def test_every_case_is_complete() -> None:
    needed = {"id", "kind", "verdict", "text"}

    assert TABLE.incomplete(needed, {"evidence"}) == []
    assert TABLE.verdicts() == {"accept", "reject"}


def test_every_kind_has_a_reason_and_more_than_one_input() -> None:
    assert TABLE.kinds() == REASONS.keys() | WITHOUT_A_REFUSAL
    assert TABLE.kinds_with_fewer_than(2) == []
