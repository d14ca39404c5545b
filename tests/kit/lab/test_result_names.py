"""Names in a refusal, the calls behind a result, and the dry tool."""

from typing import Any

import pytest

from lab.result_calls import call_problem
from lab.result_names import is_plain, shown_name, shown_names, without_strange_keys
from lab.result_tools import call_and_remember, call_tool, call_validate_and_remember
from tests.kit.lab.results import read


@pytest.mark.parametrize(
    "name",
    [
        "sku",
        "inventory.lookup",
        "inventory:delete",
        "warehouse.inventory.lookup.by_location_id",
        "@type",
        "$schema",
        "x:y",
        "a/b",
        "retry-token",
        "A_1",
        "k" * 64,
    ],
)
def test_a_plain_name_is_shown(name: str) -> None:
    assert is_plain(name)
    assert shown_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "two words",
        "sku\n",
        "k" * 65,
        "s\u043au",
        "sku\u200b",
        "a,b",
        "\ud800",
        None,
        7,
        [],
    ],
    ids=ascii,
)
def test_any_other_name_is_counted(name: Any) -> None:
    assert not is_plain(name)
    assert shown_name(name) == "<1 name that is not plain>"


def test_names_are_sorted_and_the_others_counted() -> None:
    assert shown_names(["b", "do it", "a", "now!"]) == ["a", "b", "<2 names that are not plain>"]
    assert shown_names([]) == []


def test_no_more_than_fifty_names_are_shown() -> None:
    found = shown_names([f"k{number:02d}" for number in range(65)])

    assert found == [*(f"k{number:02d}" for number in range(50)), "<15 more>"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a.json: key 'sku' stands twice", "a.json: key sku stands twice"),
        ("key 'do it' stands twice", "key <1 name that is not plain> stands twice"),
        ("not JSON: Expecting value", "not JSON: Expecting value"),
    ],
)
def test_the_loader_s_text_loses_a_key_that_is_not_plain(text: str, shown: str) -> None:
    assert without_strange_keys(text) == shown


def test_a_call_may_be_answered_once_without_a_list_of_calls() -> None:
    assert call_problem("a", "c1", []) is None
    assert call_problem("a", "c1", ["c1"]) == "call c1 is answered already"


@pytest.mark.parametrize(
    "call_id", ["c1", "0b8f6c1e-6f0a-4b57-9d55-3d0a2a3f6a10", "srv:call_7", "c" * 128]
)
def test_a_call_id_of_its_usual_forms_is_plain(call_id: str) -> None:
    assert call_problem("a", call_id, [], [{"id": call_id, "tool": "a"}]) is None


@pytest.mark.parametrize("call_id", ["", "c" * 129, "do it", "c1\n", "a/b", "\u0441", None, 7])
def test_any_other_call_id_is_refused(call_id: Any) -> None:
    assert str(call_problem("a", call_id, [])).startswith("call_id must be a plain id")


def test_the_tool_returns_two_keys_that_nobody_asked_for() -> None:
    answer = call_tool(read("call.json"))

    assert {"tool": "inventory.lookup", "payload": answer} == read("leak.json")
    assert answer.keys() - read("contract_payload.json")["payload"].keys() == {
        "discount_code",
        "retry_token",
    }


def test_neither_way_into_memory_lets_the_leak_in(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="lab")

    assert call_and_remember(read("call.json")) == []
    assert call_validate_and_remember(read("call.json")) == []
    assert len(caplog.messages) == 2
    assert all("['discount_code', 'retry_token']" in text for text in caplog.messages)
