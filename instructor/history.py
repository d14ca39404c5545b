"""When was each outcome first reached? Told by the commits of a submission, and never graded.

The commits are read in the sandbox from a copy of the repository's data; the states that they left
are judged by the evidence that a pair can see, the same that grading uses.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from instructor.answer_key import load_answer_key
from instructor.evidence import Bench
from instructor.evidence.suites import run_in_one_child
from instructor.judging import Job, judge_evidence
from instructor.sandbox.places import work_below
from instructor.sandbox.process import Limits, run_child
from instructor.sandbox.quota import clear_away
from instructor.submission import copy_git_data, take_snapshot
from lab.workshop import Workshop

# What is judged for every state: it is quick, and a pair sees its verdict in the notebook too.
QUICK = ("suite", "fixture", "table")
MOST_STATES = 40
LIMITS = Limits(wall_seconds=90.0, cpu_seconds=60)
NO_GIT = "it has no git history"
UNREADABLE = "its git history cannot be read"


@dataclass(frozen=True)
class Commit:
    """One commit: its id, its time in seconds since 1970 (UTC), and the files if it changed any."""

    id: str
    at: int
    files: Mapping[str, str] | None


@dataclass(frozen=True)
class State:
    """What one commit left: the outcome of each quick evidence, by its id."""

    commit: int
    outcomes: Mapping[str, str]


@dataclass(frozen=True)
class WorkshopHistory:
    """The states of one workshop's files, the oldest first; each differs from the one before it."""

    workshop: Workshop
    states: tuple[State, ...]


@dataclass(frozen=True)
class History:
    """A submission's commits and what they left, the oldest first; ``note`` says why none."""

    commits: tuple[Commit, ...] = ()
    workshops: tuple[WorkshopHistory, ...] = ()
    note: str = ""


def read_history(job: Job, place: Path) -> History:
    """Read and judge the history of a submission in ``job.folder``; ``place`` is a free folder."""
    work_below(job.scratch)
    git = place / "git"
    if job.folder is None or not copy_git_data(job.folder, git):
        return History(note=NO_GIT)
    paths = sorted({file for workshop in job.workshops for file in workshop.files})
    (place / "empty").mkdir()
    request = {"kind": "commits", "git": str(git), "files": paths, "states": MOST_STATES}
    request["reads"] = [str(git)]
    request["workspace"] = str(place / "empty")
    run = run_child(request, place / "scratch", LIMITS)
    clear_away(git)
    commits = tuple(
        Commit(row["commit"], row["at"], row["files"]) for row in run.messages if "commit" in row
    )
    if not run.finished or not commits:
        return History(note=NO_GIT if run.finished else UNREADABLE)
    blobs = {row["blob"]: base64.b64decode(row["data"]) for row in run.messages if "blob" in row}
    workshops = tuple(
        WorkshopHistory(workshop, tuple(_judge_states(commits, blobs, workshop, job, place)))
        for workshop in job.workshops
    )
    return History(commits, workshops)


def _judge_states(
    commits: Sequence[Commit],
    blobs: Mapping[str, bytes],
    workshop: Workshop,
    job: Job,
    place: Path,
) -> Iterator[State]:
    """Judge every state in which a file of the workshop differs from the state before it."""
    answers = load_answer_key(workshop)
    benches = {}
    for number, files in _own_states(commits, workshop):
        root = place / workshop.id / str(number)
        _write(files, blobs, root / "source")
        snapshot = take_snapshot(root / "source", root / "snapshot", [workshop])
        benches[number] = Bench(workshop, answers, snapshot.path, root, job.seconds)
    run_in_one_child(list(benches.values()))
    for number, bench in benches.items():
        found = judge_evidence(workshop, bench, QUICK)
        yield State(number, {name: finding.outcome for name, finding in found.items()})


def _own_states(
    commits: Sequence[Commit], workshop: Workshop
) -> Iterator[tuple[int, dict[str, str]]]:
    own = set(workshop.files)
    rows = [
        (number, {path: blob for path, blob in commit.files.items() if path in own})
        for number, commit in enumerate(commits)
        if commit.files is not None
    ]
    for _, group in groupby(rows, key=lambda row: row[1]):
        yield next(group)


def _write(files: Mapping[str, str], blobs: Mapping[str, bytes], root: Path) -> None:
    """Write a state's files; ``files`` names only paths that we asked for."""
    root.mkdir(parents=True)
    for path, blob in files.items():
        if blob in blobs:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(blobs[blob])
