"""Lint of what stands in data files: timing plan, evidence, cases, wrong gates, files."""

import json
import tomllib
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from instructor import COURSE, CourseError
from instructor.answer_key import (
    ANSWERS,
    AnswerKey,
    Case,
    build_gate,
    decide_case,
    load_answer_key,
    reference,
)
from lab.strict_json import same_json
from lab.workshop import Workshop, WorkshopError

# A test that asks for more than the contract passes on one right gate by chance, hardly on three.
FEWEST_REWRITES = 2
SCHEMAS = COURSE / "instructor" / "schemas"


def schema_problems(workshop_id: str) -> Iterator[str]:
    """Check each data file of a workshop against its schema."""
    notebooks, answers = COURSE / "notebooks" / workshop_id, ANSWERS / workshop_id
    files = {
        notebooks / "timing.toml": "timing",
        notebooks / "workshop.toml": "workshop",
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


def answer_problems(workshop: Workshop) -> Iterator[str]:
    """Check that the reference decides every case and that a case catches each wrong gate."""
    try:
        answers = load_answer_key(workshop)
    except (CourseError, WorkshopError, ValueError) as error:
        yield str(error)
        return
    yield from _rule_problems(workshop, answers)
    cases = [case for case in answers.cases if answers.rules[case.rule].subject == "gate"]
    right = reference(workshop.gate)
    for case in cases:
        if not _decides(right, workshop, case):
            yield f"The reference does not decide case {case.id} as it should."
    for wrong in answers.wrong_gates:
        module = build_gate(workshop.gate, wrong.source)
        if all(_decides(module, workshop, case) for case in cases):
            yield f"No case catches the wrong gate {wrong.id}."
    yield from _rewrite_problems(workshop, answers, cases)


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
    known = {"cases.json", "wrong_gates.toml", "tables.json", "notes.md"}
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


def _rule_problems(workshop: Workshop, answers: AnswerKey) -> Iterator[str]:
    """Check that each rule can be passed and failed, and that something asks for it."""
    for name, number in Counter(case.id for case in answers.cases).items():
        if number > 1:
            yield f"Case {name} stands {number} times."
    for rule in answers.rules.values():
        verdicts = {case.verdict for case in answers.cases if case.rule == rule.id}
        if verdicts != {"accept", "reject"}:
            yield f"Rule {rule.id} needs a case to accept and a case to refuse."
        if not any(e.options.get("rule") == rule.id for e in workshop.evidence):
            yield f"Rule {rule.id} is asked for by no evidence."


def _needs_problems(workshop: Workshop) -> Iterator[str]:
    """Check that evidence builds on blocks that come before its own, so that nothing goes round."""
    order = [block.id for block in workshop.all_blocks]
    for item in workshop.evidence:
        for name in item.needs:
            if name not in order[: order.index(item.block)]:
                yield f"{item.id} needs {name!r}, which is no block before its own."


def _rewrite_problems(workshop: Workshop, answers: AnswerKey, cases: list[Case]) -> Iterator[str]:
    """Check that there are rewrites of the reference, and that each is as right as it."""
    if len(answers.rewrites) < FEWEST_REWRITES:
        yield f"wrong_gates.toml needs {FEWEST_REWRITES} gates of the layer rewrite."
    for rewrite in answers.rewrites:
        module = build_gate(workshop.gate, rewrite.source)
        for case in cases:
            if not _decides(module, workshop, case):
                yield f"The rewrite {rewrite.id} does not decide case {case.id} as it should."


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


def _decides(module: types.ModuleType, workshop: Workshop, case: Case) -> bool:
    """Tell whether a gate gives a case its verdict and says of it what it must."""
    gate = workshop.gate
    decision = decide_case(gate, module, case)
    if decision.verdict != case.verdict:
        return False
    if case.verdict == "accept":
        return same_json(decision.seen, decide_case(gate, reference(gate), case).seen)
    named = all(part in decision.text for part in case.mentions)
    return named and not any(part in decision.text for part in case.absent)
