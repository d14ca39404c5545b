"""The calls that a run of tests made on a gate, kept: what another gate would have answered."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from instructor.sandbox.process import Message


class Answers(Protocol):
    """A gate on the grader's side: it answers one call after the other."""

    def call(self, message: Message) -> Message:
        """Give the reply to a call."""
        ...


@dataclass(frozen=True)
class Call:
    """One call that a suite made on a gate, and the reply that it got."""

    message: Message
    reply: Message

    @property
    def test(self) -> str:
        """Name the test that made it; "" for a fixture, or a module that is being imported."""
        return str(self.message.get("test"))


class Script:
    """A gate that has answered the kept calls already, and answers the same calls from memory.

    With the first call that is another one, the gate itself takes over; it is asked all that came
    before, so that its objects and files are what they would be.
    """

    def __init__(self, kept: Sequence[Call], gate: Answers) -> None:
        """Answer as ``kept`` says, then as ``gate``, which nobody has asked yet."""
        self._kept = kept
        self._gate = gate
        self._asked: list[Message] = []
        self._left = False

    def call(self, message: Message) -> Message:
        """Give the reply to a call."""
        place = len(self._asked)
        if not self._left and place < len(self._kept) and _is_same(message, self._kept[place]):
            self._asked.append(message)
            return self._kept[place].reply
        if not self._left:
            self._left = True
            for asked in self._asked:
                self._gate.call(asked)
        return self._gate.call(message)


def asked_again(calls: Iterable[Call], gate: Answers) -> list[Call]:
    """Make kept calls on another gate, which nobody has asked yet."""
    return [Call(call.message, gate.call(call.message)) for call in calls]


def differing(first: Iterable[Call], second: Iterable[Call]) -> set[str]:
    """Name the tests in which two gates answered one and the same call each in another way."""
    pairs = zip(first, second, strict=True)
    return {one.test for one, other in pairs if one.reply != other.reply}


def same_calls(first: Sequence[Call], second: Sequence[Call]) -> bool:
    """Tell whether two runs made the same calls, wherever their files happened to lie."""
    return [_shape(call.message) for call in first] == [_shape(call.message) for call in second]


def _is_same(message: Message, kept: Call) -> bool:
    """Tell whether a call is a kept one, and its reply holds no file, which would lie elsewhere."""
    return not kept.reply["files"] and _shape(message) == _shape(kept.message)


def _shape(message: Message) -> Any:
    """Give a call without its row's number and without the folders of its files."""
    kept = {name: message[name] for name in ("call", "object", "test", "arguments", "named")}
    files = {Path(name).name: data for name, data in message["files"].items()}
    return {**json.loads(json.dumps(kept), object_hook=_without_folder), "files": files}


def _without_folder(value: dict[str, Any]) -> dict[str, Any]:
    return {"$path": Path(str(value["$path"])).name} if value.keys() == {"$path"} else value
