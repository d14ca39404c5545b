"""The hole hunt, for early finishers: what a pair's gate still lets through, counted and hinted at.

It is scored nowhere. The gate is asked in a process of its own, with a time limit, so a gate that
never answers costs one line and no kernel.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from lab.cards import Card, Line, Note
from lab.hole_probes import (
    CLOSED,
    CRASH,
    OPEN,
    TOO_STRICT,
    Holes,
    Kind,
    load_holes,
    probes_file,
)
from lab.progress import keep_progress, read_progress
from lab.suite import cut
from lab.workshop import Workshop, WorkshopError

SECONDS = 5.0
START_SECONDS = 60.0
LOOK_SECONDS = 0.05
# A gate that hangs on one kind may hang on all of them; nobody waits for that.
MOST_HANGS = 2
HANG, UNASKED = "hang", "not asked"
Came = dict[str, tuple[str, str]]

_FOUND = {
    OPEN: "Your gate decides it wrongly, in silence.",
    TOO_STRICT: "It is closed, and now your gate goes too far: it decides wrongly what was right.",
    HANG: "Your gate gives no answer.",
    UNASKED: "It was not asked: your gate gave no answer to two others.",
}


def find_holes(root: Path, workshop: Workshop, hint: int, seconds: float) -> Card | Note:
    """Count the kinds of holes that a gate still has, and hint at one of them."""
    if type(hint) is not int:
        return Note(f"Found: hint={hint!r}. Expected: a number. Next: hint=2, for the second one.")
    if probes_file(workshop.id) not in workshop.given:
        return Note(f"{workshop.id} has no hole hunt.")
    table = load_holes(root, workshop.id)
    came = _hunt(root, workshop, table, seconds)
    notes = read_progress(root)
    still = [kind for kind, (word, _) in came.items() if word != CLOSED]
    keep_progress(root, notes.hunted(workshop.id, still))
    card = _card(table, came, set(notes.holes.get(workshop.id, ())), hint)
    return replace(card, note=notes.trouble)


def _hunt(root: Path, workshop: Workshop, table: Holes, seconds: float) -> Came:
    """Ask about every kind; after a hang, ask about those that are left in a new process."""
    came: Came = {}
    kinds = [kind.id for kind in table.kinds]
    for _ in range(MOST_HANGS + 1):
        left = [kind for kind in kinds if kind not in came]
        hangs = sum(word == HANG for word, _ in came.values())
        if not left or hangs >= MOST_HANGS:
            break
        came |= _ask_in_a_process(root, workshop, left, seconds)
    return {kind: came.get(kind, (UNASKED, "")) for kind in kinds}


def _ask_in_a_process(root: Path, workshop: Workshop, kinds: list[str], seconds: float) -> Came:
    """Give what came of each kind until the process ended or gave no further answer."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answers"
        out.touch()
        command = [sys.executable, "-m", "lab.hole_probes", workshop.id, str(out), *kinds]
        try:
            process = subprocess.Popen(  # noqa: S603  our own module, in the pair's own folder
                command, cwd=root, env=_environment(root), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise WorkshopError(f"no process can be started for the gate: {error}.") from error
        with process:
            try:
                ended = "it ended Python" if _ends(process, out, seconds) else ""
            finally:
                process.kill()
        return _read(workshop, out, ended)


def _ends(process: subprocess.Popen[bytes], out: Path, seconds: float) -> bool:
    """Wait until the process ends; False where no answer is added for too long.

    Until it has imported the gate a busy machine gets more time, since nothing of the pair's runs.
    """
    size, since = 0, time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_SECONDS)
            return True
        written = out.read_bytes()
        if len(written) != size:
            size, since = len(written), time.monotonic()
        has_begun = written.count(b"\n") > 1
        if time.monotonic() - since > (seconds if has_begun else START_SECONDS):
            return False


def _read(workshop: Workshop, out: Path, ended: str) -> Came:
    """Read the answers; what was asked last and has none hung, or ended the process."""
    # What follows the last line break was cut off when the process ended.
    rows = [json.loads(row) for row in out.read_bytes().split(b"\n")[:-1]]
    answered = {row["kind"]: (row["came"], row["text"]) for row in rows if "came" in row}
    asked = [row["kind"] for row in rows if "came" not in row]
    if "" in answered:
        raise WorkshopError(_not_yet(workshop, *answered[""]))
    last = asked[-1] if asked else ""
    if last in answered:
        return answered
    if not last:
        why = ended or "it gives no answer"
        raise WorkshopError(_not_yet(workshop, CRASH, why))
    return {**answered, last: (CRASH, ended) if ended else (HANG, "")}


def _not_yet(workshop: Workshop, came: str, text: str) -> str:
    what = "refuses" if came == "reject" else "does not decide"
    return (
        f"{workshop.gate.file} {what} an input in which nothing is wrong: {cut(text, 300)}. The "
        "hunt begins when it is accepted. Finish the gate first: "
        f"lab check {workshop.id} says what is missing."
    )


def _environment(root: Path) -> dict[str, str]:
    paths = [str(root), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        # Two saves within one second can leave compiled code that looks up to date.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _card(table: Holes, came: Came, before: set[str], hint: int) -> Card:
    open_kinds = [kind for kind in table.kinds if came[kind.id][0] != CLOSED]
    closed = [kind for kind in table.kinds if came[kind.id][0] == CLOSED]
    fresh = [kind for kind in closed if kind.id in before]
    lines = [_hint(kind, came[kind.id]) for kind in _chosen(open_kinds, hint)]
    lines += [Line(f"Closed just now: {kind.closed}", "pass") for kind in fresh]
    lines += [Line(kind.closed, "pass") for kind in closed if kind not in fresh]
    number = len(open_kinds)
    kinds = "1 kind" if number == 1 else f"{number} kinds"
    all_closed = "Nothing that we know of is left; find one that we do not know."
    said = f"Your gate still lets {kinds} through." if number else all_closed
    heading = f"Hole hunt (never graded): {len(closed)} of {len(table.kinds)} closed. {said}"
    return Card(heading, tuple(lines))


def _chosen(kinds: list[Kind], hint: int) -> list[Kind]:
    """Choose one; beyond the last, begin again."""
    return [kinds[(hint - 1) % len(kinds)]] if kinds else []


def _hint(kind: Kind, came: tuple[str, str]) -> Line:
    word, text = came
    found = _FOUND.get(word) or f"Your gate crashes: {cut(text, 200)}"
    return Line("One that is open", "fail", found, kind.closed, kind.hint)
