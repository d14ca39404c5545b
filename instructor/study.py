"""What a workspace for self-study has beside a classroom's: solutions with reasons, wrong gates.

Encoded by ``lab/solutions.py``, which also says what that is worth. ``solutions.toml`` among a
workshop's answers gives the reasons, and names the sample pair whose work is shown; without one
the course's own is.
"""

import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from instructor import COURSE, CourseError
from instructor.answer_key import ANSWERS, load_answer_key
from instructor.classroom import build_pair, build_reference, load_pairs
from instructor.release import Study
from instructor.solutions import with_solutions
from lab.hints import Ladder, load_ladders
from lab.parts import NoSuchPart, part_of, place_of
from lab.solutions import encode, study_file
from lab.workshop import Workshop


@dataclass(frozen=True)
class Solutions:
    """The reasons for each exercise's solution, and the sample pair whose work is shown.

    ``more`` names what is shown beside an exercise's own files, a helper for example.
    """

    pair: str
    reasons: Mapping[str, str]
    more: Mapping[str, tuple[str, ...]]


def load_solutions(workshop_id: str) -> Solutions:
    """Read ``solutions.toml``; raise ``CourseError`` naming the file and what is wrong."""
    path = ANSWERS / workshop_id / "solutions.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        reasons = {name: str(text) for name, text in data["reasons"].items()}
        more = {name: tuple(places) for name, places in data.get("more", {}).items()}
        return Solutions(str(data.get("pair", "")), reasons, more)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(f"{workshop_id}/{path.name} cannot be used: {error}") from error


def study_files(workshops: list[Workshop]) -> Study:
    """Build the self-study data of workshops: file to content."""
    return {study_file(workshop.id): encode(study_data(workshop)) for workshop in workshops}


def study_data(workshop: Workshop) -> dict[str, Any]:
    """Gather one workshop's self-study data as plain JSON values.

    Of the wrong gates these are the ones that a pair's own tests must notice.
    """
    gate = workshop.gate.file
    folder = gate.rpartition("/")[0]
    beside = [name for name in workshop.start if name.startswith(f"{folder}/")]
    gates = [gate for gate in load_answer_key(workshop).wrong_gates if gate.layer == "core"]
    return {
        "solutions": _solutions(workshop),
        "reference": _read(COURSE, gate),
        "wrong_gates": [{"slip": g.slip, "source": g.source} for g in gates],
        "beside": {name.removeprefix(f"{folder}/"): _read(COURSE, name) for name in beside},
    }


def _solutions(workshop: Workshop) -> dict[str, Any]:
    chosen = load_solutions(workshop.id)
    ladders = load_ladders(COURSE, workshop.id)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "solved"
        _build(workshop, chosen.pair, root)
        return {
            ladder.exercise: {
                "reasons": chosen.reasons[ladder.exercise],
                "parts": [
                    _part(root, workshop.id, ladder, place)
                    for place in (*ladder.files, *chosen.more.get(ladder.exercise, ()))
                ],
            }
            for ladder in ladders
            if ladder.exercise in chosen.reasons
        }


def _build(workshop: Workshop, name: str, root: Path) -> None:
    if not name:
        build_reference([workshop], root)
        return
    pairs = load_pairs()
    pair = next((pair for pair in pairs if pair.name == name), None)
    if pair is None:
        raise CourseError(f"{workshop.id}/solutions.toml names {name!r}, which is no sample pair.")
    build_pair(pair, pairs, root, datetime.now(UTC))


def _part(root: Path, workshop_id: str, ladder: Ladder, place: str) -> dict[str, str]:
    wanted = place_of(place)
    text = with_solutions(_read(root, wanted.file))
    try:
        shown = part_of(text, wanted.part) if wanted.part else text
    except NoSuchPart as error:
        where = f"{workshop_id}/hints.toml, {ladder.exercise}: {place}"
        raise CourseError(f"{where} has no solution: {error}.") from error
    return {"file": place, "text": shown}


def _read(root: Path, file: str) -> str:
    return (root / file).read_text(encoding="utf-8")
