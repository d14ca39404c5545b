"""Where each submission's report lies: a folder of its own, on every disk."""

import hashlib
from collections.abc import Iterable
from unicodedata import normalize

from instructor.report.exports import FOLDER

MAX_NAME_BYTES = 200
RESERVED = frozenset({"index.html", "gradebook.csv", "pace.json", ".work", ".kept", FOLDER})


def report_folders(names: Iterable[str]) -> dict[str, str]:
    """Map names to folders that stay apart, also on a disk that takes ``Anna`` for ``anna``."""
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names):
        folder, length = report_folder(name), 8
        while _on_any_disk(folder) in taken:
            folder, length = f"{report_folder(name)}-{_digest(name)[:length]}", length + 8
        taken.add(_on_any_disk(folder))
        folders[name] = folder
    return folders


def report_folder(name: str) -> str:
    """Name the folder of a submission's report; some names are taken, others are too long."""
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"{name[:40]}-{_digest(name)[:16]}"
    return f"{name}-submission" if name.casefold() in RESERVED else name


def _on_any_disk(folder: str) -> str:
    """Give what a disk without case, or with one form of each accent, makes of a name."""
    return normalize("NFC", normalize("NFC", folder).casefold())


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
