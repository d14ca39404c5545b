"""Hints, solutions, a fresh start and progress: what the coach says beside its checks."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from lab.cards import MARKS, Line, Note, outcome_of
from lab.digests import digests, whole, work_files
from lab.hints import Ladder, find_ladder, load_ladders
from lab.originals import give_back
from lab.progress import BlockNotes, Progress, keep_progress, read_progress
from lab.solutions import load_study
from lab.workshop import Block, Workshop, WorkshopError

# A solution is shown once its block was green, or after this many red checks of it. A check
# that is only run again, with no file changed, is no try.
TRIES = 3


class _Words:
    """How a call is written: for a notebook, or for a terminal."""

    terminal = False


def speak_terminal() -> None:
    """Write calls as a terminal takes them, from here on."""
    _Words.terminal = True


def call(verb: str, *names: str) -> str:
    """Write a call of the coach as it can be copied."""
    if _Words.terminal:
        return " ".join(["lab", verb, *names])
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"coach.{verb}({quoted})"


def note_check(
    root: Path, workshop: Workshop, block_id: str, lines: Sequence[Line], now: datetime
) -> str:
    """Write a check down; give what to say beneath it, "" for nothing."""
    outcome = outcome_of(lines)
    red = next((line.name for line in lines if line.outcome == "fail"), "")
    work = whole(digests(root, work_files(workshop)))
    notes = read_progress(root)
    keep_progress(root, notes.checked(workshop.id, block_id, outcome, red, work, now))
    stuck = f"Stuck? {call('hint', workshop.id, block_id)} gives one hint at a time."
    return "\n".join(filter(None, (stuck if outcome == "fail" else "", notes.trouble)))


def hint(root: Path, workshop: Workshop, exercise: str, again: bool) -> Note:
    """Show the hints on an exercise so far, and the next one."""
    notes = read_progress(root)
    ladder = _ladder(root, workshop, exercise, notes)
    seen = notes.seen(workshop.id, ladder.exercise)
    if again and not seen:
        first = call("hint", workshop.id, ladder.exercise)
        found = f"{ladder.title}: no hint yet. Found: none was shown. Expected: one, to show again."
        return Note(f"{found} Next: {first}", notes.trouble)
    number = min(seen + (not again), len(ladder.rungs))
    keep_progress(root, notes.shown(workshop.id, ladder.exercise, number))
    rungs = "\n".join(f"{n}. {text}" for n, text in enumerate(ladder.rungs[:number], start=1))
    heading = f"{ladder.title}: hint {number} of {len(ladder.rungs)}."
    more = number < len(ladder.rungs)
    last = (
        f"One more: {call('hint', workshop.id, ladder.exercise)}"
        if more
        else _after_the_last_hint(root, workshop, ladder, notes)
    )
    return Note(heading, "\n\n".join(filter(None, (rungs, last, notes.trouble))))


def solution(root: Path, workshop: Workshop, exercise: str) -> Note:
    """Show the solution of an exercise, where the workspace has it and its time has come."""
    notes = read_progress(root)
    ladder = _ladder(root, workshop, exercise, notes)
    data = load_study(root, workshop.id)
    hints = f"{call('hint', workshop.id, ladder.exercise)} has {len(ladder.rungs)} hints."
    if data is None:
        return Note(
            "Found: no solutions; this workspace was made for a class. Expected: a workspace for "
            f"self-study. Next: ask your teacher. {hints}"
        )
    block = notes.block(workshop.id, ladder.block)
    if not _is_open(block):
        title = workshop.block(ladder.block).title
        return Note(
            f"{ladder.title}: not yet. Found: {_count(block.tries, 'red check')} of “{title}”. "
            f"Expected: a green one, or {TRIES} red ones with an edit between them. Next: "
            f"{call('check', workshop.id, ladder.block)}. {hints}"
        )
    found = data.get("solutions", {}).get(ladder.exercise)
    if not found:
        raise WorkshopError(f"There is no solution of {ladder.exercise!r} here. {hints}")
    parts = "\n\n".join(f"# {part['file']}\n{part['text'].rstrip()}" for part in found["parts"])
    return Note(f"{ladder.title}: one right way. Why so: {found['reasons']}", parts)


def reset(root: Path, workshop: Workshop, exercise: str, now: datetime) -> Note:
    """Give the files of an exercise back as they were released."""
    ladder = _ladder(root, workshop, exercise, read_progress(root))
    given = give_back(root, ladder.files, now.astimezone())
    kept = f"What you had is in {given.kept}/." if given.kept else "There was nothing to keep."
    return Note(f"{ladder.title}: given back as it was released. {kept}", "\n".join(given.files))


def progress(root: Path, workshop: Workshop) -> Note:
    """Show what was reached when, by the checks so far."""
    notes = read_progress(root)
    ladders = load_ladders(root, workshop.id)
    reached = sum(notes.block(workshop.id, b.id).outcome == "pass" for b in workshop.blocks)
    rows = [_row(block, workshop, notes, ladders) for block in workshop.all_blocks]
    heading = f"{workshop.title}: {reached} of {len(workshop.blocks)} blocks are green, as last"
    foot = "Minutes are for you alone: no mark depends on them."
    return Note(f"{heading} checked.", "\n".join(filter(None, (*rows, foot, notes.trouble))))


def _ladder(root: Path, workshop: Workshop, exercise: str, notes: Progress) -> Ladder:
    """Find the exercise that is meant; without a name, that of the first block not reached."""
    ladders = load_ladders(root, workshop.id)
    reached = {b.id: notes.block(workshop.id, b.id).outcome == "pass" for b in workshop.blocks}
    open_blocks = [block for block in reached if not reached[block]]
    name = exercise or next(iter(open_blocks), workshop.blocks[-1].id)
    return find_ladder(ladders, workshop, name, notes.block(workshop.id, name).red)


def _after_the_last_hint(root: Path, workshop: Workshop, ladder: Ladder, notes: Progress) -> str:
    if load_study(root, workshop.id) is None:
        return "That was the last one. Ask your teacher."
    show = call("solution", workshop.id, ladder.exercise)
    if _is_open(notes.block(workshop.id, ladder.block)):
        return f"That was the last one. {show} shows one right way."
    tries = notes.block(workshop.id, ladder.block).tries
    return (
        f"That was the last one. After {TRIES} red checks of its block with an edit between them "
        f"({tries} so far), or a green one, {show} shows one right way."
    )


def _is_open(block: BlockNotes) -> bool:
    return bool(block.reached) or block.tries >= TRIES


def _row(block: Block, workshop: Workshop, notes: Progress, ladders: Sequence[Ladder]) -> str:
    own = notes.block(workshop.id, block.id)
    mark = MARKS.get(own.outcome, "·")
    minutes = f"{own.minutes} of {block.minutes} min" if own.minutes is not None else ""
    exercises = [ladder.exercise for ladder in ladders if ladder.block == block.id]
    hints = sum(notes.seen(workshop.id, exercise) for exercise in exercises)
    said = [
        minutes,
        _count(own.tries, "red check") if own.tries else "",
        _count(hints, "hint") if hints else "",
    ]
    what = ", ".join(filter(None, said)) or ("" if own.outcome else "not checked yet")
    return f"{mark} {block.title}" + (f": {what}" if what else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
