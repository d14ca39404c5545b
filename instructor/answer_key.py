"""What only the grader knows: hidden cases, wrong gates, the truth of a table, the reference gate.

Nothing from here is ever given to a sandbox or copied into a workspace, but for a case's input.
"""

import functools
import importlib
import json
import tomllib
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonpatch

from instructor import COURSE, CourseError
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


@dataclass(frozen=True)
class Case:
    """One hidden input with the verdict it must get and what a refusal must mention.

    ``document`` is a JSON value; where ``text`` is given it is a raw text for the loader instead.
    """

    id: str
    rule: str
    verdict: str
    mentions: tuple[str, ...]
    document: Any
    text: str | None
    with_inventory: bool
    evidence: Any


@dataclass(frozen=True)
class WrongGate:
    """A gate that is wrong in one named way: the reference with a few lines replaced."""

    id: str
    slip: str
    layer: str
    source: str


@dataclass(frozen=True)
class AnswerKey:
    """The answers to one workshop."""

    rules: dict[str, Rule]
    cases: tuple[Case, ...]
    wrong_gates: tuple[WrongGate, ...]
    tables: dict[str, dict[str, str]]
    inventory: Any


@functools.cache
def load_answer_key(workshop: Workshop) -> AnswerKey:
    """Read a workshop's answers; raise ``CourseError`` naming the file and the row at fault."""
    folder = ANSWERS / workshop.id
    data = load_json(folder / "cases.json")
    return AnswerKey(
        rules={name: Rule(id=name, **row) for name, row in data["rules"].items()},
        cases=tuple(_case(row, data["bases"]) for row in data["cases"]),
        wrong_gates=tuple(_wrong_gates(folder / "wrong_gates.toml", workshop.gate)),
        tables=load_json(folder / "tables.json"),
        inventory=load_json(COURSE / data["inventory"]),
    )


def reference(gate: Gate) -> types.ModuleType:
    """Import the reference gate of this course."""
    return importlib.import_module(gate.module)


def build_gate(gate: Gate, source: str) -> types.ModuleType:
    """Make a module of a gate's source, in the reference's place but registered nowhere."""
    module = types.ModuleType(gate.module)
    module.__file__ = str(COURSE / gate.file)
    exec(compile(source, module.__file__, "exec"), module.__dict__)  # noqa: S102  our own source
    return module


def _case(row: dict[str, Any], bases: dict[str, Any]) -> Case:
    known = {"id", "rule", "verdict", "mentions", "base", "patch", "value", "text", "inventory"}
    unknown = row.keys() - known - {"evidence"}
    if unknown:
        raise CourseError(f"cases.json, case {row.get('id')}: unknown field {sorted(unknown)[0]!r}")
    document = row.get("value")
    if "base" in row:
        document = jsonpatch.apply_patch(bases[row["base"]], row.get("patch", []))
    return Case(
        id=row["id"],
        rule=row["rule"],
        verdict=row["verdict"],
        mentions=tuple(row.get("mentions", ())),
        document=document,
        text=row.get("text"),
        with_inventory=row.get("inventory", True),
        evidence=row.get("evidence"),
    )


def _wrong_gates(path: Path, gate: Gate) -> list[WrongGate]:
    source = (COURSE / gate.file).read_text(encoding="utf-8")
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["gates"]
    return [
        WrongGate(row["id"], row["slip"], row["layer"], _patched(source, row, path.name))
        for row in rows
    ]


def _patched(source: str, row: dict[str, Any], name: str) -> str:
    for change in row["changes"]:
        if source.count(change["old"]) != 1:
            found = source.count(change["old"])
            raise CourseError(
                f"{name}, gate {row['id']}: its old text stands {found} times, not once"
            )
        source = source.replace(change["old"], change["new"])
    return source


def dump(value: Any) -> str:
    """Write a JSON value for a person: indented, as it is."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
