"""Kept calls on a gate answer the same calls of another run, wherever its files lie."""

import base64
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from instructor.classroom import load_workshops
from instructor.evidence.gate_runs import run_on_all
from instructor.evidence.gate_server import (
    LONGEST_REMEMBERED,
    LONGEST_REPLY,
    MOST_BYTES,
    MOST_FILES,
    MOST_SAID,
    GateServer,
    Side,
)
from instructor.evidence.kept_calls import Call, Script, asked_again
from instructor.sandbox.allowance import Allowance
from instructor.sandbox.process import Message
from instructor.sandbox.stand_in import Crossing, StandIn, with_paths
from lab.workshop import Gate, GateClass
from tests.kit.instructor.benches import bench_with

GATE = Gate(
    "lab.toy", "ToyError", "load", "decide", ("load",), classes={"Log": GateClass(("add",), ())}
)

REMOTE = {"error": GATE.error, "module": GATE.module, "load": GATE.load}


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
    return Side(GATE, module, place, Allowance(60))


class NeverAsked:
    """A gate that must not be asked."""

    def call(self, message: Message) -> Message:
        raise AssertionError(message)


def run_in(folder: Path, gate: GateServer) -> tuple[str, str]:
    """Do in a folder what a test would: make two logs, add to one; give what both files hold."""
    crossing = Crossing(REMOTE, "1", gate.answer)
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

    replies = asked_again(first.calls, Side(GATE, side._module, place, Allowance(60)))

    assert replies == [call.reply for call in first.calls]


def test_a_call_sends_only_the_files_that_it_or_its_object_can_reach(tmp_path: Path) -> None:
    sent: list[Message] = []

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        sent.append(message)
        return {"value": None, "files": {}}

    crossing = Crossing(REMOTE, "1", ask)
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


def asked(call: str, *arguments: object, **more: object) -> Message:
    """Give a message as a stranger may write it."""
    message: Message = {"call": call, "test": "", "object": 0, "named": {}, "files": {}}
    return {**message, "reach": [], "arguments": list(arguments), **more}


@pytest.mark.parametrize("reach", [None, "a", [1], [["a"]]])
def test_a_call_whose_reach_is_no_list_of_names_is_no_call(side: Side, reach: object) -> None:
    server = GateServer(side)

    assert server.answer(asked("load", reach=reach))["text"] == "this is no call"
    assert server.calls == []


def test_a_path_that_did_not_cross_opens_nothing(side: Side, tmp_path: Path) -> None:
    """The gate runs outside of the sandbox: no text may become the path of a teacher's file."""
    secret, victim = tmp_path / "secret", tmp_path / "victim"
    secret.write_text("answers", encoding="utf-8")
    victim.write_text("work", encoding="utf-8")
    calls = [
        asked("load", str(secret)),
        asked("load", named={"path": str(secret)}),
        asked("load", {"$path": str(secret)}),
        asked("load", {"$path": str(secret)}, reach=[str(secret)]),
        asked("load", 0),
        asked("Log", str(victim), object=1),
        asked("Log", object=1, named={"file": str(victim)}),
        asked("Log.add", "new", object=1),
        asked("Log", {"$path": str(victim)}, object=1, reach=[str(victim)]),
        asked("Log.add", "new", object=1, reach=[str(victim)]),
    ]

    replies = [side.call(call) for call in calls]

    assert "answers" not in str(replies)
    assert [bool(reply.get("crash")) for reply in replies[:7]] == [True] * 7
    assert victim.read_text(encoding="utf-8") == "work"


def test_a_text_crosses_as_the_path_that_it_is(side: Side, tmp_path: Path) -> None:
    crossing = Crossing(REMOTE, "1", GateServer(side).answer)
    file = tmp_path / "plan.json"
    file.write_text("{}", encoding="utf-8")

    assert with_paths((str(file), 5), {"file": str(file)}) == ((file, 5), {"file": file})
    assert crossing.call("load", *with_paths((str(file),), {})) == "{}"


@pytest.mark.parametrize(
    "files",
    [
        {str(number): "" for number in range(MOST_FILES + 1)},
        {"one": base64.b64encode(bytes(MOST_BYTES + 1)).decode()},
        {str(n): base64.b64encode(bytes(MOST_BYTES // 4)).decode() for n in range(5)},
    ],
    ids=["files", "one file", "bytes in all"],
)
def test_a_run_keeps_no_more_on_this_side_than_it_may(
    files: dict[str, str], side: Side, tmp_path: Path
) -> None:
    reply = side.call(asked("load", files=files))

    assert reply["crash"] == "OSError"
    kept = [path for path in (tmp_path / "side").rglob("*") if path.is_file()]
    assert len(kept) <= MOST_FILES
    assert sum(path.stat().st_size for path in kept) <= MOST_BYTES


def test_a_gate_does_not_write_on_once_its_files_hold_too_much(side: Side) -> None:
    side.call(asked("Log", {"$path": "log"}, object=1, files={"log": ""}, reach=["log"]))
    add = asked("Log.add", "x" * (MOST_BYTES // 2), object=1, reach=["log"])

    replies = [side.call(add) for _ in range(5)]

    assert [reply.get("crash") for reply in replies[:2]] == [None, None]
    assert {reply["crash"] for reply in replies[2:]} == {"OSError"}
    assert all(not reply["files"] for reply in replies[2:])


def test_a_file_that_is_in_reach_many_times_is_read_once(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    side.call(asked("Log", {"$path": "log"}, object=1, files={"log": ""}, reach=["log"]))
    read: list[Path] = []
    whole = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (read.append(path), whole(path))[1])

    reply = side.call(asked("Log.add", "new", object=1, reach=["log"] * 1000))

    assert list(reply["files"]) == ["log"]
    assert len(read) == 1


@pytest.mark.parametrize(
    "message",
    [
        asked("load", {"$path": "a"}, files={"a": 5}, reach=["a"]),
        asked("Log", {"$path": "n" * 300}, files={"n" * 300: ""}, reach=["n" * 300]),
        asked("Log", {"$path": "\0"}, files={"\0": ""}, reach=["\0"]),
        asked("load", {"$path": ["a"]}),
        asked("Log.add", {"$object": ["a"]}, object=7),
    ],
    ids=["no text in a file", "a long name", "an impossible name", "no path", "no object"],
)
def test_whatever_a_stranger_sends_gets_a_reply(message: Message, side: Side) -> None:
    assert side.call(message)["crash"]


def test_a_reply_does_not_grow_with_what_a_stranger_sent(side: Side) -> None:
    name = "n" * 100_000
    reply = side.call(asked("Log", {"$path": name}, files={name: ""}, reach=[name]))

    assert len(str(reply)) < 1_000


def test_calls_on_files_of_other_names_are_other_calls() -> None:
    def call(name: str) -> Call:
        told = {"call": "Log", "object": 1, "test": "", "named": {}, "files": {name: None}}
        return Call({**told, "arguments": [{"$path": name}], "reach": [name]}, {})

    assert call("/one/a.log").shape == call("/two/a.log").shape
    assert call("/one/a.log").shape != call("/one/b.log").shape


HOSTILE = """
import json
from pathlib import Path
from lab.plan_record import PlanRecord, load_plan
POLICY = json.loads(Path("fixtures/plan_record/policy.json").read_text(encoding="utf-8"))
CROSSING = next(c.cell_contents for c in load_plan.__closure__ if hasattr(c.cell_contents, "call"))

def found(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return error

def test_outside():
    PLACE = Path({place!r})
    said = [
        found(load_plan, str(PLACE / "secret.json")),
        found(CROSSING.call, "load_plan", (str(PLACE / "secret.json"),), {{}}),
        found(CROSSING.call, "PlanRecord", (str(PLACE / "made.jsonl"), POLICY), {{}}, 7),
        found(CROSSING.call, "PlanRecord.write_plan", ({{}}, "2026-03-31T09:12:04Z"), {{}}, 7),
    ]
    raise AssertionError(" | ".join(map(repr, said)))
"""


def test_a_pairs_tests_reach_no_file_outside_through_a_gate(tmp_path: Path) -> None:
    (workshop,) = load_workshops(("plan_record",))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text('{"kept": "from students"}', encoding="utf-8")
    file = "tests/test_plan_record.py"
    bench = bench_with(workshop, tmp_path, {file: HOSTILE.format(place=str(outside))})

    trouble = run_on_all(bench, file).trouble

    assert "is not the path of a file that the tests have here" in trouble
    assert "from students" not in trouble
    assert [path.name for path in outside.iterdir()] == ["secret.json"]


def test_a_gate_that_is_busy_for_too_long_is_stopped_and_answers_no_more(side: Side) -> None:
    def load(_: object) -> None:
        while True:
            try:
                sum(range(1000))
            except ValueError:
                continue

    vars(side._module).update(load=load)
    side._allowance = Allowance(0.3)

    first, second = (side.call(asked("load", {"$path": "a"})) for _ in range(2))

    assert first["crash"] == second["crash"] == "TookTooLong"
    assert first["text"] == "it keeps a right gate busy for longer than 0.3 seconds"


@pytest.mark.parametrize("size", [LONGEST_REPLY, MOST_SAID // 4])
def test_a_gate_says_no_more_than_is_kept_of_it(size: int, side: Side) -> None:
    vars(side._module).update(load=lambda _: "x" * (size - 20))
    told = [side.call(asked("load", {"a": 1})) for _ in range(MOST_SAID // LONGEST_REPLY + 2)]

    kept = sum(len(str(reply.get("value", ""))) for reply in told)
    assert kept <= MOST_SAID
    assert told[-1]["crash"] == "OSError"


def test_only_short_questions_are_remembered(side: Side) -> None:
    asked_so_far: list[str] = []
    vars(side._module).update(ask=asked_so_far.append)
    side._gate = replace(GATE, functions=("load", "ask"))

    for text in ("short", "l" * LONGEST_REMEMBERED):
        assert side.call(asked("ask", text)) == side.call(asked("ask", text))

    assert [text[0] for text in asked_so_far] == ["s", "l", "l"]
