"""A quick look at one pair's files: the evidence that the pair can see, judged as grading does.

It runs in a worker process and returns plain values. What it is given is a stranger's folder, so
it looks only at a copy, made within the limits of grading.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.answer_key import AnswerKey, load_answer_key
from instructor.evidence import Bench, Finding
from instructor.evidence.parts import run_parts
from instructor.history import QUICK
from instructor.judging import evidence_report, judge_evidence, judge_one, plain
from instructor.report.model import EvidenceReport, block_outcome
from instructor.sandbox.places import work_below
from instructor.sandbox.quota import clear_away
from instructor.sandbox.strays import end_strays
from instructor.session.memory import Memory
from instructor.session.mirror import Mirror
from instructor.session.pairs import look_over
from instructor.submission import holds
from lab.suite import cut
from lab.workshop import Evidence, Workshop, load_workshop

# Of a suite that has not run yet.
PENDING = Finding("pending", "")


@dataclass(frozen=True)
class Look:
    """What to look at: a folder, for a workshop by its id; ``place`` is the pair's own for a copy.

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
    mark = 0
    try:
        mark = look_over(job.folder).mark
        # The pairs' copies lie side by side.
        work_below(job.place.parent)
        return replace(_look(job), mark=mark)
    except Exception as error:  # noqa: BLE001  one pair must never stop the board
        reason = f"It could not be looked at: {type(error).__name__}: {error}"
        return Seen(trouble=cut(plain(reason)), mark=mark)
    finally:
        end_strays(set())
        clear_away(job.place / "scratch")


def _look(job: Look) -> Seen:
    workshop, answers = _course(job.workshop)
    if not job.folder.is_dir():
        return Seen(trouble="There is no such folder now.", missing=True)
    next(job.folder.iterdir(), None)  # raises where it cannot be read
    if not holds(job.folder, workshop):
        return Seen(trouble=f"The folder holds nothing of {workshop.id}.", missing=True)
    memory = Memory.of(job.place)
    compiled = job.place.parent / f"course-{os.getpid()}"
    mirror = Mirror(job.place / "mirror" / "workspace", memory.laid, compiled)
    mirror.update(job.folder, workshop)
    digest = mirror.digest
    if digest in job.known:
        memory.laid = mirror.to_json()
        memory.write(job.place)
        return Seen(digest)
    bench = Bench(workshop, answers, mirror.root, job.place, job.seconds)
    known = memory.known(mirror)
    found = _judge(bench, memory, known)
    memory.keep(workshop.evidence, mirror, found, known)
    memory.write(job.place)
    return _seen(digest, workshop, found)


def _judge(bench: Bench, memory: Memory, known: Mapping[str, Finding]) -> dict[str, Finding]:
    """Judge what is not known: files before any student's code has run, then suites."""
    quick = [item for item in bench.workshop.evidence if item.kind in QUICK]
    new = [item for item in quick if item.id not in known]
    found = {**known, **{item.id: judge_one(item, bench) for item in new if item.kind != "suite"}}
    waiting = [item for item in new if item.kind == "suite"]
    while waiting:
        pending = {item.id: PENDING for item in waiting}
        guess = judge_evidence(bench.workshop, bench, QUICK, {**pending, **found})
        # What was not blocked the last time is most often not blocked now.
        todo = [i for i in waiting if guess[i.id] is PENDING or memory.is_open(i)]
        if not todo:
            break
        found |= _run_suites(bench, memory, todo)
        waiting = [item for item in waiting if item.id not in found]
    return judge_evidence(bench.workshop, bench, QUICK, found)


def _run_suites(bench: Bench, memory: Memory, todo: list[Evidence]) -> dict[str, Finding]:
    """Run suites in one child; one that does not come to its end there gets a run of its own."""
    ran = run_parts(bench, todo, {item.id for item in todo if memory.is_new(item.id)})
    found = {}
    for item in todo:
        bench.suites.clear()
        if item.id in ran:
            bench.suites[item.options["file"]] = ran[item.id].said
            memory.read(item.id, ran[item.id].reads)
        found[item.id] = judge_one(item, bench)
    return found


def _seen(digest: str, workshop: Workshop, found: Mapping[str, Finding]) -> Seen:
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
