"""What a notebook calls: the block at hand, a check, a hint, a solution, a first look at a fixture.

Every function takes the files as they were last saved, so there is no kernel to restart after an
edit. Nothing here needs the network, and only ``holes`` starts a process. ``lab`` in a terminal
says the same.
"""

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar

from lab import guidance, tries
from lab.cards import Card, Line, Note
from lab.checks import Checks
from lab.clock import BlockClock, with_clock
from lab.fresh import forget, fresh
from lab.holes import SECONDS, find_holes
from lab.progress import keep_progress, read_progress
from lab.slips import find_slips
from lab.workshop import Workshop, WorkshopError, load_workshop

__all__ = [
    "block", "check", "compare", "forget", "fresh", "hint", "holes", "progress", "reset", "slips",
    "solution", "try_function", "try_gate",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[1]
# Said where a gate, or a schema, is also asked about inputs that nobody sees here.
MORE_INPUTS = (
    "Green here means the checks that you can see; grading has more inputs of the same kinds."
)
P = ParamSpec("P")
R = TypeVar("R")


def _in_words(function: Callable[P, R]) -> Callable[P, R | Note]:
    """Answer in words where there is no answer: no traceback of ours reaches a pair."""

    @functools.wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R | Note:
        try:
            return function(*args, **kwargs)
        except WorkshopError as error:
            return Note(str(error))
        except Exception as error:  # noqa: BLE001  a workspace may be in any state
            return Note(_fault(error))

    return answer


@_in_words
def block(workshop: str, block_id: str) -> Note | BlockClock:
    """Show a block's minutes, the outcome to reach, and in JupyterLab a clock."""
    found = load_workshop(ROOT, workshop)
    item = found.block(block_id)
    notes = read_progress(ROOT)
    keep_progress(ROOT, notes.opened(workshop, block_id, datetime.now(UTC)))
    place = found.blocks.index(item) if item in found.blocks else None
    if place is None:
        heading = f"{item.title}: {item.minutes} minutes, outside the timing plan."
        lines = (item.outcome, notes.trouble)
    else:
        start = sum(other.minutes for other in found.blocks[:place])
        span = f"minutes {start} to {start + item.minutes}"
        heading = f"{item.title}: {item.minutes} minutes ({span})."
        lines = (f"Outcome: {item.outcome}", notes.trouble)
    return with_clock(Note(heading, "\n".join(filter(None, lines))), item, workshop, ROOT)


def check(workshop: str, block_id: str, checks: Checks | None = None) -> Card:
    """Check what can be seen of a block's outcome; the grader runs the same checks and more.

    ``checks`` are those of one pass over several blocks, so that no test of it runs twice.
    """
    try:
        return _check(load_workshop(ROOT, workshop), block_id, checks)
    except WorkshopError as error:
        return Card("This check cannot run.", (Line(str(error), "fail"),))
    except Exception as error:  # noqa: BLE001  a workspace may be in any state
        return Card("This check cannot run.", (Line(_fault(error), "fail"),))


@_in_words
def hint(workshop: str, exercise: str = "", *, again: bool = False) -> Note:
    """Show one hint more on an exercise, or on a block's first red check.

    Without ``exercise`` it is the first block that is not reached. ``again`` shows the hints that
    you had, and no new one.
    """
    return guidance.hint(ROOT, load_workshop(ROOT, workshop), exercise, again)


@_in_words
def solution(workshop: str, exercise: str = "") -> Note:
    """Show one right solution with its reasons, once its block is green or was red three times."""
    return guidance.solution(ROOT, load_workshop(ROOT, workshop), exercise)


@_in_words
def reset(workshop: str, exercise: str) -> Note:
    """Give one exercise back as it was released; what you had is kept, and it says where."""
    return guidance.reset(ROOT, load_workshop(ROOT, workshop), exercise, datetime.now(UTC))


@_in_words
def progress(workshop: str) -> Note:
    """Show each block's outcome as it was last checked, the red checks, the minutes, the hints."""
    return guidance.progress(ROOT, load_workshop(ROOT, workshop))


@_in_words
def slips(workshop: str) -> Card | Note:
    """Name the slips of a gate that your tests would not notice: one wrong gate for each."""
    return find_slips(ROOT, load_workshop(ROOT, workshop))


@_in_words
def holes(workshop: str, hint: int = 1, seconds: float = SECONDS) -> Card | Note:
    """Count the kinds of holes that your gate still has, and hint at one; nothing is graded.

    ``hint`` chooses among the open ones: 1 is the easiest. ``seconds`` is the time for one kind.
    """
    return find_holes(ROOT, load_workshop(ROOT, workshop), hint, seconds)


@_in_words
def try_gate(workshop: str, fixture: str, predict: str, **named: str) -> Note:
    """Give one of your fixtures to your own gate, and compare its verdict with your prediction.

    ``predict`` is "accept" or "refuse". Further names give the gate another fixture as that
    argument, for example ``inventory="inventory.json"``.
    """
    return tries.try_gate(ROOT, workshop, fixture, predict, named)


@_in_words
def try_function(workshop: str, name: str, fixture: str) -> Note:
    """Call one function of ``lab/`` on one of your fixtures: its result, its log, or its error.

    ``name`` is the module and the function, for example ``plan_gate.validate_schema``.
    """
    return tries.try_function(ROOT, workshop, name, fixture)


@_in_words
def compare(workshop: str, left: str, right: str) -> Note:
    """Show the places in which two fixtures differ, as JSON Pointers (RFC 6901)."""
    return tries.compare(ROOT, workshop, left, right)


def _check(workshop: Workshop, block_id: str, checks: Checks | None) -> Card:
    item = workshop.block(block_id)
    lines = (checks or Checks(ROOT, workshop, block_id)).lines(block_id)
    if not lines:
        return Card(f"{item.title}: nothing is checked here; grading looks at the files.", ())
    done = sum(line.outcome == "pass" for line in lines)
    heading = f"{item.title}: {done} of {len(lines)} checks pass."
    note = guidance.note_check(ROOT, workshop, block_id, lines, datetime.now(UTC))
    hidden = [e.kind for e in workshop.evidence_of(block_id) if e.graded and e.kind != "suite"]
    if done == len(lines) and hidden:
        more = "1 check that runs" if len(hidden) == 1 else f"{len(hidden)} checks that run"
        heading += f" Grading adds {more} only there."
        note = "\n".join(filter(None, (MORE_INPUTS if "cases" in hidden else "", note)))
    return Card(heading, lines, note)


def _fault(error: Exception) -> str:
    return (
        f"Found: {type(error).__name__}: {error}. Expected: an answer. Next: save your files and "
        "run this again; if it stays, tell your teacher, for it is no fault of your work."
    )
