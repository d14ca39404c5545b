"""Kept calls on a gate answer the same calls of another run, wherever its files lie."""

import base64
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from instructor.evidence.gate_server import GateServer, Side
from instructor.evidence.kept_calls import Call, Script, asked_again
from instructor.sandbox.process import Message
from instructor.sandbox.stand_in import Crossing, StandIn
from lab.workshop import Gate, GateClass

GATE = Gate(
    "lab.toy", "ToyError", "load", "decide", ("load",), classes={"Log": GateClass(("add",), ())}
)


class Log:
    """A class of a gate: each text that is added goes to the end of its file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, text: str) -> int:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(text)
        return len(text)


@pytest.fixture
def side(tmp_path: Path) -> Side:
    """Give a gate that writes files, on the grader's side."""
    module = ModuleType("toy")
    vars(module).update(Log=Log, ToyError=ValueError, load=lambda path: path.read_text("utf-8"))
    (place := tmp_path / "side").mkdir()
    return Side(GATE, module, place)


class NeverAsked:
    """A gate that must not be asked."""

    def call(self, message: Message) -> Message:
        raise AssertionError(message)


def run_in(folder: Path, gate: GateServer) -> tuple[str, str]:
    """Do in a folder what a test would: make two logs, add to one; give what both files hold."""
    remote = {"error": "ToyError", "module": GATE.module, "load": GATE.load}
    crossing = Crossing(remote, "1", gate.answer)
    folder.mkdir()
    first, second = folder / "first.log", folder / "second.log"
    second.write_text("old ", encoding="utf-8")
    for number, file in enumerate((first, second), start=1):
        crossing.call("Log", (file,), {}, number)
    assert crossing.call("Log.add", ("new",), {}, 2) == 3
    assert crossing.call("load", (second,), {}) == "old new"
    return first.read_text("utf-8") if first.exists() else "", second.read_text("utf-8")


def test_a_file_that_a_gate_writes_arrives_where_the_test_has_it(
    side: Side, tmp_path: Path
) -> None:
    assert run_in(tmp_path / "here", GateServer(side)) == ("", "old new")


def test_kept_replies_bring_their_files_to_where_they_lie_now(side: Side, tmp_path: Path) -> None:
    first = GateServer(side)
    run_in(tmp_path / "before", first)
    replies = [call.reply for call in first.calls]
    assert [list(reply["files"]) for reply in replies if reply["files"]]

    script = Script(first.calls, replies, NeverAsked())

    assert run_in(tmp_path / "elsewhere", GateServer(script)) == ("", "old new")


def test_another_gate_gets_the_same_files_when_it_is_asked_again(
    side: Side, tmp_path: Path
) -> None:
    first = GateServer(side)
    run_in(tmp_path / "before", first)
    (place := tmp_path / "other").mkdir()

    replies = asked_again(first.calls, Side(GATE, side._module, place))

    assert replies == [call.reply for call in first.calls]


def test_a_call_sends_only_the_files_that_it_or_its_object_can_reach(tmp_path: Path) -> None:
    sent: list[Message] = []
    remote = {"error": "ToyError", "module": GATE.module, "load": GATE.load}

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        sent.append(message)
        return {"value": None, "files": {}}

    crossing = Crossing(remote, "1", ask)
    files = [tmp_path / "a", tmp_path / "b"]
    for number, file in enumerate(files, start=1):
        file.write_text("one", encoding="utf-8")
        crossing.call("Log", (file,), {}, number)
    for file in files:
        file.write_text("two", encoding="utf-8")
    other = StandIn()
    other._number = 2

    crossing.call("Log.add", ("x",), {}, 1)
    crossing.call("Log.add", ({"deep": [other]},), {}, 1)
    crossing.call("Log.add", ("x",), {}, 2)

    a, b = map(str, files)
    assert [message["reach"] for message in sent] == [[a], [b], [a], [a, b], [a, b]]
    two = base64.b64encode(b"two").decode()
    assert [message["files"] for message in sent[2:]] == [{a: two}, {b: two}, {}]


@pytest.mark.parametrize("reach", [None, "a", [1], [["a"]]])
def test_a_call_whose_reach_is_no_list_of_names_is_no_call(side: Side, reach: object) -> None:
    message = {"call": "load", "test": "", "object": 0, "arguments": [], "named": {}, "files": {}}
    server = GateServer(side)

    assert server.answer({**message, "reach": reach})["text"] == "this is no call"
    assert server.calls == []


def test_calls_on_files_of_other_names_are_other_calls() -> None:
    def call(name: str) -> Call:
        told = {"call": "Log", "object": 1, "test": "", "named": {}, "files": {name: None}}
        return Call({**told, "arguments": [{"$path": name}], "reach": [name]}, {})

    assert call("/one/a.log").shape == call("/two/a.log").shape
    assert call("/one/a.log").shape != call("/one/b.log").shape
