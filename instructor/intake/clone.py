"""Fetch a stranger's repository with dulwich, and write the files of its HEAD as ordinary files.

No settings of this machine are read, no helper is asked, and the git program is never run.
"""

import os
import stat
import zlib
from collections.abc import Mapping
from itertools import islice

from dulwich.client import (
    FetchPackResult,
    HTTPProxyUnauthorized,
    HTTPUnauthorized,
    get_transport_and_path,
)
from dulwich.config import ConfigFile
from dulwich.errors import GitProtocolError, NotGitRepository
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo
from urllib3.exceptions import HTTPError

from instructor.intake.landing import Snapshot, path_problem, turn
from instructor.intake.unzip import Unusable

MAX_ENTRIES = 100_000
GITLINK = 0o160000
HEAD = Ref(b"HEAD")
BRANCHES = b"refs/heads/"


class Unreachable(Exception):  # noqa: N818  a finding about an address
    """A repository could not be fetched; the text says why and holds nothing of its address."""


def clone(address: str, snapshot: Snapshot) -> None:
    """Fetch a repository's branches into ``.git``, and write the files of its HEAD beside it.

    Raises ``Unreachable`` where it cannot be had and ``Unusable`` where it holds no commit.
    """
    with Repo.init(str(snapshot.path)) as repo:
        _take_head(_fetch(address, repo), repo)
        _write_files(repo, snapshot)


def _fetch(address: str, repo: Repo) -> FetchPackResult:
    try:
        client, path = get_transport_and_path(address, config=ConfigFile())
        return client.fetch(path, repo, determine_wants=_wanted)
    except Exception as error:
        # Only the kind of the error is said: its text may repeat the address with its password.
        raise Unreachable(_reason(error)) from error


def _wanted(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
    del depth  # part of what dulwich passes
    return sorted({sha for name, sha in refs.items() if name == HEAD or _is_branch(name)})


def _is_branch(name: Ref) -> bool:
    return name.startswith(BRANCHES)


def _reason(error: Exception) -> str:
    if isinstance(error, (HTTPUnauthorized, HTTPProxyUnauthorized)):
        return "it asks for a name and a password, or refuses those that it got"
    if isinstance(error, (NotGitRepository, FileNotFoundError)):
        return "there is no repository"
    if isinstance(error, (GitProtocolError, HTTPError, ConnectionError, TimeoutError)):
        return "no git server answers there"
    return f"fetching it ended in {type(error).__name__}"


def _take_head(result: FetchPackResult, repo: Repo) -> None:
    """Set branches and HEAD as they are there; a HEAD that leads nowhere takes the one branch."""
    refs = {name: sha for name, sha in result.refs.items() if sha}
    branches = {name: sha for name, sha in refs.items() if _is_branch(name)}
    for name, sha in branches.items():
        repo.refs[name] = sha
    head = result.symrefs.get(HEAD)
    if HEAD not in refs and len(branches) == 1:
        head = next(iter(branches))
    if head in branches:
        repo.refs.set_symbolic_ref(HEAD, head)
    elif HEAD in refs:
        repo.refs[HEAD] = refs[HEAD]
    else:
        raise Unusable("The repository holds no commit.")


def _write_files(repo: Repo, snapshot: Snapshot) -> None:
    commit = repo[repo.head()]
    if not isinstance(commit, Commit):
        raise Unusable("The repository's HEAD is no commit.")
    entries = repo.object_store.iter_tree_contents(commit.tree)
    named = [(os.fsdecode(entry.path).split("/"), entry) for entry in islice(entries, MAX_ENTRIES)]
    for parts, entry in sorted(named, key=lambda pair: turn(pair[0])):
        name = "/".join(parts)
        if reason := _problem(parts, entry.mode):
            snapshot.leave_out(name, reason)
        else:
            _write_file(repo, entry.sha, name, snapshot)


def _write_file(repo: Repo, sha: ObjectID, name: str, snapshot: Snapshot) -> None:
    try:
        blob = repo.object_store[sha]
        assert isinstance(blob, Blob)  # noqa: S101  by its mode
        snapshot.write(name, blob.raw_length(), blob.as_raw_chunks())
    except OSError as error:
        snapshot.leave_out(name, f"cannot be written ({error.strerror})")
    except (AssertionError, KeyError, ValueError, zlib.error):
        snapshot.leave_out(name, "cannot be read from the repository")


def _problem(parts: list[str], mode: int) -> str:
    """Say why an entry of a tree is no ordinary file; "" where it is one."""
    if stat.S_ISLNK(mode):
        return "is a link"
    if stat.S_IFMT(mode) == GITLINK:
        return "is a submodule"
    if any(part in {"", "."} or part.casefold() == ".git" for part in parts):
        return "has no name that a file can have"
    return path_problem(parts)
