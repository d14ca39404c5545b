"""The station with a model: what it says is kept as it came, and noted before anybody asks again.

A server on this machine plays the model, well and badly.
"""

import http.server
import importlib
import json
import shutil
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from lab import coach, model, plan_with_model
from lab.cards import Note
from lab.model import Endpoint, ModelError, ask, message_of
from lab.plan_with_model import generate, main
from lab.replay import Decision
from lab.strict_json import MAX_BYTES
from tests.kit.command import COURSE, in_workspace
from tests.kit.lab.model_server import Model, Serve, reply, sends

KEY = "sk-very-secret-1"
MESSAGES = [{"role": "user", "content": "A plan, please."}]
PLAN = (COURSE / "fixtures" / "plan_gate" / "valid_plan.json").read_text(encoding="utf-8")
INVENTED = PLAN.replace('"source": "user"', '"source": "assistant"')
ACCEPTED = Decision("accept", "")
REFUSAL = "['facts', 0, 'source']: 'assistant' is not one of ['user', 'system', 'retrieved']"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fixtures of a workspace that has a gate (ours) and has not been to the station."""
    for name in ("fixtures", "notebooks"):
        shutil.copytree(COURSE / name / "plan_gate", tmp_path / name / "plan_gate")
    fixtures = tmp_path / "fixtures" / "plan_gate"
    for name in ("model_plan.json", "lab_notes.json", "model_prompt.md"):
        shutil.copy(fixtures / "start" / name, fixtures)
    monkeypatch.setattr(coach, "ROOT", tmp_path)
    # The module as it is: to import it anew would leave other tests with two of each class.
    monkeypatch.setattr(coach, "fresh", importlib.import_module)
    return fixtures


def variables(server: Model) -> dict[str, str]:
    base = server.endpoint().base_url
    return {"LAB_MODEL_BASE_URL": base, "LAB_MODEL_NAME": "small", "LAB_MODEL_API_KEY": KEY}


def said(server: Model, **more: Any) -> str:
    return str(generate(environment=variables(server), **more))


def note(folder: Path, text: str) -> None:
    (folder / "lab_notes.json").write_text(json.dumps({"model_plan.json": text}))


def has_three_parts(text: str) -> bool:
    places = [text.find(part) for part in ("Found: ", "Expected: ", "Next: ")]
    return -1 < places[0] < places[1] < places[2]


# A server that behaves badly


GOOD = reply(INVENTED)


def redirect(elsewhere: Model) -> Any:
    return sends(b"", 307, Location=f"{elsewhere.endpoint().base_url}/chat/completions")


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": (sends(b"<html>busy</html>"), "the reply is not strict JSON"),
    "nothing": (sends(b""), "the reply is not strict JSON"),
    "another shape": (sends(b'{"choices": []}'), "no choices[0].message"),
    "a tool call": (
        sends(reply(None, message={"tool_calls": [{"function": {"name": "credit"}}]})),
        "asked for a tool call",
    ),
    "no text": (sends(reply(None)), "has no text"),
    "half a reply": (sends(GOOD[:200], length=len(GOOD)), "cannot be reached, or broke off"),
    "too many requests": (
        sends(b"{}", 429, **{"Retry-After": "7"}), "HTTP 429. Expected"
    ),
    "a broken server": (sends(b"Traceback", 500), "HTTP 500. Expected"),
    "a wrong key": (sends(KEY.encode(), 401), "LAB_MODEL_API_KEY"),
    "a wrong name": (sends(b"{}", 404), "LAB_MODEL_NAME"),
    "a huge reply": (sends(b" " * (MAX_BYTES + 2)), "longer than 1,000,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "text"), BAD.values(), ids=BAD.keys())
def test_a_bad_answer_is_a_sentence_and_the_fixture_stays(
    folder: Path, serve: Serve, answer: Any, text: str
) -> None:
    before = (folder / "model_plan.json").read_bytes()

    shown = said(serve(answer))

    assert text in shown
    assert has_three_parts(shown)
    assert KEY not in shown
    assert (folder / "model_plan.json").read_bytes() == before


@pytest.mark.parametrize("name", ["no JSON", "a tool call", "half a reply", "a huge reply"])
def test_what_came_of_a_bad_answer_is_kept(folder: Path, serve: Serve, name: str) -> None:
    shown = said(serve(BAD[name][0]))

    kept = (folder / "model_outputs" / "earlier_1.json").read_bytes()
    assert "kept as model_outputs/earlier_1.json" in shown
    assert kept[:5] in (b"<html", GOOD[:5], b"     ")
    assert len(kept) <= MAX_BYTES


def test_where_it_cannot_be_kept_that_is_a_sentence_too(folder: Path, serve: Serve) -> None:
    shutil.rmtree(folder / "model_outputs")
    (folder / "model_outputs").write_bytes(b"a file")

    shown = said(serve(BAD["no JSON"][0]))

    assert shown.startswith("Nothing was saved as model_plan.json. Found: model_outputs cannot be")
    assert has_three_parts(shown)
    assert str(folder) not in shown
    assert (folder / "model_outputs").read_bytes() == b"a file"


def test_how_long_to_wait_is_said_where_the_server_says_it(folder: Path, serve: Serve) -> None:
    assert "Next: wait 7 seconds, then ask again." in said(serve(BAD["too many requests"][0]))
    odd = sends(b"{}", 429, **{"Retry-After": "<script>"})
    assert "Next: wait, then ask again." in said(serve(odd))
    assert not list(folder.glob("model_outputs/earlier_*"))


def test_a_redirect_is_not_followed_with_the_key(folder: Path, serve: Serve) -> None:
    elsewhere = serve(sends(GOOD))

    shown = said(serve(redirect(elsewhere)))

    assert "HTTP 307, a redirect, which is not followed" in shown
    assert has_three_parts(shown)
    assert elsewhere.requests == []
    assert (folder / "model_plan.json").read_text().strip() == "{}"


@pytest.mark.usefixtures("folder")
def test_a_failed_call_is_not_made_again_by_itself(serve: Serve) -> None:
    server = serve(sends(b"{}", 500))

    said(server)

    assert len(server.requests) == 1


def test_a_server_that_never_answers_runs_into_the_limit(serve: Serve) -> None:
    done = threading.Event()
    server = serve(lambda _: done.wait(60) and None)

    with pytest.raises(ModelError, match=r"no answer within 0\.3 seconds"):
        ask(server.endpoint(KEY, timeout_seconds=0.3), MESSAGES)
    done.set()


def test_a_server_that_drips_for_ever_runs_into_the_limit(serve: Serve) -> None:
    def drip(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(2000):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    endpoint = serve(drip).endpoint(KEY)
    hurried = Endpoint(endpoint.base_url, endpoint.model, KEY, 10.0, total_seconds=0.0)

    with pytest.raises(ModelError, match="its answer began, and has no end") as caught:
        ask(hurried, MESSAGES)
    assert caught.value.partial.startswith(b" ")


@pytest.mark.usefixtures("folder")
def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        shown = str(generate(environment={"LAB_MODEL_BASE_URL": base, "LAB_MODEL_API_KEY": KEY}))

    assert "cannot be reached" in shown
    assert has_three_parts(shown)
    assert KEY not in shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"LAB_MODEL_BASE_URL": "localhost:8080"}, "does not begin with http"),
        ({"LAB_MODEL_BASE_URL": "http://[x"}, "cannot be reached"),
        ({"LAB_MODEL_BASE_URL": "http://a", "LAB_MODEL_API_KEY": f"{KEY}\n"}, "a line break"),
    ],
)
def test_a_variable_that_cannot_be_used_is_a_sentence(
    environment: dict[str, str], text: str
) -> None:
    shown = str(generate(environment=environment))

    assert text in shown
    assert has_three_parts(shown)
    assert KEY not in shown


@pytest.mark.usefixtures("folder")
def test_without_the_package_there_is_a_sentence(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)

    shown = said(serve(sends(GOOD)))

    assert "the package openai is not installed" in shown
    assert "Next: uv sync --extra model" in shown


def test_a_key_is_in_no_text_of_an_endpoint() -> None:
    assert KEY not in repr(Endpoint("http://a", "b", KEY))


def test_what_the_package_reads_for_its_own_makers_service_stays_here(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "key-secret")
    server = serve(sends(GOOD))

    ask(server.endpoint(), MESSAGES)

    ((headers, _),) = server.requests
    assert "secret" not in json.dumps(headers)


# What a model says is kept as it came


OUTPUTS = {
    "a plan": PLAN,
    "extra keys": PLAN.replace('"goal"', '"confidence": 0.9, "goal"'),
    "prose": "Here you are:\n```json\n{}\n```\r\n",
    "nothing": "",
    "blanks": " \n\t ",
    "half a character": "{\ud800}",
    "another script": '{"goal": "Zoë 椅子"}\n\n',
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_the_output_is_saved_byte_for_byte(folder: Path, serve: Serve, output: str) -> None:
    shown = said(serve(sends(reply(output))))

    assert (folder / "model_plan.json").read_bytes() == output.encode("utf-8", "surrogatepass")
    assert "byte for byte" in shown
    assert REFUSAL not in shown


def test_the_prompt_is_asked_as_it_stands(folder: Path, serve: Serve) -> None:
    (folder / "model_prompt.md").write_text("A plan, please.\n", encoding="utf-8")
    server = serve(sends(GOOD))

    said(server)

    ((headers, body),) = server.requests
    assert body["messages"] == MESSAGES
    assert body["model"] == "small"
    assert "tools" not in body
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_an_output_that_its_limit_cut_off_is_kept_and_said_to_be(
    folder: Path, serve: Serve
) -> None:
    shown = said(serve(sends(reply('{"goal": "Cre', finish_reason="length"))))

    assert "Its own length limit cut it off." in shown
    assert (folder / "model_plan.json").read_bytes() == b'{"goal": "Cre'


# First the refusal is noted, then the prompt may change


def test_a_second_call_is_refused_while_the_refusal_is_not_noted(
    folder: Path, serve: Serve
) -> None:
    server = serve(sends(GOOD))
    said(server)
    (folder / "model_prompt.md").write_text("Another prompt.", encoding="utf-8")

    shown = said(server, again=True)

    assert "lab_notes.json does not say with which words" in shown
    assert has_three_parts(shown)
    assert REFUSAL in shown
    assert len(server.requests) == 1
    assert (folder / "model_plan.json").read_text(encoding="utf-8") == INVENTED


@pytest.mark.parametrize("text", ["", "  ", "it was refused", "e", "['facts', 0,", "… (9 more"])
def test_a_note_that_says_something_else_is_none(folder: Path, serve: Serve, text: str) -> None:
    server = serve(sends(GOOD))
    said(server)
    note(folder, text)

    assert "does not say with which words" in said(server, again=True)


@pytest.mark.parametrize("facts", [1, 40], ids=["short", "over 1500 characters"])
def test_the_refusal_as_the_notebook_or_the_station_shows_it_is_a_note(
    folder: Path, serve: Serve, facts: int
) -> None:
    plan = json.loads(INVENTED)
    plan["facts"] = plan["facts"][:1] * facts
    said(serve(sends(reply(json.dumps(plan)))))
    shown = coach.try_gate("plan_gate", "model_plan.json", predict="refuse")
    refused = said(serve(sends(GOOD)), again=True)
    station = refused.partition("then ask again: ")[2].removesuffix(".")
    assert isinstance(shown, Note)
    assert (len(shown.quote) > 1500) == (len(station) > 600) == (facts > 1)

    for text in (shown.quote, f"refused: {shown.quote}" if facts == 1 else station):
        note(folder, text)
        assert "Next: change model_prompt.md" in said(serve(sends(GOOD)))


def test_a_refusal_that_is_shorter_than_a_note_is_noted_whole(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(serve(sends(reply(PLAN))))
    words = {"model_plan.json": Decision("reject", "no goal"), "valid_plan.json": ACCEPTED}
    monkeypatch.setattr(plan_with_model, "_decide", lambda path: words[path.name])
    note(folder, "no")
    before = said(serve(sends(GOOD)))
    note(folder, "no goal")

    assert "does not say with which words" in before
    assert "Next: change model_prompt.md" in said(serve(sends(GOOD)))


@pytest.mark.parametrize("notes", ["{", "[]", '{"model_plan.json": 7}', None])
def test_notes_that_cannot_be_used_note_nothing(
    folder: Path, serve: Serve, notes: str | None
) -> None:
    server = serve(sends(GOOD))
    said(server)
    (folder / "lab_notes.json").unlink()
    if notes is not None:
        (folder / "lab_notes.json").write_text(notes, encoding="utf-8")

    shown = said(server, again=True)

    assert has_three_parts(shown)
    assert len(server.requests) == 1


def test_once_it_is_noted_a_new_prompt_gets_a_new_output_and_the_old_one_is_kept(
    folder: Path, serve: Serve
) -> None:
    first = serve(sends(GOOD))
    said(first)
    note(folder, REFUSAL)

    assert "change model_prompt.md, then generate(again=True)" in said(first)
    shown = said(serve(sends(reply(PLAN))), again=True)

    assert "kept as model_outputs/earlier_1.json" in shown
    assert (folder / "model_plan.json").read_text(encoding="utf-8") == PLAN
    earlier = (folder / "model_outputs" / "earlier_1.json").read_text(encoding="utf-8")
    assert earlier == INVENTED


@pytest.mark.usefixtures("folder")
def test_an_output_that_the_gate_accepts_needs_no_note(serve: Serve) -> None:
    server = serve(sends(reply(PLAN)))
    said(server)

    assert "byte for byte" in said(server, again=True)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("prompt", "text"),
    [(None, "cannot be read"), (b"\xff", "cannot be read"), (b" ", "0 characters")],
)
def test_a_prompt_that_is_none_asks_nobody(
    folder: Path, serve: Serve, prompt: bytes | None, text: str
) -> None:
    (folder / "model_prompt.md").unlink()
    if prompt is not None:
        (folder / "model_prompt.md").write_bytes(prompt)
    server = serve(sends(GOOD))

    shown = said(server)

    assert text in shown
    assert has_three_parts(shown)
    assert server.requests == []


def test_without_a_gate_that_accepts_something_nobody_is_asked(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "valid_plan.json").write_text(INVENTED, encoding="utf-8")
    server = serve(sends(GOOD))

    shown = said(server)
    monkeypatch.setattr(coach, "fresh", lambda _: 1 / 0)
    crashed = said(server)

    assert "your gate does not accept valid_plan.json: ['facts', 0" in shown
    assert "your gate does not accept valid_plan.json: ZeroDivisionError" in crashed
    assert has_three_parts(shown)
    assert server.requests == []


# Without a model


def test_without_an_endpoint_a_recorded_output_is_taken_and_then_the_next(folder: Path) -> None:
    recorded = sorted((folder / "model_outputs").iterdir())

    first = str(generate(environment={}))
    assert recorded[0].name in first
    assert (folder / "model_plan.json").read_bytes() == recorded[0].read_bytes()

    assert "does not say with which words" in str(generate(again=True, environment={}))
    note(folder, "[]: 'dry_run' is a required property")
    assert recorded[1].name in str(generate(again=True, environment={}))
    assert (folder / "model_plan.json").read_bytes() == recorded[1].read_bytes()


def test_without_recorded_outputs_there_is_a_sentence(folder: Path) -> None:
    shutil.rmtree(folder / "model_outputs")

    assert has_three_parts(str(generate(environment={})))


@pytest.mark.usefixtures("folder")
def test_the_command_takes_one_and_then_refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LAB_MODEL_BASE_URL", raising=False)

    assert main([]) == 0
    assert main(["--again"]) == 1
    monkeypatch.setattr(
        plan_with_model, "_generate", lambda *_: (False, Note("Not saved byte for byte."))
    )
    assert main([]) == 1

    assert "Next: gate it, copy the string" in capsys.readouterr().out


def test_a_finished_workspace_keeps_its_output(finished: Path) -> None:
    done = in_workspace(finished, "-m", "lab.plan_with_model")

    assert (done.code, done.err) == (1, "")
    assert "model_plan.json holds an output that your gate has seen" in done.out
    source = finished / "fixtures" / "plan_gate" / "model_plan.json"
    assert source.read_bytes() == (COURSE / "fixtures/plan_gate/model_plan.json").read_bytes()


def test_a_reply_is_read_as_one_message() -> None:
    assert message_of(reply("a", finish_reason="stop")) == model.Message("a", False)
    assert message_of(reply("", finish_reason="length")) == model.Message("", True)
