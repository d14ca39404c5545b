"""The grader's side of a suite's calls: a gate of ours, its objects, and the files they use.

A suite in the sandbox runs against a stand-in (``instructor/sandbox/stand_in.py``); what it calls
arrives here as JSON and is answered by the gate under test.
"""

import base64
import functools
import json
import types
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from instructor.evidence.kept_calls import Answers, Call
from instructor.sandbox.allowance import Allowance, TookTooLong
from instructor.sandbox.process import Message
from lab.suite import cut
from lab.workshop import Gate

# What one run of tests may keep on this side; there is a copy of it for each gate.
MOST_FILES = 500
MOST_BYTES = 4 << 20
# Characters that a run is told by one gate, and that one reply may have.
MOST_SAID, LONGEST_REPLY = 2 << 20, 256 << 10
# Of what gates have answered, so much is remembered; no long question is.
MOST_REMEMBERED, LONGEST_REMEMBERED = 64 << 20, 16 << 10


class Side:
    """One gate on this side of the crossing, with the objects and files that a suite made on it."""

    def __init__(
        self, gate: Gate, module: types.ModuleType, folder: Path, allowance: Allowance
    ) -> None:
        """Serve a module's contract; ``folder`` is for its files, ``allowance`` for its time."""
        self._allowance = allowance
        self._said = 0
        self._gate = gate
        self._module = module
        self._folder = folder
        self._objects: dict[int, Any] = {}
        self._files: dict[str, Path] = {}
        self._known: dict[str, bytes | None] = {}

    def call(self, message: Message) -> Message:
        """Make one call and give its reply, with the files that it changed."""
        try:
            with self._allowance.spending():
                return self._call(message)
        except Exception as error:  # noqa: BLE001  what a stranger sends costs only its own run
            return {"crash": type(error).__name__, "text": cut(str(error)), "files": {}}

    def _call(self, message: Message) -> Message:
        name, asked = message["call"], json.dumps([message["arguments"], message["named"]])
        alone = not (message["reach"] or message["files"] or '"$object"' in asked)
        if alone and name in self._gate.functions and name != self._gate.load:
            return {**self._told(_kept(self._module, self._gate.error, name, asked)), "files": {}}
        self._take_files(message["files"])
        reply = _reply(partial(self._make_here, message), getattr(self._module, self._gate.error))
        # A loader only reads; whatever else can reach a file may write to it.
        reach = () if name == self._gate.load else dict.fromkeys(message["reach"])
        self._check_size()
        return {**self._told(reply), "files": self._changed_files(reach)}

    def _told(self, reply: str) -> Message:
        """Give a reply; raise ``OSError`` where a run was told more than is kept of it."""
        self._said += len(reply)
        if self._said > MOST_SAID:
            raise OSError(f"a gate has answered these tests with more than {MOST_SAID >> 20} MiB")
        return dict(json.loads(reply))

    def _make_here(self, message: Message) -> Any:
        """Make a call with the files and objects that crossed before."""
        arguments = [self._argument(value) for value in message["arguments"]]
        named = {name: self._argument(value) for name, value in message["named"].items()}
        return self._make(message["call"], message["object"], arguments, named)

    def _make(self, name: str, number: int, arguments: list[Any], named: dict[str, Any]) -> Any:
        """Call a function, make an object, call its method or read its value."""
        gate = self._gate
        owner, _, part = name.partition(".")
        if name == gate.load or name in gate.classes:
            _refuse_paths([*arguments, *named.values()])
        if name in gate.functions:
            return getattr(self._module, name)(*arguments, **named)
        if owner not in gate.classes:
            raise AttributeError(f"{name} is not part of the contract")
        if not part:
            self._objects[number] = getattr(self._module, owner)(*arguments, **named)
            return None
        if part in gate.classes[owner].values:
            return getattr(self._objects[number], part)
        if part not in gate.classes[owner].methods:
            raise AttributeError(f"{name} is not part of the contract")
        return getattr(self._objects[number], part)(*arguments, **named)

    def _argument(self, value: Any) -> Any:
        """Turn what crossed back into a value: a path of ours, an object of ours, or plain JSON."""
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"$path"} and value["$path"] in self._files:
            return self._files[value["$path"]]
        if value.keys() == {"$object"} and value["$object"] in self._objects:
            return self._objects[value["$object"]]
        return {key: self._argument(item) for key, item in value.items()}

    def _take_files(self, files: Message) -> None:
        """Write what crossed; raise ``OSError`` where it is more than a run may keep here."""
        for name, data in files.items():
            if name not in self._files:
                if len(self._files) >= MOST_FILES:
                    raise OSError(f"these tests give a gate more than {MOST_FILES} files")
                place = self._folder / str(len(self._files))
                place.mkdir()
                self._files[name] = place / (Path(name).name or "file")
            self._known[name] = new = None if data is None else base64.b64decode(data)
            if new is None:
                self._files[name].unlink(missing_ok=True)
            else:
                self._check_size(len(new))
                self._files[name].write_bytes(new)

    def _changed_files(self, reach: Iterable[str]) -> Message:
        changed = {}
        for name in reach:
            path = self._files.get(name)
            now = path.read_bytes() if path and path.is_file() else None
            if now is not None and now != self._known[name]:
                self._known[name] = now
                changed[name] = base64.b64encode(now).decode()
        return changed

    def _check_size(self, more: int = 0) -> None:
        there = (path for path in self._files.values() if path.is_file())
        if sum(path.stat().st_size for path in there) + more > MOST_BYTES:
            raise OSError(f"the files of these tests hold more than {MOST_BYTES >> 20} MiB")


class GateServer:
    """Answer the calls of a suite with one gate, and keep what the reference would say otherwise.

    ``calls`` are all calls so far; ``differing`` names the tests that made a call which the
    reference, where it is asked too, answers otherwise.
    """

    def __init__(self, subject: Answers, other: Side | None = None) -> None:
        """Serve ``subject``; ``other`` is the reference to compare with, if that is another."""
        self._subject = subject
        self._other = other
        self.calls: list[Call] = []
        self.differing: set[str] = set()

    def answer(self, message: Message) -> Message:
        """Make the call on both gates; give the subject's answer."""
        if not _is_call(message):
            return {"crash": "ValueError", "text": "this is no call"}
        call = Call(message, self._subject.call(message))
        self.calls.append(call)
        if self._other and self._other.call(message) != call.reply:
            self.differing.add(call.test)
        return call.reply


def _kept(module: types.ModuleType, error: str, name: str, asked: str) -> str:
    """Give a function's reply as a JSON text, from memory where that was asked before.

    Our gates have no memory of what they were asked, and pairs ask much of the same: each gate
    meets the same fixtures in test after test, and in submission after submission.
    """
    ask = _reply_to if len(asked) <= LONGEST_REMEMBERED else _reply_to.__wrapped__
    return ask(module, error, name, asked)


@functools.lru_cache(maxsize=20_000)
def _reply_to(module: types.ModuleType, error: str, name: str, asked: str) -> str:
    arguments, named = json.loads(asked)
    reply = _reply(partial(getattr(module, name), *arguments, **named), getattr(module, error))
    _REMEMBERED.update(characters=len(asked) + len(reply))
    if _REMEMBERED.total() > MOST_REMEMBERED:
        _reply_to.cache_clear()
        _REMEMBERED.clear()
    return reply


_REMEMBERED = Counter[str]()


def _reply(call: Callable[[], Any], refusal: type[Exception]) -> str:
    """Make a call and give what came of it: a value, a refusal with its problems, or a crash."""
    try:
        reply = json.dumps({"value": call()}, default=_plain)
    except refusal as error:
        problems = list(getattr(error, "problems", [str(error)]))
        reply = json.dumps({"refused": problems, "text": str(error)})
    except (TookTooLong, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  a wrong gate may be wrong by crashing
        reply = json.dumps({"crash": type(error).__name__, "text": str(error)})
    if len(reply) > LONGEST_REPLY:
        raise OSError(f"a gate answers this with more than {LONGEST_REPLY >> 10} KiB")
    return reply


def _refuse_paths(values: Iterable[Any]) -> None:
    """Raise ``TypeError`` for a text where a file's path may stand, or for a descriptor.

    A gate runs here, outside of the sandbox: it opens nothing but the files that crossed.
    """
    for value in values:
        if isinstance(value, str | int):
            raise TypeError(f"{value!r} is not the path of a file that the tests have here")


def _is_call(message: Message) -> bool:
    kinds = {
        "call": str, "test": str, "object": int, "arguments": list, "named": dict, "files": dict,
        "reach": list,
    }  # fmt: skip
    right = all(isinstance(message.get(name), kind) for name, kind in kinds.items())
    return right and all(isinstance(name, str) for name in message["reach"])


def _plain(value: Any) -> Any:
    """Give an object of the gate's as JSON, where it says how."""
    if hasattr(type(value), "to_json"):
        return value.to_json()
    raise TypeError(f"{type(value).__name__} is not JSON")
