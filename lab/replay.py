"""Decide one document with one gate: the notebook, the grader and the course's lint all ask here.

What comes out is a verdict and a text. A gate accepts by returning, refuses by raising its own
error, and crashes by raising anything else.
"""

import importlib
import json
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the sandbox loads this file by itself
    from lab.workshop import Gate


@dataclass(frozen=True)
class Decision:
    """What a gate made of a document: ``accept``, ``reject`` or ``crash``.

    ``text`` is the refusal, or what was raised; ``seen`` is what an accepting gate returned.
    """

    verdict: str
    text: str
    seen: Any = None


def decide(
    gate: "Gate", module: types.ModuleType, document: Any, named: Mapping[str, Any]
) -> Decision:
    """Give a document to a gate's module, with named arguments beside it.

    Where the workshop has a probe, the probe makes the calls: some gates keep state. Raises
    ``AttributeError`` or ``ImportError`` where the module lacks a part of the contract.
    """
    refusal = getattr(module, gate.error)
    ask = _asker(gate, module)
    try:
        value = ask(document, **named)
        json.dumps(value)
        return Decision("accept", "", value)
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever is raised is the answer
        return _raised(error, refusal)


def load_and_decide(
    gate: "Gate", module: types.ModuleType, path: Path, named: Mapping[str, Any]
) -> Decision:
    """Read a file with the gate's own loader, which may refuse it, then decide."""
    refusal = getattr(module, gate.error)
    load = getattr(module, gate.load)
    try:
        document = load(path)
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever is raised is the answer
        return _raised(error, refusal)
    return decide(gate, module, document, named)


def text_of(error: BaseException) -> str:
    """Give an exception's text, even where its own code breaks on that."""
    try:
        return str(error)
    except Exception as inner:  # noqa: BLE001  a stranger's exception
        return f"(its text raises {type(inner).__name__})"


def _asker(gate: "Gate", module: types.ModuleType) -> Any:
    if not gate.probe:
        return getattr(module, gate.decide)
    name, _, function = gate.probe.rpartition(".")
    probe = getattr(importlib.import_module(name), function)
    return lambda document, **named: probe(module, document, **named)


def _raised(error: BaseException, refusal: Any) -> Decision:
    if isinstance(refusal, type) and isinstance(error, refusal):
        return Decision("reject", text_of(error))
    return Decision("crash", f"{type(error).__name__}: {text_of(error)}")
