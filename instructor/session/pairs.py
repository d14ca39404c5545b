"""Who is in the room, and where each pair's work lies: a class's folder, or a roster."""

import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from instructor import CourseError
from instructor.intake.bring import find_inside
from instructor.intake.landing import IGNORED_FOLDERS, MAX_DEPTH
from instructor.intake.roster import Source, local_source, read_roster
from instructor.submission import find_submissions, holds
from lab.workshop import Workshop

# Where the files lie that quick evidence reads; a workspace's other folders are not watched.
WATCHED = ("lab", "fixtures", "tests")
# So many entries of one pair are looked at for changes.
MOST_ENTRIES = 4_000


@dataclass(frozen=True)
class Pair:
    """A pair's name, and where its work lies."""

    name: str
    source: Source


@dataclass(frozen=True)
class Work:
    """A pair's folder as it lies there: what to watch, and a mark that changes with its files."""

    folder: Path
    watch: tuple[Path, ...]
    mark: int


def list_pairs(folder: Path | None, roster: Path | None, workshop: Workshop) -> list[Pair]:
    """List the pairs of a class by name; a folder where nobody is yet has none.

    Raises ``CourseError`` where the folder or the roster cannot be read. Of several attempts on a
    roster the last one counts.
    """
    if roster is not None:
        entries = read_roster(roster, folder or roster.parent)
        return [Pair(entry.name, entry.attempts[-1].source) for entry in entries]
    if folder is None or not folder.is_dir():
        raise CourseError(f"{folder} is not a folder. Give the folder that holds the pairs' work.")
    try:
        found = find_submissions(folder, [workshop])
    except CourseError:
        return []
    return [Pair(name, local_source(path)) for name, path in found.items()]


def find_work(pair: Pair, workshop: Workshop) -> Work:
    """Find a pair's workspace in its folder; it may lie a folder or two deeper."""
    folder = Path(pair.source.place or os.devnull)
    if folder.is_dir() and not holds(folder, workshop):
        folder = find_inside(folder, [workshop])
    return look_over(folder)


def look_over(folder: Path) -> Work:
    """Say what of a workspace to watch; no link is followed, and no more than some thousand."""
    watch, mark = [], 0
    for path, info in islice(_below(folder), MOST_ENTRIES):
        if stat.S_ISDIR(info.st_mode):
            watch.append(path)
        else:
            about = f"{path}\0{info.st_mtime_ns} {info.st_size} {info.st_ino}"
            mark = zlib.crc32(about.encode("utf-8", "surrogateescape"), mark)
    return Work(folder, tuple(watch), mark)


def _below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what counts of a workspace: itself, then its watched folders with what is in them."""
    try:
        yield folder, folder.stat()
        entries = [e for e in os.scandir(folder) if e.name in WATCHED or e.name.endswith(".py")]
    except OSError:
        return
    yield from _entries(entries)


def _entries(
    entries: Sequence[os.DirEntry[str]], depth: int = 0
) -> Iterator[tuple[Path, os.stat_result]]:
    for entry in entries:
        try:
            info = entry.stat(follow_symlinks=False)
            opens = depth < MAX_DEPTH and _opens(entry)
            below = list(islice(os.scandir(entry), MOST_ENTRIES)) if opens else []
        except OSError:
            continue
        yield Path(entry.path), info
        yield from _entries(below, depth + 1)


def _opens(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in IGNORED_FOLDERS
