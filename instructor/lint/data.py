"""Lint of what stands in data files: their form, the timing plan, the files that they name."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from instructor import COURSE
from instructor.answer_key import ANSWERS
from lab.workshop import Workshop

SCHEMAS = COURSE / "instructor" / "schemas"


def schema_problems(workshop_id: str) -> Iterator[str]:
    """Check each data file of a workshop against its schema."""
    notebooks, answers = COURSE / "notebooks" / workshop_id, ANSWERS / workshop_id
    files = {
        notebooks / "timing.toml": "timing",
        notebooks / "workshop.toml": "workshop",
        notebooks / "hints.toml": "hints",
        answers / "cases.json": "cases",
        answers / "wrong_gates.toml": "wrong_gates",
    }
    for path, name in files.items():
        yield from _schema_problem(path, name, workshop_id)


def timing_problems(workshop: Workshop) -> Iterator[str]:
    """Check that the minutes add up and that cues and cuts lie where they belong."""
    total = sum(block.minutes for block in workshop.blocks)
    if total != workshop.minutes:
        yield f"The blocks add up to {total} minutes, the plan says {workshop.minutes}."
    start = 0
    for block in workshop.blocks:
        end = start + block.minutes
        for cue in block.cues:
            if not start <= cue.minute < end:
                yield f"{block.id}: the cue at minute {cue.minute} is not within {start} to {end}."
        start = end
    for block in workshop.all_blocks:
        minutes = sum(exercise.minutes for exercise in block.exercises)
        if block.exercises and minutes != block.minutes:
            yield f"{block.id}: its exercises add up to {minutes}, not {block.minutes} minutes."
    yield from _cut_problems(workshop)
    yield from _needs_problems(workshop)


def guard_problems(workshop: Workshop) -> Iterator[str]:
    """Check that a guard is graded, and that each block has something to earn beside its guards."""
    for item in workshop.evidence:
        if item.guard and not item.graded:
            yield f"{item.id} is a guard and is not graded, so it guards nothing."
    for block in workshop.blocks:
        graded = [item for item in workshop.evidence_of(block.id) if item.graded]
        if graded and all(item.guard for item in graded):
            yield f"{block.id} has only guards, which are green from the start."


def file_problems(workshop: Workshop) -> Iterator[str]:
    """Check that every file that is named is there, and that every file is named."""
    named = {*workshop.files, *workshop.start.values()}
    for file in sorted(named):
        if not (COURSE / file).is_file():
            yield f"{file} is named in workshop.toml and is not there."
    for folder in (f"notebooks/{workshop.id}", f"fixtures/{workshop.id}"):
        for path in sorted((COURSE / folder).rglob("*")):
            file = path.relative_to(COURSE).as_posix()
            if path.is_file() and file not in named and ".ipynb_checkpoints" not in path.parts:
                yield f"{file} is there and nothing names it."
    known = {"cases.json", "wrong_gates.toml", "tables.json", "notes.md", "solutions.toml"}
    found = {path.name for path in (ANSWERS / workshop.id).iterdir()}
    for name in sorted(found ^ known):
        state = "is not expected there" if name in found else "is missing"
        yield f"instructor/answers/{workshop.id}/{name} {state}."


def _schema_problem(path: Path, name: str, workshop_id: str) -> Iterator[str]:
    shown = path.relative_to(COURSE).as_posix()
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    try:
        text = path.read_text(encoding="utf-8")
        document: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        yield f"{shown} cannot be read: {error}"
        return
    worst = best_match(Draft202012Validator(schema).iter_errors(document))
    if worst:
        yield f"{shown}, at {worst.json_path}: {worst.message}"
    elif document.get("workshop", workshop_id) != workshop_id:
        yield f"{shown} says that it belongs to {document['workshop']!r}."


def _needs_problems(workshop: Workshop) -> Iterator[str]:
    """Check that evidence builds on blocks that come before its own, so that nothing goes round."""
    order = [block.id for block in workshop.all_blocks]
    for item in workshop.evidence:
        for name in item.needs:
            if name not in order[: order.index(item.block)]:
                yield f"{item.id} needs {name!r}, which is no block before its own."


def _cut_problems(workshop: Workshop) -> Iterator[str]:
    blocks = {block.id: block for block in workshop.all_blocks}
    if workshop.station and workshop.cuts[0].block != workshop.station.id:
        yield "The station is not the first thing to cut."
    for cut in workshop.cuts:
        if cut.block not in blocks:
            yield f"A cut names {cut.block}, which is no block."
        elif cut.block in workshop.keep:
            yield f"A cut takes minutes from {cut.block}, which is to be kept."
        elif cut.minutes > blocks[cut.block].minutes:
            yield f"A cut takes {cut.minutes} minutes from {cut.block}, which has fewer."
    for name in workshop.keep:
        if name not in blocks:
            yield f"keep names {name}, which is no block."
