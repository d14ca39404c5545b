"""What the coach remembers: tries, hints, when a block was reached, which holes were open.

It stands in ``.lab/progress.json``, which git ignores and grading never reads. A lost or broken
file costs nothing but the memory.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.whole_file import write_whole

FOLDER = ".lab"
NAME = f"{FOLDER}/progress.json"
ASIDE = f"{FOLDER}/progress.unreadable.json"


@dataclass(frozen=True)
class BlockNotes:
    """One block: red checks so far, the last outcome, its first red check, and two moments.

    ``began`` is when the block was first opened or checked, ``reached`` when it was first green;
    both are ISO 8601 with a zone, "" where it has not happened. ``tried`` is the digest of the work
    at the last red check that counted.
    """

    tries: int = 0
    outcome: str = ""
    red: str = ""
    began: str = ""
    reached: str = ""
    tried: str = ""

    @property
    def minutes(self) -> int | None:
        """Give the minutes from the beginning until it was reached; None before that."""
        if not (self.began and self.reached):
            return None
        taken = datetime.fromisoformat(self.reached) - datetime.fromisoformat(self.began)
        return max(0, round(taken.total_seconds() / 60))


@dataclass(frozen=True)
class Progress:
    """The notes on a workspace; ``trouble`` says what was wrong with the file, "" if nothing.

    ``holes`` names, for each workshop, the kinds that the last hole hunt found open.
    """

    blocks: Mapping[str, BlockNotes] = field(default_factory=dict)
    hints: Mapping[str, int] = field(default_factory=dict)
    holes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trouble: str = ""

    def block(self, workshop: str, block_id: str) -> BlockNotes:
        """Give the notes on a block, empty ones where there are none."""
        return self.blocks.get(f"{workshop}.{block_id}", BlockNotes())

    def seen(self, workshop: str, exercise: str) -> int:
        """Tell how many hints on an exercise were shown."""
        return self.hints.get(f"{workshop}.{exercise}", 0)

    def opened(self, workshop: str, block_id: str, now: datetime) -> "Progress":
        """Note that a block was opened, where that is new."""
        notes = self.block(workshop, block_id)
        return self._with(workshop, block_id, replace(notes, began=notes.began or _stamp(now)))

    def checked(
        self, workshop: str, block_id: str, outcome: str, red: str, work: str, now: datetime
    ) -> "Progress":
        """Note a check: a red one is a try where ``work`` is new, a green one reaches the block."""
        notes = self.opened(workshop, block_id, now).block(workshop, block_id)
        is_try = outcome == "fail" and work != notes.tried
        return self._with(
            workshop,
            block_id,
            replace(
                notes,
                tries=notes.tries + is_try,
                tried=work if is_try else notes.tried,
                outcome=outcome,
                red=red,
                reached=notes.reached or (_stamp(now) if outcome == "pass" else ""),
            ),
        )

    def shown(self, workshop: str, exercise: str, number: int) -> "Progress":
        """Note that this many hints on an exercise were shown."""
        return replace(self, hints={**self.hints, f"{workshop}.{exercise}": number})

    def hunted(self, workshop: str, kinds: Iterable[str]) -> "Progress":
        """Note which kinds of holes are open."""
        return replace(self, holes={**self.holes, workshop: tuple(kinds)})

    def _with(self, workshop: str, block_id: str, notes: BlockNotes) -> "Progress":
        return replace(self, blocks={**self.blocks, f"{workshop}.{block_id}": notes})


def read_progress(root: Path) -> Progress:
    """Read the notes on a workspace; a file that cannot be used is put aside, and that is said."""
    path = root / NAME
    try:
        return _progress(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Progress()
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return Progress(trouble=_put_aside(root, error))


def keep_progress(root: Path, progress: Progress) -> None:
    """Write the notes, where the folder for them is there and can be written to."""
    path = root / NAME
    blocks = {name: asdict(notes) for name, notes in progress.blocks.items()}
    data = {"blocks": blocks, "hints": dict(progress.hints), "holes": dict(progress.holes)}
    if not path.parent.is_dir():  # the course itself, or a workspace of an earlier release
        return
    # A folder that is read only is no failure: the check itself still says all there is.
    with suppress(OSError):
        write_whole(path, f"{json.dumps(data, indent=2)}\n".encode())


def _progress(data: Any) -> Progress:
    blocks = {str(name): BlockNotes(**row) for name, row in data["blocks"].items()}
    hints = {str(name): number for name, number in data["hints"].items()}
    # A file of before the hole hunt has no such list.
    holes = {str(name): tuple(kinds) for name, kinds in data.get("holes", {}).items()}
    for wrong in _misshapen(blocks, hints, holes):
        raise TypeError(wrong)
    return Progress(blocks, hints, holes)


def _misshapen(
    blocks: Mapping[str, BlockNotes],
    hints: Mapping[str, Any],
    holes: Mapping[str, tuple[Any, ...]],
) -> Iterator[str]:
    for name, notes in blocks.items():
        texts = (notes.outcome, notes.red, notes.began, notes.reached, notes.tried)
        if type(notes.tries) is not int or not all(type(text) is str for text in texts):
            yield f"a wrong type in {name}"
        for moment in filter(None, (notes.began, notes.reached)):
            if datetime.fromisoformat(moment).tzinfo is None:
                yield f"a moment without a zone in {name}"
    yield from (f"a wrong type in {name}" for name, n in hints.items() if type(n) is not int)
    for name, kinds in holes.items():
        if not all(type(kind) is str for kind in kinds):
            yield f"a wrong type in {name}"


def _put_aside(root: Path, error: Exception) -> str:
    try:
        (root / NAME).replace(root / ASIDE)
    except OSError:
        where = f"Delete {NAME}; none of your work is in it."
    else:
        where = f"It is now {ASIDE}, and a new one is begun; none of your work was in it."
    return (
        f"Found: {NAME} cannot be read ({type(error).__name__}). "
        f"Expected: what the coach wrote there. Next: {where}"
    )


def _stamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
