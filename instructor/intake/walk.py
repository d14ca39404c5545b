"""The ordinary files of a folder that students have filled: no link is followed, none too deep."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from instructor.intake.landing import IGNORED_FOLDERS, MAX_DEPTH, ROOMS

# What ends like this is a text in a file.
TEXTS = frozenset({".py", ".json", ".ipynb", ".toml"})


class Found(NamedTuple):
    """A file, or something that is none: ``problem`` says why, and is "" for a file."""

    name: str
    path: Path
    size: int = 0
    problem: str = ""


def walk(
    folder: Path, above: str = "", opens: Callable[[str], bool] = lambda _: True
) -> Iterator[Found]:
    """Yield what lies in a folder and below, by names that begin with ``above``.

    ``opens`` says by its name whether a folder is of interest.
    """
    if above.count("/") > MAX_DEPTH:
        yield Found(above.removesuffix("/"), folder, problem=f"lies {MAX_DEPTH} folders deep")
        return
    try:
        entries = sorted(
            os.scandir(folder),
            # What is graded comes first, so that nothing else can crowd it out.
            key=lambda entry: (not above and entry.name not in ROOMS, entry.name),
        )
    except OSError as error:
        yield Found(
            above.removesuffix("/") or ".", folder, problem=f"cannot be read ({error.strerror})"
        )
        return
    for entry in entries:
        name, path = above + entry.name, Path(entry.path)
        if entry.is_symlink() or not entry.is_dir(follow_symlinks=False):
            yield _file(name, path, entry)
        elif path.suffix in TEXTS:
            yield Found(name, path, problem="is a folder, not a file")
        elif entry.name not in IGNORED_FOLDERS and opens(name) and not _is_environment(path):
            yield from walk(path, f"{name}/", opens)


def _file(name: str, path: Path, entry: os.DirEntry[str]) -> Found:
    if entry.is_symlink():
        return Found(name, path, problem="is a link")
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Found(name, path, problem=f"cannot be read ({error.strerror})")
    if not stat.S_ISREG(info.st_mode):
        return Found(name, path, problem="is not an ordinary file")
    return Found(name, path, info.st_size)


def _is_environment(path: Path) -> bool:
    return os.path.exists(path / "pyvenv.cfg")  # noqa: PTH110  it is False where Path's raises
