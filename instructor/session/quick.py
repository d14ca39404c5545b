"""A quick look at one pair's files: the evidence that the pair can see, judged as grading does.

It runs in a worker process and returns plain values. What it is given is a stranger's folder, so
it looks only at a copy, made within the limits of grading.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.answer_key import AnswerKey, load_answer_key
from instructor.evidence import Bench
from instructor.evidence.desk import Rows
from instructor.evidence.suites import read_report, run_suites
from instructor.history import QUICK
from instructor.judging import evidence_report, judge_evidence, plain
from instructor.kept import digest_of
from instructor.report.model import EvidenceReport, block_outcome
from instructor.sandbox.process import Message
from instructor.sandbox.strays import end_strays
from instructor.session.pairs import look_over
from instructor.submission import copy_work, holds, lay_course_files
from lab.suite import cut
from lab.workshop import Workshop, load_workshop

# What no quick evidence reads.
WITHOUT = ("notebooks",)


@dataclass(frozen=True)
class Look:
    """What to look at: a folder, for a workshop by its id, with a free place for copies.

    ``known`` holds the digests of files whose outcomes are known already.
    """

    folder: Path
    workshop: str
    place: Path
    known: tuple[str, ...] = ()
    seconds: float = 2.0


@dataclass(frozen=True)
class Seen:
    """What was seen: the digest of the files, the outcome of each block, and the first problem.

    There are no outcomes where the digest is known, nor where ``trouble`` says why there are none;
    with ``missing`` there is nothing yet, which is nobody's fault. ``mark`` is that of the folder
    as it was looked at.
    """

    digest: str = ""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    latest: Mapping[str, str] | None = None
    trouble: str = ""
    advice: str = ""
    missing: bool = False
    mark: int = field(default=0, compare=False)


def look(job: Look) -> Seen:
    """Look at one pair's files; whatever is there, this returns, and leaves nothing running."""
    mark = look_over(job.folder).mark
    try:
        return replace(_look(job), mark=mark)
    except Exception as error:  # noqa: BLE001  one pair must never stop the board
        reason = f"It could not be looked at: {type(error).__name__}: {error}"
        return Seen(trouble=cut(plain(reason)), mark=mark)
    finally:
        end_strays(set())
        shutil.rmtree(job.place, ignore_errors=True)


def _look(job: Look) -> Seen:
    workshop, answers = _course(job.workshop)
    if not job.folder.is_dir():
        return Seen(trouble="There is no such folder now.", missing=True)
    next(job.folder.iterdir(), None)  # raises where it cannot be read
    if not holds(job.folder, workshop):
        return Seen(trouble=f"The folder holds nothing of {workshop.id}.", missing=True)
    snapshot = copy_work(job.folder, job.place / "snapshot", WITHOUT)
    digest = digest_of(snapshot.path)
    if digest in job.known:
        return Seen(digest)
    lay_course_files(workshop, snapshot)
    bench = Bench(workshop, answers, snapshot.path, job.place, job.seconds)
    run_together(bench)
    found = judge_evidence(workshop, bench, QUICK)
    rows = {
        block.id: [
            evidence_report(item, found[item.id])
            for item in workshop.evidence_of(block.id)
            if item.id in found
        ]
        for block in workshop.blocks
    }
    outcomes = {block: block_outcome(own) if own else "none" for block, own in rows.items()}
    return Seen(digest, outcomes, _first_problem([item for own in rows.values() for item in own]))


@cache
def _course(workshop_id: str) -> tuple[Workshop, AnswerKey]:
    """Load a workshop once a process."""
    workshop = load_workshop(COURSE, workshop_id)
    return workshop, load_answer_key(workshop)


def run_together(bench: Bench) -> None:
    """Run a workshop's own suites in one run of pytest each, and lay what they said on the bench.

    Setting pytest up takes longer than the tests do. Where the run breaks off nothing is laid
    down, and each suite is run for itself when it is judged.
    """
    rows = _rows(bench)
    ran = run_suites(list(rows.values()), bench) if rows else Rows({})
    for file, row in rows.items():
        if read_report(ran, row["id"]) is None:
            continue
        said = ran.answers[row["id"]]
        suites = [item for item in bench.workshop.evidence if item.kind == "suite"]
        names = [item.id for item in suites if item.options["file"] == file]
        bench.suites[file] = Rows(dict.fromkeys(names, said))


def _rows(bench: Bench) -> dict[str, Message]:
    """Join the tests of each file that the course's own suites are in."""
    tests: dict[str, dict[str, None]] = {}
    for item in bench.workshop.evidence:
        if item.kind == "suite" and "tests" in item.options:
            tests.setdefault(item.options["file"], {}).update(dict.fromkeys(item.options["tests"]))
    own = {i.options["file"] for i in bench.workshop.evidence if "at_least" in i.options}
    return {
        file: {"id": file, "file": file, "tests": list(names)}
        for file, names in tests.items()
        if file not in own and (bench.snapshot / file).is_file()
    }


def _first_problem(evidence: list[EvidenceReport]) -> dict[str, Any] | None:
    """Give what to mend first, as it may be read aloud."""
    problem = next((i for i in evidence if i.graded and i.outcome not in {"pass", "blocked"}), None)
    if problem is None:
        return None
    return {
        "check": problem.title,
        "found": problem.found,
        "expected": problem.expected,
        "next": problem.next,
    }
