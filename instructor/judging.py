"""One submission in, one report out. Whatever is handed in, this returns a report."""

import re
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from instructor import COURSE
from instructor.answer_key import load_answer_key
from instructor.evidence import KINDS, Bench, Finding
from instructor.intake.landing import MAX_REMARKS, Remark, Snapshot
from instructor.kept import Kept
from instructor.report.model import (
    BlockReport,
    CellTime,
    EvidenceReport,
    RemarkReport,
    Report,
    WorkshopReport,
    block_outcome,
)
from instructor.sandbox import tier
from instructor.sandbox.allowance import TookTooLong
from instructor.sandbox.copies import trouble_with
from instructor.sandbox.places import work_below
from instructor.sandbox.quota import clear_away
from instructor.submission import take_snapshot
from lab.suite import cut
from lab.workshop import Evidence, Workshop

# Characters of one text in a report; a student can make any of them as long as they like.
LONGEST_TEXT = 1_500
# Colour codes and control characters of a student's output; tab and newline become spaces.
# Where Python, its packages and this course lie on the grader's machine is nobody's business.
_PLACES = re.compile(
    "|".join(re.escape(place) for place in (str(COURSE), sys.prefix, sys.base_prefix))
)
# Marks that turn the direction of text around, or that nobody sees, go with them.
_CONTROL = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    r"\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


@dataclass(frozen=True)
class Job:
    """One attempt to grade: whose it is, its folder, the workshops, and a place for its copies.

    ``finding`` stands in the place of all evidence where there is no folder to judge.
    """

    name: str
    folder: Path | None
    workshops: tuple[Workshop, ...]
    scratch: Path
    cell_seconds: float = 10.0
    seconds: float = 10.0
    label: str = "1"
    source: str = "folder"
    finding: Finding | None = None
    remarks: tuple[Remark, ...] = ()
    kept: Kept | None = None


def judge_submission(job: Job) -> Report:
    """Snapshot a submission and judge all evidence of its workshops, unless that is known."""
    if job.folder is None:
        return _settled(job, job.finding or Finding("error", "There is nothing to judge."))
    work_below(job.scratch)
    place = Path(tempfile.mkdtemp(dir=job.scratch))
    try:
        snapshot = snapshot_of(job, place)
        key = job.kept.key(snapshot, [w.id for w in job.workshops]) if job.kept else ""
        if job.kept and (known := job.kept.read(key, job.name)):
            return known
        report = judge_snapshot(job, snapshot, place)
        if job.kept:
            job.kept.write(key, report)
        return report
    finally:
        clear_away(place)


def snapshot_of(job: Job, place: Path) -> Snapshot:
    """Take the snapshot of a job's folder below ``place``, with what was remarked before it."""
    assert job.folder is not None  # noqa: S101  who has no folder is settled
    snapshot = take_snapshot(job.folder, place / "snapshot", list(job.workshops))
    snapshot.remarks[:0] = job.remarks
    return snapshot


def judge_snapshot(job: Job, snapshot: Snapshot, place: Path) -> Report:
    """Judge all evidence of a job's workshops on a snapshot; ``place`` is for copies of it."""
    workshops = tuple(_judge_workshop(w, snapshot, place, job) for w in job.workshops)
    if trouble := trouble_with(place):
        return failed_report(job, f"It could not be graded: {trouble}. Next: grade it again")
    return Report(job.name, tier(), _remarks(snapshot.remarks), workshops)


def failed_report(job: Job, reason: str) -> Report:
    """Report on a submission that could not be judged at all; that is never the student's fault."""
    return _settled(job, _our_fault(reason))


def _our_fault(reason: str) -> Finding:
    advice = "Tell your teacher: this is not your work's fault."
    return Finding("error", cut(plain(reason)), "", advice)


def _settled(job: Job, finding: Finding) -> Report:
    """Report one finding for all evidence, in the place of judging it."""
    found = [(workshop, dict.fromkeys(workshop.evidence, finding)) for workshop in job.workshops]
    return Report(
        job.name, tier(), _remarks(job.remarks), tuple(_workshop_report(*pair) for pair in found)
    )


def _remarks(remarks: Sequence[Remark]) -> tuple[RemarkReport, ...]:
    return tuple(RemarkReport(r.id, plain(r.found), r.next) for r in remarks[:MAX_REMARKS])


def _judge_workshop(
    workshop: Workshop, snapshot: Snapshot, scratch: Path, job: Job
) -> WorkshopReport:
    answers = load_answer_key(workshop)
    bench = Bench(workshop, answers, snapshot.path, scratch, job.seconds, job.cell_seconds)
    found = judge_evidence(workshop, bench)
    left = _left_running(bench.survivors)
    snapshot.remarks[:0] = [remark for remark in left if remark not in snapshot.remarks]
    return _workshop_report(workshop, {item: found[item.id] for item in workshop.evidence})


def judge_evidence(
    workshop: Workshop,
    bench: Bench,
    kinds: Collection[str] = tuple(KINDS),
    known: Mapping[str, Finding] = MappingProxyType({}),
) -> dict[str, Finding]:
    """Judge the evidence of some kinds, by id; what builds on a block that is not there waits.

    ``known`` holds what need not be judged again.
    """
    found: dict[str, Finding] = {}
    for evidence in _in_order(workshop):
        if evidence.kind in kinds:
            found[evidence.id] = (
                _blocked(evidence, workshop, found)
                or known.get(evidence.id)
                or judge_one(evidence, bench)
            )
    return found


def _left_running(names: Collection[str]) -> list[Remark]:
    """Name the programs and threads that a submission's code left behind, if there are any."""
    if not names:
        return []
    found = f"Your code left something running when it was done: {', '.join(sorted(names))}."
    advice = "End what your code starts; a module that is imported starts nothing."
    return [Remark("left-running", f"{found} It was ended.", advice)]


def _in_order(workshop: Workshop) -> list[Evidence]:
    """Put each check after all that it needs, and hidden inputs after what shows its output."""

    def steps_before(item: Evidence) -> int:
        needed = (other for block in item.needs for other in workshop.evidence_of(block))
        return max((steps_before(other) + 1 for other in needed), default=0)

    return sorted(workshop.evidence, key=lambda item: (steps_before(item), item.kind == "cases"))


def _blocked(evidence: Evidence, workshop: Workshop, found: dict[str, Finding]) -> Finding | None:
    for block in evidence.needs:
        rows = [item for item in workshop.evidence_of(block) if item.graded]
        if any(item.id in found and found[item.id].outcome != "pass" for item in rows):
            title = workshop.block(block).title
            return Finding(
                "blocked",
                f"Not looked at yet: it builds on “{title}”.",
                "",
                f"Finish “{title}” first.",
            )
    return None


def judge_one(evidence: Evidence, bench: Bench) -> Finding:
    """Judge one piece of evidence, whatever comes of it."""
    try:
        finding = KINDS[evidence.kind](evidence, bench)
        details = tuple(bench.shown(line) for line in finding.details)
        return replace(finding, found=bench.shown(finding.found), details=details)
    except (TookTooLong, MemoryError) as error:
        too_much = str(error) or "it takes more memory than there is for it"
        advice = "Make it smaller: a gate has to be shown what it decides, and no more."
        return Finding("fail", f"What you handed in cannot be looked at: {too_much}.", "", advice)
    except Exception as error:  # noqa: BLE001  one check must never stop a submission
        return _our_fault(f"This check broke: {type(error).__name__}: {error}")


def _workshop_report(workshop: Workshop, found: dict[Evidence, Finding]) -> WorkshopReport:
    rows = {
        block.id: tuple(evidence_report(i, found[i]) for i in workshop.evidence_of(block.id))
        for block in workshop.all_blocks
    }
    blocks = tuple(
        BlockReport(block.id, block.title, block_outcome(rows[block.id]), rows[block.id])
        for block in workshop.blocks
    )
    extras = rows[workshop.station.id] if workshop.station else ()
    return WorkshopReport(workshop.id, workshop.title, blocks, extras)


def evidence_report(evidence: Evidence, finding: Finding) -> EvidenceReport:
    """Make of a finding what a pair may read: plain text, cut to size, none of this machine."""
    passed = finding.outcome == "pass"
    return EvidenceReport(
        id=evidence.id,
        kind=evidence.kind,
        title=evidence.title,
        outcome=finding.outcome,
        graded=evidence.graded,
        found=cut(plain(finding.found), LONGEST_TEXT) or "Nothing was said.",
        expected="" if passed else cut(plain(finding.expected or evidence.title), LONGEST_TEXT),
        next="" if passed else plain(finding.next or evidence.next),
        details=tuple(cut(plain(line)) for line in finding.details),
        seconds=finding.seconds,
        minutes=finding.minutes,
        cells=tuple(CellTime(plain(name), seconds) for name, seconds in finding.cells),
    )


def plain(text: str) -> str:
    """Take control characters, line breaks and this machine's paths out of a student's text."""
    return " ".join(_CONTROL.sub(" ", _PLACES.sub("…", text)).split())
