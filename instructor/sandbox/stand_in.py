"""A stand-in for a gate that is not in the sandbox: every call crosses to the grader as JSON.

``child.py`` puts it where the student's gate module would be, so that a pair's tests run against a
gate of the grader's. Files that a test names by a ``Path`` travel along, in both directions.
"""

import base64
import builtins
import importlib
import importlib.util
import itertools
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LARGEST_FILE = 2 << 20
# Said of a file that the other side has not heard of yet; None says that there is no such file.
UNKNOWN = object()

# Send one message, wait for its reply.
Ask = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Met:
    """The objects, by their numbers, and the files that are met in a call."""

    objects: list[int]
    files: list[str] = field(default_factory=list)


class Crossing:
    """One suite's way to the gate under test."""

    def __init__(self, remote: dict[str, Any], row: str, ask: Ask) -> None:
        """Take the gate's contract, the row that asks, and how to ask."""
        self.remote = remote
        self.refusal = type(remote["error"], (ValueError,), {"__init__": set_problems})
        self._ask = ask
        self.begin(row)

    def begin(self, row: str) -> None:
        """Ask for another row from now on; the gate behind it knows no object or file yet."""
        self._row = row
        self._known: dict[str, Any] = {}
        self._files_of: dict[int, list[str]] = {}
        self._numbers = itertools.count(1)

    def new_object(self) -> int:
        """Number an object that will be made on the other side."""
        return next(self._numbers)

    def call(
        self, name: str, arguments: tuple[Any, ...], named: dict[str, Any], number: int = 0
    ) -> Any:
        """Make one call on the other side; return or raise what it gives."""
        met = Met([number] if number else [])
        message = {
            "call": name, "object": number, "row": self._row, "test": test_at_work(),
            "arguments": [self._crossing(value, met) for value in arguments],
            "named": {key: self._crossing(value, met) for key, value in named.items()},
        }  # fmt: skip
        reach = self._reach(met)
        try:
            reply = self._ask({**message, "reach": reach, "files": self._changed_files(reach)})
        except (TypeError, ValueError, RecursionError) as reason:
            # What is no JSON value cannot cross; a right gate refuses it, so this one does.
            raise self.refusal(f"a value that is not JSON: {reason}") from reason
        for path, data in reply.get("files", {}).items():
            self._known[path] = base64.b64decode(data)
            Path(path).write_bytes(self._known[path])
        return self._result(reply)

    def _crossing(self, value: Any, met: "Met", depth: int = 0) -> Any:
        """Give what crosses in the place of a value, and note the files and objects in it."""
        if isinstance(value, Path):
            met.files.append(str(value))
            return {"$path": str(value)}
        if isinstance(value, StandIn):
            met.objects.append(value._number)
            return {"$object": value._number}
        if hasattr(type(value), "to_json"):
            return value.to_json()
        if depth < 60 and isinstance(value, list | tuple):
            return [self._crossing(item, met, depth + 1) for item in value]
        if depth < 60 and isinstance(value, dict):
            return {key: self._crossing(item, met, depth + 1) for key, item in value.items()}
        return value

    def _reach(self, met: "Met") -> list[str]:
        """List the files that a call can touch: those in it, and those its objects have met."""
        files = [file for number in met.objects for file in self._files_of.get(number, ())]
        files = list(dict.fromkeys([*files, *met.files]))
        self._files_of |= dict.fromkeys(met.objects, files)
        return files

    def _changed_files(self, reach: list[str]) -> dict[str, str | None]:
        """Give the files that the other side knows otherwise, or not at all."""
        changed: dict[str, str | None] = {}
        for name in reach:
            path = Path(name)
            now = path.read_bytes()[:LARGEST_FILE] if path.is_file() else None
            if now != self._known.get(name, UNKNOWN):
                self._known[name] = now
                changed[name] = None if now is None else base64.b64encode(now).decode()
        return changed

    def _result(self, reply: dict[str, Any]) -> Any:
        if "refused" in reply:
            refusal = self.refusal(*reply["refused"])
            refusal.args = (reply["text"],)
            raise refusal
        if "crash" in reply:
            kind = getattr(builtins, reply["crash"], RuntimeError)
            usable = isinstance(kind, type) and issubclass(kind, Exception)
            raise (kind if usable else RuntimeError)(reply["text"])
        return reply["value"]


class StandIn:
    """An object of the gate's on the other side, known here by its number."""

    _number: int


def install(remote: dict[str, Any], row: str, ask: Ask) -> Crossing:
    """Put a stand-in where the student's gate module would be; give its way across.

    A name outside of the contract, a constant for example, comes from the student's own module.
    """
    crossing = Crossing(remote, row, ask)
    module = types.ModuleType(remote["module"])
    module.__file__ = "the gate under test"
    setattr(module, remote["error"], crossing.refusal)
    for name in remote["functions"]:
        setattr(module, name, _function(name, crossing))
    for name, parts in remote["classes"].items():
        setattr(module, name, _class(name, parts, crossing))
    package, _, child = remote["module"].rpartition(".")
    own = importlib.util.find_spec(remote["module"])
    sys.modules[remote["module"]] = module
    setattr(importlib.import_module(package), child, module)
    module.__getattr__ = lambda name: getattr(_own_module(own), name)  # type: ignore[method-assign]
    return crossing


def set_problems(self: Any, *problems: str) -> None:
    """Keep a refusal's problems apart, as the contract says."""
    ValueError.__init__(self, "; ".join(problems))
    self.problems = problems


def test_at_work() -> str:
    """Name the test that is running; "" while tests are collected or fixtures are made."""
    current = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[2]
    return current.removesuffix(" (call)") if current.endswith(" (call)") else ""


def _function(name: str, crossing: Crossing) -> Any:
    loads = name == crossing.remote["load"]

    def call(*arguments: Any, **named: Any) -> Any:
        if loads:
            arguments, named = with_paths(arguments, named)
        return crossing.call(name, arguments, named)

    call.__name__ = name
    return call


def with_paths(
    arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Make paths of the texts among what a loader, or a class, is given: its file has to cross."""
    return tuple(map(_path, arguments)), {name: _path(value) for name, value in named.items()}


def _path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else value


def _class(name: str, parts: dict[str, list[str]], crossing: Crossing) -> type:
    def make(self: Any, *arguments: Any, **named: Any) -> None:
        self._number = crossing.new_object()
        arguments, named = with_paths(arguments, named)
        crossing.call(name, arguments, named, self._number)

    members: dict[str, Any] = {"__init__": make}
    members |= {method: _method(f"{name}.{method}", crossing) for method in parts["methods"]}
    members |= {value: property(_value(f"{name}.{value}", crossing)) for value in parts["values"]}
    return type(name, (StandIn,), members)


def _method(name: str, crossing: Crossing) -> Any:
    return lambda self, *arguments, **named: crossing.call(name, arguments, named, self._number)


def _value(name: str, crossing: Crossing) -> Any:
    return lambda self: crossing.call(name, (), {}, self._number)


def _own_module(spec: Any) -> types.ModuleType:
    """Load the student's own gate, once, under a private name."""
    name = "_own_gate"
    if name not in sys.modules:
        if spec is None:
            raise AttributeError("there is no gate of your own to look it up in")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
