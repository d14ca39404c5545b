"""Read the commits of a repository's copy, inside the sandbox: a pack can be made to do harm.

The copy holds objects, refs and HEAD and nothing else, so no setting, hook or alternate of a
stranger's is read. dulwich parses; the git program is never run.
"""

import base64
import functools
import stat
from collections.abc import Callable, Iterator
from typing import Any

from dulwich.errors import NotTreeError
from dulwich.object_store import tree_lookup_path
from dulwich.objects import Blob, Commit, ShaFile
from dulwich.refs import HEADREF
from dulwich.repo import Repo

MOST_COMMITS = 1000
LARGEST_BLOB = 500_000

Files = dict[str, str]
Read = Callable[[bytes], ShaFile]


def read_commits(job: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> None:
    """Send the first-parent line of HEAD, the oldest commit first, then the blobs that it names.

    ``job`` has the folder ``git``, the paths ``files`` to look at, and how many different
    ``states`` of them to keep at the most. Sends ``{"commit", "at", "files"}`` rows, where
    ``files`` (path to blob id) is None unless the state is new and kept, and ``{"blob", "data"}``
    rows in Base64.
    """
    repository = Repo(job["git"])
    read = functools.lru_cache(maxsize=20_000)(repository.__getitem__)
    line = list(_first_parents(repository, read))[::-1]
    states = [_files(commit, job["files"], read) for commit in line]
    kept = _kept(states, job["states"])
    for number, (commit, files) in enumerate(zip(line, states, strict=True)):
        shown = files if number in kept else None
        send({"commit": commit.id.decode(), "at": commit.commit_time, "files": shown})
    for name in sorted({blob for number in kept for blob in states[number].values()}):
        blob = _object(name.encode(), read)
        if isinstance(blob, Blob) and len(blob.data) <= LARGEST_BLOB:
            send({"blob": name, "data": base64.b64encode(blob.data).decode()})


def _first_parents(repository: Repo, read: Read) -> Iterator[Commit]:
    """Yield HEAD and its first parents, as far as they are there (a clone may be shallow)."""
    name = _head(repository)
    for _ in range(MOST_COMMITS):
        commit = _object(name, read) if name else None
        if not isinstance(commit, Commit):
            return
        yield commit
        name = commit.parents[0] if commit.parents else None


def _head(repository: Repo) -> bytes | None:
    try:
        return repository.refs[HEADREF]
    except (KeyError, ValueError):  # nothing is committed yet, or HEAD is no reference
        return None


def _object(name: bytes, read: Read) -> ShaFile | None:
    try:
        return read(name)
    except KeyError:
        return None


def _files(commit: Commit, paths: list[str], read: Read) -> Files:
    """Map the paths that are ordinary files in a commit to their blobs."""
    found = {}
    for path in paths:
        try:
            mode, blob = tree_lookup_path(read, commit.tree, path.encode())
        except (KeyError, NotTreeError):  # not there, or a file where a folder should be
            continue
        if stat.S_ISREG(mode):
            found[path] = blob.decode()
    return found


def _kept(states: list[Files], most: int) -> set[int]:
    """Choose the commits that change a file: all, or as many as may be, the last one among them."""
    new = [n for n, files in enumerate(states) if n == 0 or files != states[n - 1]]
    if len(new) <= most:
        return set(new)
    step = (len(new) - 1) / (most - 1)
    return {new[round(step * n)] for n in range(most)}
