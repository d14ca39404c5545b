"""``lab watch``: check again whenever a file is saved, and say what to open next."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from lab import coach
from lab.cards import Card
from lab.checks import Checks
from lab.hints import find_ladder, load_ladders
from lab.parts import place_of
from lab.workshop import Block, Workshop, WorkshopError

POLL_SECONDS = 0.25
# When each file was saved, and its size.
Times = dict[str, tuple[int, int]]


def watch(
    root: Path,
    workshop: Workshop,
    block_id: str | None,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Check a block, then again after each save, until Ctrl-C; 0 in the end.

    Without a block it is the first that is not green; when that is green, it goes on to the next.
    """
    chosen = workshop.block(block_id) if block_id else None
    print(f"Watching “{workshop.title}”. Save a file to check again; Ctrl-C ends this.", flush=True)
    before = signal.signal(signal.SIGINT, _interrupt)
    _Asked.to_stop = False
    try:
        _follow(root, workshop, chosen, wait)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGINT, before)
    print("\nStopped watching. Your files are as you saved them.", flush=True)
    return 0


class _Asked:
    """Whether Ctrl-C was pressed: pytest takes the interrupt for itself while tests run."""

    to_stop = False


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  a handler's form
    _Asked.to_stop = True
    raise KeyboardInterrupt


def _follow(
    root: Path, workshop: Workshop, chosen: Block | None, wait: Callable[[float], None]
) -> None:
    known = _times(root, workshop)
    block = _check(root, workshop, chosen, workshop.blocks[0])
    while not _Asked.to_stop:
        wait(POLL_SECONDS)
        now = _times(root, workshop)
        saved = sorted(name for name, _ in now.items() ^ known.items())
        if saved:
            known = now
            print(f"\nSaved: {', '.join(dict.fromkeys(saved))}", flush=True)
            block = _check(root, workshop, chosen, block)


def _check(root: Path, workshop: Workshop, chosen: Block | None, last: Block) -> Block:
    """Check the chosen block, or go on from the last one to the first that is red; give it."""
    checks = Checks(root, workshop, chosen.id if chosen else "")
    order = [chosen] if chosen else [*workshop.blocks[workshop.blocks.index(last) :]]
    for block in order:
        print(f"Checking “{block.title}” …", flush=True)
        card = coach.check(workshop.id, block.id, checks)
        print(card, flush=True)
        if _Asked.to_stop or not card.passed:
            print(_open_next(root, workshop, block, card), flush=True)
            return block
    print("Green. Nothing more to mend here.", flush=True)
    return order[-1]


def _open_next(root: Path, workshop: Workshop, block: Block, card: Card) -> str:
    """Name the files to open for a card's first problem, and the notebook of its block."""
    red = next((line.name for line in card.lines if line.outcome == "fail"), "")
    notebook = f"notebooks/{workshop.id}/{block.notebook}"
    try:
        ladder = find_ladder(load_ladders(root, workshop.id), workshop, block.id, red)
    except WorkshopError:
        return f"Open next: {notebook}"
    files = dict.fromkeys(place_of(place).file for place in ladder.files)
    return f"Open next: {', '.join([*files, notebook])}"


def _times(root: Path, workshop: Workshop) -> Times:
    """Look when the files of a workshop were saved; one that is not there is left out."""
    found: Times = {}
    for name in workshop.files:
        try:
            state = (root / name).stat()
        except OSError:
            continue
        if not name.endswith(".ipynb"):  # JupyterLab saves those by itself, and nothing reads them
            found[name] = (state.st_mtime_ns, state.st_size)
    return found
