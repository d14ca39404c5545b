"""A first look: give a fixture to a pair's gate or function, and show what came of it.

Each function takes the workspace's root; ``lab/coach.py`` is the door to them.
"""

import json
import logging
from pathlib import Path

from lab.cards import Note
from lab.fresh import fresh
from lab.replay import load_and_decide
from lab.strict_json import NotStrictJson, differences, load_json
from lab.suite import cut
from lab.workshop import Workshop, WorkshopError, load_workshop


class _Log(logging.Handler):
    """Keep what ``lab/`` logs while this is entered, and show it nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._logger = logging.getLogger("lab")

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"logged: {record.getMessage()}")

    def __enter__(self) -> None:
        self._logger.addHandler(self)
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(logging.NOTSET)
        self._logger.propagate = True


def try_gate(root: Path, workshop: str, fixture: str, predict: str, named: dict[str, str]) -> Note:
    """Give one of your fixtures to your own gate, and compare its verdict with your prediction.

    ``predict`` is "accept" or "refuse". Further names give the gate another fixture as that
    argument, for example ``inventory="inventory.json"``.
    """
    if predict not in ("accept", "refuse"):
        return Note(f'Predict first: predict="accept" or predict="refuse". Found: {predict!r}.')
    try:
        found = load_workshop(root, workshop)
        verdict, text = _decide(root, found, fixture, named)
    except (WorkshopError, NotStrictJson) as error:
        return Note(str(error))
    agrees = "as you predicted" if verdict == predict else f"and you predicted: {predict}"
    words = {"accept": "accepted", "refuse": "refused", "crash": "no verdict: your gate crashes"}
    aloud = " Read the reject string aloud:" if verdict == "refuse" else ""
    return Note(f"{fixture}: {words[verdict]}, {agrees}.{aloud}", cut(text, 1500))


def try_function(root: Path, workshop: str, name: str, fixture: str) -> Note:
    """Call one function of ``lab/`` on one of your fixtures: its result, its log, or its error.

    ``name`` is the module and the function, for example ``plan_gate.validate_schema``.
    """
    module, _, function = f"lab.{name}".rpartition(".")
    log = _Log()
    try:
        plan = load_json(root / "fixtures" / workshop / fixture)
        with log:
            value = getattr(fresh(module), function)(plan)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's code may raise anything
        return Note(
            f"{name} on {fixture} gives no result.", cut(f"{type(error).__name__}: {error}")
        )
    lines = [*log.lines, f"returned: {value!r}"]
    return Note(f"{name} on {fixture}:", cut("\n".join(lines), 1500))


def compare(root: Path, workshop: str, left: str, right: str) -> Note:
    """Show the places in which two fixtures differ, as JSON Pointers (RFC 6901)."""
    folder = root / "fixtures" / workshop
    try:
        places = differences(load_json(folder / left), load_json(folder / right))
    except NotStrictJson as error:
        return Note(str(error))
    number = len(places)
    values = "value" if number == 1 else "values"
    return Note(f"{left} and {right} differ in {number} {values}.", "\n".join(places[:20]))


def _decide(root: Path, workshop: Workshop, fixture: str, named: dict[str, str]) -> tuple[str, str]:
    """Give a verdict in one word, and the text that goes with it."""
    folder = root / "fixtures" / workshop.id
    gate = workshop.gate
    for name in (fixture, *named.values()):
        if not (folder / name).is_file():
            raise WorkshopError(f"No verdict: there is no file fixtures/{workshop.id}/{name}.")
    arguments = {name: load_json(folder / file) for name, file in named.items()}
    try:
        decision = load_and_decide(gate, fresh(gate.module), folder / fixture, arguments)
    except (Exception, SystemExit) as error:
        raise WorkshopError(
            f"{gate.file} cannot be used yet: {type(error).__name__}: {error}."
        ) from error
    if decision.verdict == "accept":
        return "accept", json.dumps(decision.seen, indent=2, ensure_ascii=False)
    return {"reject": "refuse"}.get(decision.verdict, "crash"), decision.text
