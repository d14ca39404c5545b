"""The grader's side of a suite's calls: a gate of ours, its objects, and the files they use.

A suite in the sandbox runs against a stand-in (``instructor/sandbox/stand_in.py``); what it calls
arrives here as JSON and is answered by the gate under test.
"""

import base64
import json
import types
from pathlib import Path
from typing import Any

from instructor.answer_key import reference
from instructor.sandbox.process import Message
from lab.workshop import Gate


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
            self._take_files(message["files"])
            arguments = [self._argument(value) for value in message["arguments"]]
            named = {name: self._argument(value) for name, value in message["named"].items()}
            value = self._make(message["call"], message["object"], arguments, named)
            reply: Message = {"value": json.loads(json.dumps(value, default=_plain))}
        except getattr(self._module, self._gate.error) as error:
            reply = {"refused": list(getattr(error, "problems", [str(error)])), "text": str(error)}
        except Exception as error:  # noqa: BLE001  a wrong gate may be wrong by crashing
            reply = {"crash": type(error).__name__, "text": str(error)}
        return {**reply, "files": self._changed_files()}

    def _make(self, name: str, number: int, arguments: list[Any], named: dict[str, Any]) -> Any:
        """Call a function, make an object, call its method or read its value."""
        gate = self._gate
        owner, _, part = name.partition(".")
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
        for name, data in files.items():
            if name not in self._files:
                place = self._folder / str(len(self._files))
                place.mkdir()
                self._files[name] = place / (Path(name).name or "file")
            self._known[name] = None if data is None else base64.b64decode(data)
            if data is None:
                self._files[name].unlink(missing_ok=True)
            else:
                self._files[name].write_bytes(base64.b64decode(data))

    def _changed_files(self) -> Message:
        changed = {}
        for name, path in self._files.items():
            now = path.read_bytes() if path.is_file() else None
            if now is not None and now != self._known[name]:
                self._known[name] = now
                changed[name] = base64.b64encode(now).decode()
        return changed


class GateServer:
    """Answer the calls of a suite with one gate, and note where the reference would differ."""

    def __init__(self, subject: Side, other: Side | None) -> None:
        """Serve ``subject``; ``other`` is the reference to compare with, if that is another."""
        self._subject = subject
        self._other = other
        self.differing: set[str] = set()

    def answer(self, message: Message) -> Message:
        """Make the call on both gates; give the subject's answer."""
        if not _is_call(message):
            return {"crash": "ValueError", "text": "this is no call"}
        reply = self._subject.call(message)
        if self._other and reply != self._other.call(message):
            self.differing.add(str(message.get("test")))
        return reply


def _is_call(message: Message) -> bool:
    kinds = {"call": str, "object": int, "arguments": list, "named": dict, "files": dict}
    return all(isinstance(message.get(name), kind) for name, kind in kinds.items())


def serve(gate: Gate, wrong: types.ModuleType | None, folder: Path) -> GateServer:
    """Serve a wrong gate beside the reference, or the reference alone; ``folder`` is for files."""
    sides: list[Side] = []
    for module in (wrong, reference(gate)):
        if module:
            place = folder / str(len(sides))
            place.mkdir(parents=True)
            sides.append(Side(gate, module, place))
    return GateServer(sides[0], sides[1] if wrong else None)


def _plain(value: Any) -> Any:
    """Give an object of the gate's as JSON, where it says how."""
    if hasattr(type(value), "to_json"):
        return value.to_json()
    raise TypeError(f"{type(value).__name__} is not JSON")
