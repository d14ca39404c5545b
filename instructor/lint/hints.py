"""Lint of the hints: each block with graded work has some, and what they name is there."""

from collections.abc import Iterator

from instructor import COURSE, CourseError
from instructor.solutions import without_solutions
from instructor.study import load_solutions
from lab.hints import Ladder, load_ladders
from lab.parts import NoSuchPart, part_of, place_of
from lab.workshop import Workshop


def problems(workshop: Workshop) -> Iterator[str]:
    """Check the ladders of a workshop, and that each solution has its reasons."""
    ladders = load_ladders(COURSE, workshop.id)
    names = [ladder.exercise for ladder in ladders]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"The exercise {name} stands twice in hints.toml."
    hinted = {ladder.block for ladder in ladders}
    for block in workshop.blocks:
        if block.id not in hinted and any(e.graded for e in workshop.evidence_of(block.id)):
            yield f"{block.id} has graded work and no hints."
    blocks = [block.id for block in workshop.all_blocks]
    for ladder in ladders:
        if ladder.block not in blocks:
            yield f"{ladder.exercise}: there is no block {ladder.block!r}."
            continue
        yield from (f"{ladder.exercise}: {text}" for text in _problems(ladder, workshop))
    yield from _reason_problems(workshop, ladders)


def _problems(ladder: Ladder, workshop: Workshop) -> Iterator[str]:
    visible = {
        name
        for item in workshop.evidence_of(ladder.block)
        if item.kind == "suite"
        for name in item.options.get("tests", [item.id])
    }
    for test in ladder.tests:
        if test not in visible:
            yield f"{test} is no visible check of {ladder.block}."
    for place in ladder.files:
        wanted = place_of(place)
        if wanted.file not in workshop.files:
            yield f"{wanted.file} is no file of this workshop."
        elif wanted.part:
            yield from _part_problem(wanted.file, wanted.part)


def _part_problem(file: str, part: str) -> Iterator[str]:
    """Check that a part is there both in the course and in a release."""
    data = (COURSE / file).read_bytes()
    for text in (data, without_solutions(file, data)):
        try:
            part_of(text.decode(), part)
        except NoSuchPart as error:
            yield f"{file}: {error}."
            return


def _reason_problems(workshop: Workshop, ladders: tuple[Ladder, ...]) -> Iterator[str]:
    try:
        reasons = load_solutions(workshop.id).reasons
    except CourseError as error:
        yield str(error)
        return
    timed = {block.id for block in workshop.blocks}
    for ladder in ladders:
        if ladder.block in timed and not reasons.get(ladder.exercise):
            yield f"{ladder.exercise}: solutions.toml gives no reasons for its solution."
    for name in sorted(reasons.keys() - {ladder.exercise for ladder in ladders}):
        yield f"solutions.toml has reasons for {name!r}, which is no exercise."
