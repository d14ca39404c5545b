"""A workshop as data: its timing plan (``timing.toml``) and its evidence (``workshop.toml``).

Both files stand in ``notebooks/<workshop>/`` and go into every workspace, so the notebook, the
terminal and the grader read the same minutes and the same checks.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class WorkshopError(Exception):
    """A workshop's data cannot be used; the text names the file and the place."""


@dataclass(frozen=True)
class Cue:
    """What the facilitator says at a minute of the session."""

    minute: int
    say: str


@dataclass(frozen=True)
class Exercise:
    """One exercise within a block, with its own minutes."""

    id: str
    title: str
    minutes: int


@dataclass(frozen=True)
class Block:
    """One stretch of the timing plan, and the outcome to see when it ends."""

    id: str
    title: str
    minutes: int
    notebook: str
    outcome: str
    exercises: tuple[Exercise, ...] = ()
    cues: tuple[Cue, ...] = ()


@dataclass(frozen=True)
class Cut:
    """What may go when the room runs over: its place in the list is its turn."""

    block: str
    minutes: int
    what: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """One check that supports the outcome of a block.

    A ``guard`` is green before anybody has done anything and only has to stay so: its block is not
    reached without it, and it earns no points.
    """

    id: str
    block: str
    kind: str
    title: str
    next: str
    graded: bool = True
    guard: bool = False
    needs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GateClass:
    """A class of a gate's contract: what can be called on it, and what can be read from it."""

    methods: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class Gate:
    """Where the student's decision function is, and the words of its contract.

    ``probe`` names a function of the course that decides a document in the place of ``decide``,
    for gates whose decision takes more than one call; "" where there is none.
    """

    module: str
    error: str
    load: str
    decide: str
    functions: tuple[str, ...]
    probe: str = ""
    classes: Mapping[str, GateClass] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Give the module's file, relative to the workspace."""
        return self.module.replace(".", "/") + ".py"


@dataclass(frozen=True, eq=False)
class Workshop:
    """One lab: timing plan, evidence, and the files it is made of."""

    id: str
    title: str
    minutes: int
    rule: str
    objectives: tuple[str, ...]
    materials: tuple[str, ...]
    blocks: tuple[Block, ...]
    station: Block | None
    cuts: tuple[Cut, ...]
    keep: tuple[str, ...]
    gate: Gate
    given: tuple[str, ...]
    stripped: tuple[str, ...]
    start: Mapping[str, str]
    evidence: tuple[Evidence, ...]

    def block(self, block_id: str) -> Block:
        """Find a block, the station included; raise ``WorkshopError`` naming those there are."""
        for block in self.all_blocks:
            if block.id == block_id:
                return block
        known = ", ".join(block.id for block in self.all_blocks)
        raise WorkshopError(f"{self.id} has no block {block_id!r}. Its blocks are: {known}.")

    @property
    def notebooks(self) -> tuple[str, ...]:
        """List the notebooks' file names in the order of their blocks."""
        return tuple(dict.fromkeys(block.notebook for block in self.all_blocks))

    @property
    def files(self) -> tuple[str, ...]:
        """List every file of this workshop that a workspace holds, relative to its root."""
        folder = f"notebooks/{self.id}"
        data = tuple(f"{folder}/{name}.toml" for name in ("timing", "workshop", "hints"))
        notebooks = tuple(f"{folder}/{name}" for name in self.notebooks)
        return (*data, *notebooks, *self.given, *self.stripped, *self.start)

    @property
    def all_blocks(self) -> tuple[Block, ...]:
        """Give the timed blocks, then the station where there is one."""
        return self.blocks + ((self.station,) if self.station else ())

    def evidence_of(self, block_id: str) -> tuple[Evidence, ...]:
        """List the evidence of one block, in the order in which a pair meets it."""
        return tuple(item for item in self.evidence if item.block == block_id)


def workshop_ids(root: Path) -> list[str]:
    """List the workshops below a course or a workspace."""
    return sorted(path.parent.name for path in root.glob("notebooks/*/timing.toml"))


def load_workshop(root: Path, workshop_id: str) -> Workshop:
    """Read one workshop; raise ``WorkshopError`` naming the file and what is wrong in it."""
    folder = root / "notebooks" / workshop_id
    if not (folder / "timing.toml").is_file():
        known = ", ".join(workshop_ids(root)) or "none"
        raise WorkshopError(
            f"there is no workshop {workshop_id!r} here. Found: {known}. Next: give one of these, "
            "or get it back: git checkout -- notebooks"
        )
    timing = _read(folder / "timing.toml")
    work = _read(folder / "workshop.toml")
    try:
        return _build(workshop_id, timing, work)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise WorkshopError(
            f"notebooks/{workshop_id}: missing or misspelt field: {error}. "
            f"Get it back: git checkout -- notebooks/{workshop_id}"
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        name = f"notebooks/{path.parent.name}/{path.name}"
        advice = f"Get it back: git checkout -- {name}"
        raise WorkshopError(f"{name} cannot be read: {error}. {advice}") from error


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> dict[str, Any]:
    """Parse a file once as long as it stays the same: a notebook reads it for every cell."""
    return tomllib.loads(text)


def _build(workshop_id: str, timing: dict[str, Any], work: dict[str, Any]) -> Workshop:
    files = work["files"]
    return Workshop(
        id=workshop_id,
        title=timing["title"],
        minutes=timing["minutes"],
        rule=timing["rule"],
        objectives=tuple(timing["objectives"]),
        materials=tuple(timing["materials"]),
        blocks=tuple(_block(row) for row in timing["blocks"]),
        station=_block(timing["station"]) if "station" in timing else None,
        cuts=tuple(Cut(**row) for row in timing["cuts"]),
        keep=tuple(timing["keep"]),
        gate=_gate(work["gate"]),
        given=tuple(files["given"]),
        stripped=tuple(files["stripped"]),
        start=dict(files["start"]),
        evidence=tuple(_evidence(row) for row in work["evidence"]),
    )


def _gate(row: dict[str, Any]) -> Gate:
    classes = {
        name: GateClass(tuple(item["methods"]), tuple(item["values"]))
        for name, item in row.get("classes", {}).items()
    }
    return Gate(**{**row, "functions": tuple(row["functions"]), "classes": classes})


def _block(row: dict[str, Any]) -> Block:
    exercises = tuple(Exercise(**item) for item in row.get("exercises", ()))
    cues = tuple(Cue(**item) for item in row.get("cues", ()))
    return Block(**{**row, "exercises": exercises, "cues": cues})


def _evidence(row: dict[str, Any]) -> Evidence:
    known = {"id", "block", "kind", "title", "next", "graded", "guard"}
    return Evidence(
        **{key: value for key, value in row.items() if key in known},
        needs=tuple(row.get("needs", ())),
        options={k: v for k, v in row.items() if k not in known and k != "needs"},
    )
