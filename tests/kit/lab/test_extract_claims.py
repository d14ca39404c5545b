"""A value is sourced where it literally stands; whoever proposes it does not get to say so."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.extract_claims import ExtractionError, extract_claims, extract_request, main
from lab.ledger_agent import run
from lab.ledger_pointers import pointer_problem
from lab.ledger_transcript import (
    PointsNowhere,
    grounds,
    resolve_pointer,
    result_values,
    transcript_problem,
)
from tests.kit.lab.anything import STEADY, Anything, strange
from tests.kit.lab.ledgers import FIXTURES, ledger, read, said

ANY = Anything("name", "value", "EU", "open", "TCK-5520")
STRANGE = strange("EU", "open")

TRANSCRIPT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Regions: EU, US. Ids look like TCK-10001."},
        {"role": "user", "content": "Please answer TCK-5520 within 4 hours."},
        {"role": "assistant", "content": "I set the priority to urgent."},
        {"role": "user", "content": "Send it to lee@example.org, please."},
    ],
    "tool_results": [
        {"tool": "ticket.get", "result": {"id": "TCK-5520", "status": "open", "vip": True}},
        {
            "tool": "ticket.get",
            "result": {"status": "closed", "rows": [{"n": 7}], "a.b": "hidden", "note": "by kay"},
        },
        {"tool": "odd tool", "result": "unreachable"},
    ],
}


def extracted(name: str, value: Any) -> tuple[str, Any]:
    (row,) = extract_claims(TRANSCRIPT, [{"name": name, "value": value}])
    assert row.keys() == {"name", "value", "tag", "source_pointer"}
    assert (row["name"], row["value"]) == (name, value)
    return row["tag"], row["source_pointer"]


@pytest.mark.parametrize(
    ("name", "value", "tag", "pointer"),
    [
        ("ticket_id", "TCK-5520", "user", "user_message:0"),
        ("hours", 4, "user", "user_message:0"),
        ("email", "lee@example.org", "user", "user_message:1"),
        ("last_status", "open", "retrieved", "tools.ticket.get:result.status"),
        ("status", "closed", "retrieved", "tools.ticket.get[1]:result.status"),
        ("vip", True, "retrieved", "tools.ticket.get:result.vip"),
        ("n", 7, "retrieved", "tools.ticket.get[1]:result.rows.0.n"),
        ("writer", "kay", "retrieved", "tools.ticket.get[1]:result.note"),
    ],
)
def test_a_value_that_was_supplied_gets_a_pointer_that_leads_to_it(
    name: str, value: Any, tag: str, pointer: str
) -> None:
    assert extracted(name, value) == (tag, pointer)
    assert grounds(TRANSCRIPT, pointer, value)
    assert pointer_problem(tag, pointer) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("region", "EU"),  # only the system's prompt has it
        ("priority", "urgent"),  # only the assistant said it
        ("ticket_id", "TCK-552"),
        ("ticket_id", "tck-5520"),
        ("hours", "5520"),
        ("hours", 4.0),
        ("n", "7"),
        ("urgent", True),  # a yes under another name says nothing
        ("vip", 1),
        ("key", "hidden"),  # no pointer can spell its key
        ("tool", "unreachable"),
        ("nothing", None),
        ("nothing", ""),
        ("nothing", []),
        ("nothing", {}),
    ],
)
def test_a_value_that_nobody_supplied_is_assumed(name: str, value: Any) -> None:
    assert extracted(name, value) == ("assumed", None)


def test_what_a_model_says_of_its_own_value_is_dropped() -> None:
    wanted = {
        "name": "region",
        "value": "EU",
        "tag": "retrieved",
        "source_pointer": "tools.crm.get:result.region",
        "tool_calls": [{"name": "ticket.update"}],
    }

    assert extract_claims(TRANSCRIPT, [wanted]) == [
        {"name": "region", "value": "EU", "tag": "assumed", "source_pointer": None}
    ]


@STEADY
@given(rows=st.lists(st.tuples(st.text(min_size=1, max_size=5), ANY.values), max_size=4))
def test_every_claim_is_one_that_the_gate_can_read(rows: list[tuple[str, Any]]) -> None:
    try:
        claims = extract_claims(TRANSCRIPT, [{"name": n, "value": v} for n, v in rows])
    except ExtractionError:
        return
    for row in claims:
        assert (row["tag"] == "assumed") == (row["source_pointer"] is None)
        if row["source_pointer"]:
            assert grounds(TRANSCRIPT, row["source_pointer"], row["value"])
            assert not said(ledger({**row, "name": "x"}, tool="x.y"))


@pytest.mark.parametrize("kind", STRANGE)
def test_a_python_value_that_is_no_json_ends_in_the_own_error(kind: str) -> None:
    value = STRANGE[kind]()
    for transcript, wanted in (
        (value, []),
        ({**TRANSCRIPT, "messages": value}, []),
        (TRANSCRIPT, value),
        (TRANSCRIPT, [{"name": "a", "value": value}]),
    ):
        with pytest.raises(ExtractionError):
            extract_claims(transcript, wanted)


BAD_WANTED: dict[str, Any] = {
    "must be a list": {"a": 1},
    r"wanted\[0\] must be an object": ["a"],
    "with name and value": [{"name": "a"}],
    r"wanted\[0\].name must be a text": [{"name": 5, "value": 1}],
    "twice": [{"name": "a", "value": 1}, {"name": "a", "value": 2}],
}


@pytest.mark.parametrize("text", BAD_WANTED)
def test_a_wanted_list_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ExtractionError, match=text):
        extract_claims(TRANSCRIPT, BAD_WANTED[text])


BAD_TRANSCRIPTS: dict[str, Any] = {
    "messages and tool_results": {"messages": []},
    "messages must be a list": {"messages": {}, "tool_results": []},
    "role and content must be text": {
        "messages": [{"role": "user", "content": None}],
        "tool_results": [],
    },
    "with tool and result": {"messages": [], "tool_results": [{"tool": "a"}]},
    "tool must be text": {"messages": [], "tool_results": [{"tool": 1, "result": 1}]},
    "not plain JSON": {"messages": (), "tool_results": []},
}


@pytest.mark.parametrize("text", BAD_TRANSCRIPTS)
def test_a_transcript_of_another_shape_is_refused(text: str) -> None:
    problem = transcript_problem(BAD_TRANSCRIPTS[text])

    assert problem is not None
    assert text in problem


# Pointers


def test_every_value_of_a_result_can_be_reached_by_its_own_pointer() -> None:
    found = list(result_values(TRANSCRIPT))

    assert len(found) == 10
    assert all(resolve_pointer(TRANSCRIPT, pointer) is value for pointer, value in found)


@pytest.mark.parametrize(
    "pointer",
    [
        "user_message:2",
        "user_message:00",
        "user_message:",
        "user_message:" + "9" * 6000,
        "assistant_message:0",
        "tools.ticket.get:result.nothing",
        "tools.ticket.get:result.status.x",
        "tools.ticket.get[2]:result.status",
        "tools.ticket.get[1]:result.rows.1",
        "tools.ticket.get[1]:result.rows.-1",
        "tools.ticket.get[1]:result.rows." + "9" * 6000,
        "tools.crm.get:result",
        "tools.ticket.get:status",
        "tools.ticket.get:result.",
        "",
    ],
)
def test_a_pointer_to_nothing_says_so(pointer: str) -> None:
    with pytest.raises(PointsNowhere):
        resolve_pointer(TRANSCRIPT, pointer)
    assert not grounds(TRANSCRIPT, pointer, "open")


# Files


def test_the_committed_claims_are_what_the_program_extracts() -> None:
    claims = extract_request(read("extraction_request.json"))

    assert read("extracted_ledger.json")["claims"] == claims
    assert [row["tag"] for row in claims] == ["user", "retrieved", "user", "assumed", "assumed"]


def test_the_request_holds_the_transcript_of_the_lab() -> None:
    assert read("extraction_request.json")["transcript"] == read("support_transcript.json")


@pytest.mark.parametrize("request_", [None, [], {}, {"transcript": TRANSCRIPT}])
def test_a_request_of_another_shape_is_refused(request_: Any) -> None:
    with pytest.raises(ExtractionError, match="transcript and wanted"):
        extract_request(request_)


def test_the_command_prints_claims_or_says_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(FIXTURES / "extraction_request.json")]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5

    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    assert main([str(tmp_path / "a.json")]) == 1
    assert capsys.readouterr().err.startswith("no claims: a.json: not JSON")


# The stand-in for an agent


def test_the_stand_in_makes_up_an_id_that_nobody_gave(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    calls = run(read("missing_id_transcript.json"))

    assert [call["tool"] for call in calls] == ["ticket.search", "ticket.get", "ticket.close"]
    assert {call["args"].get("ticket_id") for call in calls[1:]} == {"TCK-10408"}
    assert [record.getMessage() for record in caplog.records] == [
        "call 1: ticket.search(requester='dana@example.org')",
        "call 2: ticket.get(ticket_id='TCK-10408')",
        "call 3: ticket.close(ticket_id='TCK-10408')",
    ]


def test_the_stand_in_takes_an_id_that_is_there() -> None:
    calls = run(read("support_transcript.json"))

    assert calls[-1] == {"tool": "ticket.close", "args": {"ticket_id": "TCK-20771"}}


def test_the_stand_in_has_an_id_even_without_an_example() -> None:
    calls = run({"messages": [], "tool_results": []})

    assert calls[-1]["args"] == {"ticket_id": "TCK-10001"}
    with pytest.raises(ValueError, match="messages must be a list"):
        run({"messages": 5, "tool_results": []})
