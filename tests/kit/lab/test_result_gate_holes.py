"""Results on which a teaching gate decides wrongly: the reference decides each of them rightly.

``holes/result_gate.json`` has one object for each input. ``text`` is the file as it stands, because
some are no strict JSON on purpose; ``lab/result_replay.py`` says what such a file may hold.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lab.result_gate import ResultGateError, load_result
from tests.kit.lab.hole_table import hole_table, identifier
from tests.kit.lab.results import replayed

TABLE = hole_table("result_gate")
REFUSED = TABLE.refused()
ACCEPTED = TABLE.accepted()

# What the refusal must say: one for another reason would hide the hole.
REASONS = {
    "aliasing": "^memory stays as it was$",
    "error-leak": "not plain|not in allowlist|must be plain text",
    "fail-open-default": "additional_properties|missing fields",
    "equality": "not in allowlist|must be an integer",
    "contract": "^contract ",
    "blank": "^sku length out of range$",
    "unicode": "^sku length out of range$|^sku must be plain text",
    "format": "^sku must be plain text|^unexpected fields",
    "parser-differential": "stands twice in one object|would be rounded",
    "provenance": "^call|in memory already",
    "nested": r"fields: \['|^door\b.* must be",
}
WITHOUT_ONE_REASON = {"control", "crash"}


def decide(case: dict[str, Any], folder: Path) -> tuple[str, Any]:
    path = folder / "result.json"
    path.write_bytes(case["text"].encode())
    try:
        return replayed(load_result(path))
    except ResultGateError as error:
        return "reject", str(error)


@pytest.mark.parametrize("case", REFUSED, ids=identifier)
def test_an_input_with_a_hole_is_refused_for_the_reason_of_its_kind(
    case: dict[str, Any], tmp_path: Path
) -> None:
    verdict, text = decide(case, tmp_path)

    assert verdict == "reject"
    assert re.search(REASONS.get(case["kind"], "."), text), text


@pytest.mark.parametrize("case", ACCEPTED, ids=identifier)
def test_an_input_that_is_right_is_stored_as_it_came(case: dict[str, Any], tmp_path: Path) -> None:
    document = json.loads(case["text"])
    last = document.get("then", document)

    verdict, value = decide(case, tmp_path)

    assert verdict == "accept"
    assert value["returned"] == last["payload"]
    assert value["events"][0]["content"] == document["payload"]
    assert len(value["events"]) == 1 + ("then" in document)


@pytest.mark.parametrize("case", TABLE.refused("error-leak"), ids=identifier)
def test_a_refusal_repeats_nothing_that_a_stranger_wrote(
    case: dict[str, Any], tmp_path: Path
) -> None:
    text = decide(case, tmp_path)[1]

    assert not re.search("refund|approve", text)


# The table


def test_no_two_cases_have_one_id() -> None:
    assert TABLE.repeated_ids() == []


def test_every_case_is_complete() -> None:
    needed = {"id", "kind", "verdict", "text"}

    assert TABLE.incomplete(needed) == []
    assert TABLE.verdicts() == {"accept", "reject"}


def test_every_kind_has_a_reason_and_more_than_two_inputs() -> None:
    assert TABLE.kinds() == REASONS.keys() | WITHOUT_ONE_REASON
    assert TABLE.kinds_with_fewer_than(3) == []
