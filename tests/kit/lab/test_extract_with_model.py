"""A model may propose values; a local server plays the model here, well and badly."""

import http.server
import json
import socket
import threading
from typing import Any

import pytest

from lab.extract_claims import ExtractionError
from lab.extract_with_model import extract_with_model, main, read_reply
from lab.model import Endpoint, ModelError
from tests.kit.lab.ledgers import FIXTURES, read
from tests.kit.lab.model_server import Serve, reply, sends

NAMES = ["ticket_id", "customer_region"]
TRANSCRIPT = read("support_transcript.json")


def proposed(*rows: Any, **more: Any) -> bytes:
    return reply(json.dumps({"claims": rows, **more}))


GOOD = proposed(
    {"name": "ticket_id", "value": "TCK-20771"},
    {"name": "customer_region", "value": "EU", "tag": "retrieved", "source_pointer": "a:b"},
    {"name": "unasked", "value": 1},
)


def test_a_models_values_are_grounded_here(serve: Serve) -> None:
    model = serve(sends(GOOD))

    claims = extract_with_model(TRANSCRIPT, NAMES, model.endpoint("secret"))

    assert [(row["name"], row["tag"], row["source_pointer"]) for row in claims] == [
        ("ticket_id", "user", "user_message:0"),
        ("customer_region", "assumed", None),
    ]
    ((headers, body),) = model.requests
    assert headers["Authorization"] == "Bearer secret"
    assert "tools" not in body
    assert body["model"] == "test"
    assert json.loads(body["messages"][1]["content"])["names"] == NAMES


def test_without_a_key_none_is_sent(serve: Serve) -> None:
    model = serve(sends(GOOD))

    extract_with_model(TRANSCRIPT, NAMES, model.endpoint())

    assert "Authorization" not in model.requests[0][0]


BAD_REPLIES: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"<html>", "the reply is not strict JSON"),
    "half a reply": (GOOD[:-20], "the reply is not strict JSON"),
    "nothing": (b"", "the reply is not strict JSON"),
    "another shape": (b"[]", "choices"),
    "no choice": (b'{"choices": []}', "choices"),
    "no message": (b'{"choices": [{"text": "a"}]}', "choices"),
    "prose": (reply("Sure. Here is the JSON: {}"), "the model's text is not strict JSON"),
    "a code fence": (reply('```json\n{"claims": []}\n```'), "the model's text is not strict JSON"),
    "no text": (reply(None), "has no text"),
    "a tool call": (
        reply(None, message={"tool_calls": [{"function": {"name": "ticket.update"}}]}),
        "asked for a tool call",
    ),
    "an old tool call": (
        reply('{"claims": []}', message={"function_call": {"name": "a"}}),
        "asked for a tool call",
    ),
    "a cut text": (reply('{"claims": [', finish_reason="length"), "was cut off"),
    "extra keys": (proposed(next_tool="ticket.update"), "with claims, and nothing else"),
    "a tool call in the text": (proposed(tool_calls=[]), "with claims, and nothing else"),
    "a list": (reply("[]"), "with claims, and nothing else"),
    "a claim without a value": (proposed({"name": "a"}), "with name and value"),
    "a claim whose name is no text": (proposed({"name": [], "value": 1}), "with name and value"),
    "a claim that is a text": (proposed("ticket_id"), "with name and value"),
    "a key that stands twice": (
        reply('{"claims": [{"name": "a", "value": 1, "value": 2}]}'),
        "stands twice in one object",
    ),
    "a number that is none": (reply('{"claims": [{"name": "a", "value": NaN}]}'), "NaN"),
    "half a character": (reply('{"claims": [{"name": "a", "value": "\ud800"}]}'), "not UTF-8 text"),
    "thousands of levels": (reply('{"claims": ' + "[" * 60 + "]" * 60 + "}"), "cannot be used"),
}


@pytest.mark.parametrize(("data", "text"), BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
def test_a_bad_reply_is_refused_as_a_whole(data: bytes, text: str) -> None:
    with pytest.raises(ExtractionError, match=text):
        read_reply(data)


@pytest.mark.parametrize("name", ["no JSON", "a tool call", "extra keys"])
def test_a_bad_reply_of_a_server_is_refused(name: str, serve: Serve) -> None:
    data, text = BAD_REPLIES[name]

    with pytest.raises(ExtractionError, match=text):
        extract_with_model(TRANSCRIPT, NAMES, serve(sends(data)).endpoint())


def test_one_name_proposed_twice_is_refused(serve: Serve) -> None:
    twice = proposed({"name": "ticket_id", "value": "a"}, {"name": "ticket_id", "value": "b"})

    with pytest.raises(ExtractionError, match="twice"):
        extract_with_model(TRANSCRIPT, NAMES, serve(sends(twice)).endpoint())


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (429, r"HTTP 429\. .*Next: wait, then"),
        (500, r"HTTP 500\. .*Next: look"),
        (401, r"HTTP 401\. .*LAB_MODEL_API_KEY"),
    ],
)
def test_a_refusal_of_the_server_is_named(status: int, text: str, serve: Serve) -> None:
    with pytest.raises(ExtractionError, match=text):
        extract_with_model(TRANSCRIPT, NAMES, serve(sends(b"{}", status)).endpoint())


def test_a_redirect_is_not_followed_with_the_key(serve: Serve) -> None:
    other = serve(sends(GOOD))
    model = serve(sends(b"", 302, Location=other.endpoint().base_url))

    with pytest.raises(ExtractionError, match="HTTP 302"):
        extract_with_model(TRANSCRIPT, NAMES, model.endpoint("secret"))

    assert other.requests == []


def test_an_answer_that_breaks_off_is_refused(serve: Serve) -> None:
    model = serve(sends(GOOD[:50], length=len(GOOD)))

    with pytest.raises(ExtractionError, match=r"broke off|not strict JSON"):
        extract_with_model(TRANSCRIPT, NAMES, model.endpoint())


def test_an_answer_longer_than_a_megabyte_is_refused(serve: Serve) -> None:
    model = serve(sends(b" " * 1_000_002))

    with pytest.raises(ExtractionError, match="longer than"):
        extract_with_model(TRANSCRIPT, NAMES, model.endpoint())


def test_a_server_that_never_answers_runs_into_the_limit(serve: Serve) -> None:
    asked = threading.Event()
    done = threading.Event()

    def silent(_: http.server.BaseHTTPRequestHandler) -> None:
        asked.set()
        done.wait(10)

    model = serve(silent)
    with pytest.raises(ExtractionError, match=r"within 0.2 seconds"):
        extract_with_model(TRANSCRIPT, NAMES, model.endpoint(timeout_seconds=0.2))
    assert asked.is_set()
    done.set()


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

        with pytest.raises(ExtractionError, match="cannot be reached"):
            extract_with_model(TRANSCRIPT, NAMES, Endpoint(url, "test", "", 5.0))


def test_a_transcript_of_another_shape_is_sent_nowhere(serve: Serve) -> None:
    model = serve(sends(GOOD))

    with pytest.raises(ExtractionError, match="messages and tool_results"):
        extract_with_model({}, NAMES, model.endpoint())

    assert model.requests == []


# Off unless set


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"LAB_MODEL_BASE_URL": "file:///etc"}, "does not begin with http"),
        ({"LAB_MODEL_BASE_URL": "http://a", "LAB_MODEL_API_KEY": "s3cr3t\n"}, "a line break"),
        ({"LAB_MODEL_BASE_URL": "http://a", "LAB_MODEL_API_KEY": "s3cr3t s3cr3t"}, "a blank"),
    ],
)
def test_what_cannot_be_an_address_or_a_key_is_refused(
    variables: dict[str, str], text: str
) -> None:
    with pytest.raises(ModelError, match=text) as caught:
        Endpoint.from_environment(variables)

    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("variables", [{}, {"LAB_MODEL_BASE_URL": ""}])
def test_without_an_address_there_is_no_model(variables: dict[str, str]) -> None:
    assert Endpoint.from_environment(variables) is None


@pytest.mark.parametrize("base", ["http://[::1", "http://[x]", "http://localhost:port", "http://"])
def test_an_address_that_leads_nowhere_is_refused(
    base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_MODEL_BASE_URL", base)

    assert main([str(FIXTURES / "support_transcript.json"), "ticket_id"]) == 1
    assert capsys.readouterr().err.startswith("no claims: ")


def test_the_address_and_the_name_come_from_the_environment() -> None:
    endpoint = Endpoint.from_environment(
        {
            "LAB_MODEL_BASE_URL": "http://localhost:1/v1/",
            "LAB_MODEL_NAME": "small",
            "LAB_MODEL_API_KEY": "k",
        }
    )

    assert endpoint == Endpoint("http://localhost:1/v1", "small", "k", 30.0)


def test_the_command_says_that_it_is_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LAB_MODEL_BASE_URL", raising=False)

    assert main([str(FIXTURES / "support_transcript.json"), "ticket_id"]) == 1
    assert capsys.readouterr().err.startswith("no claims: no model is set.")


def test_the_command_prints_grounded_claims(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_MODEL_BASE_URL", serve(sends(GOOD)).endpoint().base_url)

    assert main([str(FIXTURES / "support_transcript.json"), *NAMES]) == 0
    assert [row["tag"] for row in json.loads(capsys.readouterr().out)] == ["user", "assumed"]
