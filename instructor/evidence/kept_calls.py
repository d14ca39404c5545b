"""The calls that a run of tests made on a gate, kept: what another gate would have answered."""

import functools
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

    @functools.cached_property
    def shape(self) -> Any:
        """Give the call without its row's number and without the folders of its files."""
        return _shape(self.message)


class Script:
    """A gate that has answered the kept calls already, and answers the same calls from memory.

    With the first call that is another one, the gate itself takes over; it is asked all that came
    before, so that its objects and files are what they would be.
    """

    def __init__(self, calls: Sequence[Call], replies: Sequence[Message], gate: Answers) -> None:
        """Answer ``calls`` by ``replies``, then as ``gate`` does, which nobody has asked yet."""
        self._calls, self._replies = calls, replies
        self._gate = gate
        self._asked: list[Message] = []
        self._left = False

    def call(self, message: Message) -> Message:
        """Give the reply to a call."""
        place = len(self._asked)
        if not self._left and place < len(self._replies):
            kept = self._calls[place]
            if _shape(message) == kept.shape:
                self._asked.append(message)
                return _moved(self._replies[place], kept.message["reach"], message["reach"])
        if not self._left:
            self._left = True
            for asked in self._asked:
                self._gate.call(asked)
        return self._gate.call(message)


def asked_again(calls: Iterable[Call], gate: Answers) -> list[Message]:
    """Make kept calls on another gate, which nobody has asked yet; give its replies."""
    return [gate.call(call.message) for call in calls]


def differing(calls: Iterable[Call], replies: Iterable[Message]) -> set[str]:
    """Name the tests that made a call which another gate answered otherwise."""
    return {call.test for call, reply in zip(calls, replies, strict=True) if call.reply != reply}


def same_calls(first: Sequence[Call], second: Sequence[Call]) -> bool:
    """Tell whether two runs made the same calls, wherever their files happened to lie."""
    return [call.shape for call in first] == [call.shape for call in second]


def _moved(reply: Message, there: Sequence[str], here: Sequence[str]) -> Message:
    """Give a reply with the files where they lie now; they are among those in reach of its call."""
    if not reply["files"]:
        return reply
    names = dict(zip(there, here, strict=True))
    return {**reply, "files": {names[name]: data for name, data in reply["files"].items()}}


def _shape(message: Message) -> Any:
    kept = {name: message[name] for name in ("call", "object", "test", "arguments", "named")}
    kept["reach"] = [Path(name).name for name in message["reach"]]
    files = {Path(name).name: data for name, data in message["files"].items()}
    return {**json.loads(json.dumps(kept), object_hook=_without_folder), "files": files}


def _without_folder(value: dict[str, Any]) -> dict[str, Any]:
    return {"$path": Path(str(value["$path"])).name} if value.keys() == {"$path"} else value
