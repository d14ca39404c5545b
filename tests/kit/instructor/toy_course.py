"""A course with the toy workshop alone, and a class that is quick to grade."""

import shutil
from pathlib import Path

from tests.kit.command import COURSE, in_workspace

TOY = Path(__file__).resolve().parents[1] / "toy_workshop"
# The course without its workshops: their gates come along, since nothing asks for them.
ROOMS = ("lab", "instructor")


def build_course(root: Path) -> Path:
    """Lay the toy workshop over a copy of the course without its own workshops."""
    others = shutil.ignore_patterns("answers", "weights.toml", "__pycache__")
    for room in ROOMS:
        shutil.copytree(COURSE / room, root / room, ignore=others)
    shutil.copy(COURSE / "LICENSE", root)
    shutil.copytree(TOY, root, dirs_exist_ok=True)
    return root


def build_toy_class(course: Path, folder: Path, names: str, *, alike: bool = False) -> Path:
    """Make a release for each name without the notebook, so that no kernel has to start.

    Unless they are ``alike``, each differs from the others in a line that changes nothing.
    """
    first = folder / names[0]
    done = in_workspace(course, "-m", "instructor", "release", "toy_gate", "--to", str(first))
    assert done.code == 0, done.err
    shutil.rmtree(first / ".git")
    (first / "notebooks" / "toy_gate" / "1_toy.ipynb").unlink()
    for name in names[1:]:
        shutil.copytree(first, folder / name)
        if alike:
            continue
        with (folder / name / "lab" / "toy_gate.py").open("a") as file:
            file.write(f"\n\nMADE_BY = {name!r}\n")
    return folder
