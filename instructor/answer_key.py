"""What only the grader knows: hidden cases, wrong gates, the truth of a table, the reference gate.

Nothing from here is ever given to a sandbox or copied into a workspace, but for a case's input.
"""

import functools
import importlib
import json
import tempfile
import tomllib
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonpatch

from instructor import COURSE
from instructor.edits import replaced
from lab.replay import Decision, decide, load_and_decide
from lab.strict_json import load_json
from lab.workshop import Gate, Workshop

ANSWERS = COURSE / "instructor" / "answers"


@dataclass(frozen=True)
class Rule:
    """What a group of cases is about, in words that a report may show."""

    id: str
    subject: str
    expected: str
    wrongly_accepts: str
    wrongly_refuses: str
    misreports: str = "accepts, but does not return what the contract says"


@dataclass(frozen=True, eq=False)
class Case:
    """One hidden input with the verdict it must get, and what a refusal must and must not mention.

    ``document`` is a JSON value; where ``text`` is given it is a raw text for the loader instead.
    ``named`` holds the arguments that the gate gets beside it. Each case equals itself alone, so
    what the reference says of one can be kept by it.
    """

    id: str
    rule: str
    verdict: str
    mentions: tuple[str, ...]
    absent: tuple[str, ...]
    document: Any
    text: str | None
    named: dict[str, Any]


@dataclass(frozen=True)
class WrongGate:
    """A gate that is wrong in one named way: the reference with a few lines replaced.

    In the layer ``rewrite`` it is right, and differs in what the contract leaves open. ``loses``
    are the ids of the graded evidence that it fails when it is handed in; ``crashes`` says that
    crashing is what is wrong with it.
    """

    id: str
    slip: str
    layer: str
    source: str
    loses: tuple[str, ...] = ()
    crashes: bool = False


@dataclass(frozen=True)
class AnswerKey:
    """The answers to one workshop."""

    rules: dict[str, Rule]
    cases: tuple[Case, ...]
    wrong_gates: tuple[WrongGate, ...]
    rewrites: tuple[WrongGate, ...]
    tables: dict[str, dict[str, str]]
    named: dict[str, Any]


@functools.cache
def load_answer_key(workshop: Workshop) -> AnswerKey:
    """Read a workshop's answers; raise ``CourseError`` naming the file and the row at fault."""
    folder = ANSWERS / workshop.id
    data = load_json(folder / "cases.json")
    named = {name: load_json(COURSE / file) for name, file in data["named"].items()}
    gates = _wrong_gates(folder / "wrong_gates.toml", workshop.gate)
    return AnswerKey(
        rules={name: Rule(id=name, **row) for name, row in data["rules"].items()},
        cases=tuple(_case(row, data["bases"], named) for row in data["cases"]),
        wrong_gates=tuple(gate for gate in gates if gate.layer != "rewrite"),
        rewrites=tuple(gate for gate in gates if gate.layer == "rewrite"),
        tables=load_json(folder / "tables.json"),
        named=named,
    )


def reference(gate: Gate) -> types.ModuleType:
    """Import the reference gate of this course."""
    return importlib.import_module(gate.module)


def decide_case(gate: Gate, module: types.ModuleType, case: Case) -> Decision:
    """Give a hidden case to a gate of ours: the reference, or a wrong one."""
    if case.text is None:
        return decide(gate, module, case.document, case.named)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        path.write_bytes(case.text.encode())
        return load_and_decide(gate, module, path, case.named)


def build_gate(gate: Gate, source: str) -> types.ModuleType:
    """Make a module of a gate's source, in the reference's place but registered nowhere."""
    return _module(gate.module, str(COURSE / gate.file), source)


@functools.cache
def _module(name: str, file: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = file
    exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102  our own source
    return module


def _case(row: dict[str, Any], bases: dict[str, Any], defaults: dict[str, Any]) -> Case:
    document = row.get("value")
    if "base" in row:
        document = jsonpatch.apply_patch(bases[row["base"]], row.get("patch", []))
    named = {**defaults, **row.get("named", {})}
    for name, patch in row.get("patch_named", {}).items():
        named[name] = jsonpatch.apply_patch(named[name], patch)
    return Case(
        id=row["id"],
        rule=row["rule"],
        verdict=row["verdict"],
        mentions=tuple(row.get("mentions", ())),
        absent=tuple(row.get("absent", ())),
        document=document,
        text=row.get("text"),
        named=named,
    )


def _wrong_gates(path: Path, gate: Gate) -> list[WrongGate]:
    source = (COURSE / gate.file).read_text(encoding="utf-8")
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["gates"]
    return [
        WrongGate(
            id=row["id"],
            slip=row["slip"],
            layer=row["layer"],
            source=replaced(source, row["changes"], f"{path.name}, gate {row['id']}"),
            loses=tuple(row.get("loses", ())),
            crashes=row.get("crashes", False),
        )
        for row in rows
    ]


def dump(value: Any) -> str:
    """Write a JSON value for a person: indented, as it is."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
