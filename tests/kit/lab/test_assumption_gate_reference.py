"""The reference gate, held against the tables of its contract, word for word."""

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest

from lab.assumption_gate import (
    FORBIDDEN_FOR_WRITES,
    POINTER_REQUIRED,
    READ_TOOLS,
    TAGS,
    WRITE_TOOLS,
    AssumptionGateError,
    assert_tool_args_sourced,
    load_ledger,
    main,
)
from lab.ledger_tools import known_tools, tool_problem
from lab.strict_json import differences
from tests.kit.command import COURSE
from tests.kit.lab.ledgers import FIXTURES, assumed, claim, derived, ledger, read, said

POINTERS = {
    "user": "user_message:0",
    "retrieved": "tools.ticket.get:result.status",
    "observed": "shell:stdout",
    "derived": "derive.sla_bucket(last_status, opened_at)",
}

# Names


def test_the_module_has_the_names_and_sets_of_the_contract() -> None:
    assert issubclass(AssumptionGateError, ValueError)
    assert {"observed", "retrieved", "user", "derived", "assumed"} == TAGS
    assert TAGS - {"assumed"} == POINTER_REQUIRED
    assert {"ticket.update", "ticket.close", "fs.write", "shell.run"} == WRITE_TOOLS
    assert {"assumed"} == FORBIDDEN_FOR_WRITES
    assert not READ_TOOLS & WRITE_TOOLS
    assert known_tools().keys() == READ_TOOLS | WRITE_TOOLS


# Refusals

LISTED = ["ticket.update"]
MESSAGES: dict[str, dict[str, Any]] = {
    "claim missing name": ledger(claim(name=""), args={}),
    "duplicate claim name: ticket_id": ledger(claim(), claim(value="TCK-1")),
    "pending_tool.name is required": {"claims": [claim()]},
    "ticket.update arg 'status' has no claim in the ledger": ledger(
        claim(), args={"ticket_id": "TCK-5520", "status": "open"}
    ),
    "ticket_id value does not match ledger claim": ledger(claim(), args={"ticket_id": "TCK-1"}),
    "status tag 'retrieved' requires source_pointer": ledger(
        claim("status", tag="retrieved", source_pointer=None)
    ),
    "refusing ticket.update: status is tagged 'assumed'": ledger(claim(), assumed("status")),
    "status is not listed for ticket.update": ledger(
        claim("status", required_for=["ticket.close"])
    ),
    "ticket.update needs status": ledger(claim("status", required_for=LISTED), args={}),
    "status has unknown tag 'hunch'; expected one of assumed, derived, observed, retrieved, user": (
        ledger(claim("status", tag="hunch"))
    ),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_refusal_has_the_words_of_the_contract(message: str) -> None:
    assert said(MESSAGES[message]) == message


@pytest.mark.parametrize("missing", [{}, {"name": None}])
def test_a_claim_without_a_name_is_refused(missing: dict[str, Any]) -> None:
    row = {key: value for key, value in claim().items() if key != "name"}

    assert said(ledger(args={}) | {"claims": [{**row, **missing}]}) == "claim missing name"


@pytest.mark.parametrize("row", [{}, {"value": 1}, {"name": None, "tag": "user"}, {"name": ""}])
@pytest.mark.parametrize("before", [[], [claim()]])
def test_a_claim_that_lacks_more_than_its_name_is_missing_its_name(
    before: list[Any], row: dict[str, Any]
) -> None:
    document = ledger(args={}) | {"claims": [*before, row]}

    assert said(document) == "claim missing name"


@pytest.mark.parametrize(
    "pending",
    [None, {}, {"args": {}}, {"name": None, "args": {}}, {"name": None}, {"name": ""}],
)
def test_a_ledger_without_a_pending_tool_is_refused(pending: Any) -> None:
    document = {"claims": [claim()], "pending_tool": pending}

    assert said(document) == "pending_tool.name is required"


@pytest.mark.parametrize("tag", sorted(POINTER_REQUIRED))
@pytest.mark.parametrize("pointer", [None, ""])
@pytest.mark.parametrize("tool", ["ticket.update", "ticket.get"])
def test_every_tag_but_assumed_needs_its_pointer(tag: str, pointer: Any, tool: str) -> None:
    document = ledger(claim(tag=tag, source_pointer=pointer), tool=tool)

    assert said(document) == f"ticket_id tag '{tag}' requires source_pointer"


@pytest.mark.parametrize("tag", sorted(POINTER_REQUIRED))
def test_a_claim_that_has_no_pointer_field_is_refused(tag: str) -> None:
    row = {key: value for key, value in claim(tag=tag).items() if key != "source_pointer"}

    assert said(ledger(row)) == f"ticket_id tag '{tag}' requires source_pointer"


@pytest.mark.parametrize(("tag", "pointer"), POINTERS.items())
def test_every_tag_passes_with_a_pointer_of_its_form(tag: str, pointer: str) -> None:
    assert said(ledger(claim(tag=tag, source_pointer=pointer))) == ""


@pytest.mark.parametrize("tag", sorted(POINTER_REQUIRED))
@pytest.mark.parametrize("other", sorted(POINTER_REQUIRED))
def test_a_pointer_of_another_tags_form_is_refused(tag: str, other: str) -> None:
    same = tag == other or {tag, other} == {"retrieved", "observed"}
    text = said(ledger(claim(tag=tag, source_pointer=POINTERS[other])))

    assert ("leads nowhere" in text) == (not same)


def test_a_claim_is_looked_at_where_the_call_does_not_use_it() -> None:
    stray = claim("region", tag="retrieved", source_pointer=None)

    text = said(ledger(claim(), stray, args={"ticket_id": "TCK-5520"}))

    assert text == "region tag 'retrieved' requires source_pointer"


# Reads and writes


@pytest.mark.parametrize("tool", [*sorted(WRITE_TOOLS), "ticket.delete", "Ticket.Get", "fs"])
def test_an_assumed_argument_is_refused_in_every_tool_that_is_no_read(tool: str) -> None:
    assert said(ledger(assumed("ticket_id"), tool=tool)) == (
        f"refusing {tool}: ticket_id is tagged 'assumed'"
    )


@pytest.mark.parametrize(("tool", "name"), [("ticket.get", "ticket_id"), ("fs.read", "path")])
def test_a_read_may_keep_unknowns(tool: str, name: str) -> None:
    assert said(ledger(assumed(name), tool=tool)) == ""
    assert said(ledger(claim(name), assumed("region"), tool=tool, args={name: "TCK-5520"})) == ""
    assert said(ledger(claim(name, required_for=LISTED), tool=tool)) == ""
    assert said(ledger(claim(name, required_for=[tool]), tool=tool, args={})) == ""


def test_an_assumption_outside_of_the_arguments_stays_an_open_question() -> None:
    args = {"ticket_id": "TCK-5520"}

    assert said(ledger(claim(), assumed("region"), args=args)) == ""
    assert said(ledger(claim(), assumed("region", required_for=["ticket.close"]), args=args)) == ""


def test_an_assumption_that_the_tool_needs_cannot_be_left_out() -> None:
    row = assumed("assignee_email", required_for=LISTED)
    document = ledger(claim(), row, args={"ticket_id": "TCK-5520"})

    assert said(document) == "ticket.update needs assignee_email"


@pytest.mark.parametrize("listed", [[], LISTED, ["ticket.close", "ticket.update"]])
def test_a_claim_that_lists_the_tool_or_none_may_be_written(listed: list[str]) -> None:
    assert said(ledger(claim(required_for=listed))) == ""


def test_a_claim_without_required_for_may_be_written() -> None:
    row = {key: value for key, value in claim().items() if key != "required_for"}

    assert said(ledger(row)) == ""


def test_a_tool_that_nobody_listed_may_be_called_with_sourced_arguments() -> None:
    assert said(ledger(claim("to"), tool="mail.send")) == ""


def test_every_argument_is_looked_at() -> None:
    rows = [claim("a"), claim("b"), assumed("c"), claim("d")]

    assert said(ledger(*rows, tool="x.y")) == "refusing x.y: c is tagged 'assumed'"


@pytest.mark.parametrize("word", ["-" + "c" * 200_000 + "1", "-" + "e" * 200_000, "bash"])
def test_a_long_command_is_decided_quickly(word: str) -> None:
    argv = ["bash", word, *["env", "pwsh", "x"] * 2_000]
    started = time.process_time()

    tool_problem("shell.run", {"argv": argv})

    assert time.process_time() - started < 5


# Derived values


def test_a_derived_value_may_name_an_input_that_is_no_claim() -> None:
    assert said(ledger(derived("sla_bucket", "opened_at"))) == ""


@pytest.mark.parametrize("depth", [1, 2, 5, 400])
def test_a_guess_stays_a_guess_at_any_depth(depth: int) -> None:
    chain = [derived(f"c{n}", f"c{n + 1}") for n in range(depth)]
    document = ledger(*chain, assumed(f"c{depth}"), tool="x.y", args={"c0": "x"})

    assert said(document) == f"refusing x.y: c0 is derived from c{depth}, tagged 'assumed'"
    document["pending_tool"]["name"] = "fs.read"
    assert "is derived" not in said(document)


@pytest.mark.parametrize("length", [1, 2, 3, 400])
def test_a_circle_of_any_length_is_refused(length: int) -> None:
    circle = [derived(f"c{n}", f"c{(n + 1) % length}") for n in range(length)]

    for tool in ("x.y", "fs.read"):
        assert "is derived in a circle" in said(ledger(*circle, tool=tool, args={}))


def test_two_values_may_share_an_input() -> None:
    rows = [derived("a", "b", "c"), derived("b", "d"), derived("c", "d"), claim("d")]

    assert said(ledger(*rows, tool="x.y")) == ""


# Evidence


def test_without_evidence_no_message_is_asked_for() -> None:
    assert said(ledger(claim(source_pointer="user_message:7"))) == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("TCK-5520", "It is (TCK-5520)."),
        (5520, "Number 5520, please"),
        (["make", "test"], "run make test"),
        (True, "urgent: true"),
        (4.5, "4.5 hours"),
    ],
)
def test_a_user_value_that_stands_in_its_message_passes(value: Any, message: str) -> None:
    document = ledger(claim(value=value, source_pointer="user_message:1"))

    assert said(document, {"user_messages": ["Hello.", message]}) == ""
    assert said(document, {"user_messages": [message, "Hello."]}) == (
        "ticket_id value does not stand in user_message:1"
    )


@pytest.mark.parametrize("value", ["", "  ", None, [], {}, {"a": "b"}, [["TCK"]], "TCK", "5520"])
def test_a_user_value_that_is_no_word_of_its_message_is_refused(value: Any) -> None:
    document = ledger(claim(value=value))

    assert said(document, {"user_messages": ["Please answer TCK-5520, "]}) == (
        "ticket_id value does not stand in user_message:0"
    )


def test_a_user_pointer_past_the_last_message_is_refused() -> None:
    assert said(ledger(claim()), {"user_messages": []}) == (
        "ticket_id source_pointer user_message:0 leads to no message: there are 0"
    )


# Fixtures and files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "ticket_update_assumed_assignee.json",
            "refusing ticket.update: assignee_email is tagged 'assumed'",
        ),
        (
            "missing_pointer_last_status.json",
            "last_status tag 'retrieved' requires source_pointer",
        ),
        ("labelled_ledger.json", "refusing ticket.update: customer_region is tagged 'assumed'"),
        ("ticket_update_sourced_assignee.json", ""),
        ("ticket_update_two_sourced.json", ""),
        ("ticket_get_reads.json", ""),
        ("sla_bucket_derived.json", ""),
        ("fs_write_reply.json", ""),
        ("extracted_ledger.json", ""),
    ],
)
def test_each_ledger_of_the_lab_is_decided_as_its_name_says(name: str, text: str) -> None:
    document = load_ledger(FIXTURES / name)
    before = copy.deepcopy(document)

    assert said(document) == text
    assert document == before


def test_the_exercises_change_one_place_each() -> None:
    whole, refused = "ticket_update_two_sourced.json", "ticket_update_assumed_assignee.json"

    assert differences(read(whole), read("missing_pointer_last_status.json")) == [
        "/claims/1/source_pointer"
    ]
    assert differences(read(refused), read("ticket_update_sourced_assignee.json")) == [
        "/claims/1/tag",
        "/claims/1/source_pointer",
    ]


def test_dropping_the_argument_and_its_tool_is_a_repair_too() -> None:
    document = read("ticket_update_assumed_assignee.json")
    del document["pending_tool"]["args"]["assignee_email"]

    assert said(document) == "ticket.update needs assignee_email"
    document["claims"][1]["required_for"] = []
    assert said(document) == ""


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssumptionGateError, match=r"none.json cannot be read"):
        load_ledger(tmp_path / "none.json")


@pytest.mark.parametrize("path", [5, None, [], b"ledger.json", "a\0b"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(AssumptionGateError, match=r"cannot be read|is not the path"):
        load_ledger(path)


def test_the_command_says_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FIXTURES / "ticket_get_reads.json")]) == 0
    assert capsys.readouterr().out == "ticket.get may go: every argument has a source\n"

    assert main([str(FIXTURES / "missing_pointer_last_status.json")]) == 1
    assert capsys.readouterr().err == (
        "rejected: last_status tag 'retrieved' requires source_pointer\n"
    )


def test_the_schema_of_the_lab_accepts_its_ledgers_and_is_closed() -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads((COURSE / "lab" / "ledger.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)

    assert validator.is_valid(read("ticket_update_assumed_assignee.json"))
    assert not validator.is_valid({**read("ticket_get_reads.json"), "pending_tools": []})


def test_nothing_is_returned() -> None:
    assert assert_tool_args_sourced(ledger(claim())) is None  # type: ignore[func-returns-value]
