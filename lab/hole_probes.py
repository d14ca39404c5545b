"""The probes of a hole hunt: inputs that show one loophole each, and what a tight gate says.

``fixtures/<workshop>/holes.json`` holds them. They are there to be found and never graded; grading
has inputs of its own. Run as ``python -m lab.hole_probes WORKSHOP OUT KIND …`` this asks the gate
in a process of its own, so that a gate that hangs or crashes takes nothing else with it.
"""

import copy
import importlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.quick_start import leave_out_slow_formats
from lab.replay import Decision, decide, load_and_decide
from lab.strict_json import NotStrictJson, load_json
from lab.workshop import Gate, Workshop, WorkshopError, load_workshop

ROOT = Path(__file__).resolve().parents[1]
# What came of a kind: only "closed" is closed, whatever the others are.
CLOSED, OPEN, CRASH, TOO_STRICT = "closed", "open", "crash", "too strict"


@dataclass(frozen=True)
class Probe:
    """One input with the verdict of a tight gate; ``text`` is a raw text for the loader instead.

    A refusal must hold none of the words ``absent``; what an accepting gate returns has the key
    ``has``, where one is named.
    """

    verdict: str
    document: Any
    text: str | None
    named: dict[str, Any]
    absent: tuple[str, ...] = ()
    has: str = ""


@dataclass(frozen=True)
class Kind:
    """One kind of hole: what is said when it is closed, a hint, and its probes.

    The first probe is the hole, and so are the others of its verdict; the rest holds what has to
    stay as it is.
    """

    id: str
    kind: str
    closed: str
    hint: str
    probes: tuple[Probe, ...]


@dataclass(frozen=True)
class Holes:
    """All kinds of a workshop, easy ones first, and inputs in which nothing is wrong."""

    kinds: tuple[Kind, ...]
    plain: tuple[Probe, ...]


def probes_file(workshop_id: str) -> str:
    """Name the file of a workshop's probes, relative to the workspace."""
    return f"fixtures/{workshop_id}/holes.json"


def load_holes(root: Path, workshop_id: str) -> Holes:
    """Read a workshop's probes; raise ``WorkshopError`` naming the file and what is wrong."""
    file = probes_file(workshop_id)
    try:
        data = load_json(root / file)
        kinds = tuple(_kind(row, data) for row in data["kinds"])
        plain = tuple(_probe({"base": base}, data, "accept") for base in data["plain"])
    except NotStrictJson as error:
        raise WorkshopError(f"{error}. Get it back: git checkout -- {file}") from error
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise WorkshopError(
            f"{file} is not what it was: {error!r}. Get it back: git checkout -- {file}"
        ) from error
    return Holes(kinds, plain)


def ask(gate: Gate, module: Any, kind: Kind) -> tuple[str, str]:
    """Give the probes of one kind to a gate: what came of it, and the text that goes with it."""
    for probe in kind.probes:
        decision = _decide(gate, module, probe)
        if decision.verdict == "crash":
            return CRASH, decision.text
        told = next((word for word in probe.absent if word in decision.text), None)
        if not _is_as_it_should(probe, decision) or told is not None:
            is_the_hole = probe.verdict == kind.probes[0].verdict
            return (OPEN if is_the_hole else TOO_STRICT), decision.text
    return CLOSED, ""


def _is_as_it_should(probe: Probe, decision: Decision) -> bool:
    if probe.verdict == "accept" and probe.has and decision.verdict == "accept":
        return isinstance(decision.seen, dict) and probe.has in decision.seen
    return decision.verdict == probe.verdict


def patched(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Give a copy of a document with a JSON Patch (RFC 6902) applied: add, replace, remove."""
    result = copy.deepcopy(document)
    for row in patch:
        *parents, last = [_token(part) for part in row["path"].split("/")[1:]]
        place = result
        for token in parents:
            place = place[int(token) if isinstance(place, list) else token]
        _apply(place, last, row)
    return result


def _token(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _apply(place: Any, last: str, row: dict[str, Any]) -> None:
    where: Any = last
    if isinstance(place, list):
        where = len(place) if last == "-" else int(last)
    if row["op"] == "remove":
        del place[where]
    elif row["op"] == "add" and isinstance(place, list):
        place.insert(where, copy.deepcopy(row["value"]))
    elif row["op"] in ("add", "replace"):
        place[where] = copy.deepcopy(row["value"])
    else:
        raise ValueError(f"unknown op {row['op']!r}")


def _kind(row: dict[str, Any], data: dict[str, Any]) -> Kind:
    probes = tuple(_probe(probe, data, probe["verdict"]) for probe in row["probes"])
    return Kind(row["id"], row["kind"], row["closed"], row["hint"], probes)


def _probe(row: dict[str, Any], data: dict[str, Any], verdict: str) -> Probe:
    document = row.get("value")
    if "base" in row:
        document = patched(data["bases"][row["base"]], row.get("patch", []))
    named = {**data["named"], **row.get("named", {})}
    for name, patch in row.get("patch_named", {}).items():
        named[name] = patched(named[name], patch)
    text = row.get("text")
    if "deep" in row:  # so many levels would not be kind to whoever opens the file
        text = "[" * row["deep"] + "]" * row["deep"]
    has = data.get("accepted_has", "")
    return Probe(verdict, document, text, named, tuple(row.get("absent", ())), has)


def _decide(gate: Gate, module: Any, probe: Probe) -> Decision:
    # A gate gets copies: what it writes into one probe must not show in the next.
    named = copy.deepcopy(probe.named)
    try:
        if probe.text is None:
            return decide(gate, module, copy.deepcopy(probe.document), named)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "probe.json"
            path.write_bytes(probe.text.encode("utf-8", "surrogatepass"))
            return load_and_decide(gate, module, path, named)
    except (AttributeError, ImportError) as error:  # a part of the contract is not there
        return Decision("crash", f"{type(error).__name__}: {error}")


def answers(workshop: Workshop, holes: Holes, kinds: Iterable[str]) -> Iterator[dict[str, str]]:
    """Ask the pair's own gate: first whether it accepts what is plain, then each kind."""
    gate = workshop.gate
    yield {"kind": "", "asking": "the import"}
    try:
        module = importlib.import_module(gate.module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's module may raise anything
        yield {"kind": "", "came": CRASH, "text": f"{type(error).__name__}: {error}"}
        return
    yield {"kind": "", "asking": "what is plain"}
    for probe in holes.plain:
        decision = _decide(gate, module, probe)
        if not _is_as_it_should(probe, decision):
            text = decision.text or "what comes back is not what was accepted"
            yield {"kind": "", "came": decision.verdict, "text": text}
            return
    wanted = set(kinds)
    for kind in holes.kinds:
        if kind.id in wanted:
            yield {"kind": kind.id, "asking": "yes"}
            came, text = ask(gate, module, kind)
            yield {"kind": kind.id, "came": came, "text": text}


def main(arguments: list[str]) -> int:
    """Write one line of JSON for each answer into a file, as soon as it is there."""
    leave_out_slow_formats()
    workshop_id, out, *kinds = arguments
    workshop = load_workshop(ROOT, workshop_id)
    holes = load_holes(ROOT, workshop_id)
    with Path(out).open("a", encoding="ascii") as file:
        for answer in answers(workshop, holes, kinds):
            file.write(json.dumps(answer) + "\n")
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
