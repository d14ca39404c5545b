"""Give an exercise back as it was released, and keep what stood there.

``release`` lays a copy of the files that a pair may change into ``.lab/originals/``.
"""

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab.parts import NoSuchPart, part_of, place_of, with_part
from lab.progress import FOLDER
from lab.whole_file import write_whole
from lab.workshop import WorkshopError

ORIGINALS = f"{FOLDER}/originals"
KEPT = "kept"


@dataclass(frozen=True)
class GivenBack:
    """What was given back, a text for each file, and where the old files are ("" if none was)."""

    files: tuple[str, ...]
    kept: str


def give_back(root: Path, places: tuple[str, ...], now: datetime) -> GivenBack:
    """Put the released version of files, or of parts of them, in the place of what is there.

    Raises ``WorkshopError`` where there is nothing to give back from, before anything is changed.
    """
    missing = [p for p in places if not (root / ORIGINALS / place_of(p).file).is_file()]
    if missing or not places:
        what = f"{ORIGINALS}/{place_of(missing[0]).file}" if missing else "no file"
        raise WorkshopError(
            f"Found: {what} is not here. Expected: the released files, as a workspace has them. "
            "Next: get the file back with git checkout, or make a new workspace with lab study."
        )
    kept = _keep(root, {place_of(place).file for place in places}, now)
    return GivenBack(tuple(_give(root, place) for place in places), kept)


def _keep(root: Path, files: set[str], now: datetime) -> str:
    """Copy what is there into a new folder with the time in its name; "" where nothing is."""
    there = [file for file in sorted(files) if (root / file).exists()]
    name = f"{KEPT}/{now:%Y-%m-%d_%H%M%S}"
    number = 2
    while (root / name).exists():
        name = f"{KEPT}/{now:%Y-%m-%d_%H%M%S}-{number}"
        number += 1
    for file in there:
        copy = root / name / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (root / file).is_dir():  # it stands in the file's way
            shutil.move(root / file, copy)
        else:
            copy.write_bytes((root / file).read_bytes())
    return name if there else ""


def _give(root: Path, place: str) -> str:
    """Give one place back; the whole file where its part cannot be found in what is there."""
    wanted = place_of(place)
    target, original = root / wanted.file, root / ORIGINALS / wanted.file
    if wanted.part and target.is_file():
        try:
            part = part_of(_text(original), wanted.part)
            text = with_part(_text(target), wanted.part, part)
        except (NoSuchPart, UnicodeDecodeError) as error:
            write_whole(target, original.read_bytes())
            return f"{wanted.file}, all of it: {error}"
        write_whole(target, text.encode())
        return f"{wanted.part} in {wanted.file}"
    write_whole(target, original.read_bytes())
    return wanted.file


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig")
