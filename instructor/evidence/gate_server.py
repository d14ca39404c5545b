"""The grader's side of a suite's calls: a gate of ours, its objects, and the files they use.

A suite in the sandbox runs against a stand-in (``instructor/sandbox/stand_in.py``); what it calls
arrives here as JSON and is answered by the gate under test.
"""

import base64
import functools
import json
import types
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from instructor.evidence.kept_calls import Answers, Call
from instructor.sandbox.process import Message
from lab.workshop import Gate

# What one run of tests may keep on this side; there is a copy of it for each gate.
MOST_FILES = 500
MOST_BYTES = 4 << 20


class Side:
    """One gate on this side of the crossing, with the objects and files that a suite made on it."""

    def __init__(self, gate: Gate, module: types.ModuleType, folder: Path) -> None:
        """Serve a module's contract; ``folder`` is for its files."""
        self._gate = gate
        self._module = module
        self._folder = folder
        self._objects: dict[int, Any] = {}
        self._files: dict[str, Path] = {}
        self._known: dict[str, bytes | None] = {}

    def call(self, message: Message) -> Message:
        """Make one call and give its reply, with the files that it changed."""
        try:
            return self._call(message)
        except Exception as error:  # noqa: BLE001  what a stranger sends costs only its own run
            return {"crash": type(error).__name__, "text": str(error), "files": {}}

    def _call(self, message: Message) -> Message:
        name, asked = message["call"], json.dumps([message["arguments"], message["named"]])
        alone = not (message["reach"] or message["files"] or '"$object"' in asked)
        if alone and name in self._gate.functions and name != self._gate.load:
            return dict(json.loads(_reply_to(self._module, self._gate.error, name, asked)))
        self._take_files(message["files"])
        reply = _reply(partial(self._make_here, message), getattr(self._module, self._gate.error))
        # A loader only reads; whatever else can reach a file may write to it.
        reach = () if name == self._gate.load else dict.fromkeys(message["reach"])
        return {**reply, "files": self._changed_files(reach)}

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
            self._known[name] = None if data is None else base64.b64decode(data)
            self._check_size()
            if data is None:
                self._files[name].unlink(missing_ok=True)
            else:
                self._files[name].write_bytes(base64.b64decode(data))

    def _changed_files(self, reach: Iterable[str]) -> Message:
        changed = {}
        for name in reach:
            path = self._files.get(name)
            now = path.read_bytes() if path and path.is_file() else None
            if now is not None and now != self._known[name]:
                self._known[name] = now
                self._check_size()
                changed[name] = base64.b64encode(now).decode()
        return changed

    def _check_size(self) -> None:
        if sum(len(data) for data in self._known.values() if data) > MOST_BYTES:
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


@functools.lru_cache(maxsize=20_000)
def _reply_to(module: types.ModuleType, error: str, name: str, asked: str) -> str:
    """Give a function's reply as a JSON text.

    Our gates have no memory of what they were asked, and pairs ask much of the same: each gate
    meets the same fixtures in test after test, and in submission after submission.
    """
    arguments, named = json.loads(asked)
    call = partial(getattr(module, name), *arguments, **named)
    return json.dumps({**_reply(call, getattr(module, error)), "files": {}})


def _reply(call: Callable[[], Any], refusal: type[Exception]) -> Message:
    """Make a call and give what came of it: a value, a refusal with its problems, or a crash."""
    try:
        return {"value": json.loads(json.dumps(call(), default=_plain))}
    except refusal as error:
        return {"refused": list(getattr(error, "problems", [str(error)])), "text": str(error)}
    except Exception as error:  # noqa: BLE001  a wrong gate may be wrong by crashing
        return {"crash": type(error).__name__, "text": str(error)}


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
