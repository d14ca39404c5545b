"""Our own way, piece by piece, in the sandbox that this machine has."""

import tempfile
from pathlib import Path

from instructor.answer_key import load_answer_key
from instructor.benchmark.spent import CASES, NOTEBOOKS, RUNS, SUITES, Judged, Spent
from instructor.evidence import Bench
from instructor.evidence.cases import asked_cases
from instructor.judging import judge_evidence
from instructor.sandbox.places import work_below
from instructor.submission import take_snapshot
from lab.workshop import Workshop


def judge_in_pieces(folder: Path, workshop: Workshop, scratch: Path) -> Judged:
    """Judge a submission one kind of evidence after the other, and time each."""
    work_below(scratch)
    answers = load_answer_key(workshop)
    spent = Spent()
    outcomes: dict[str, str] = {}
    with tempfile.TemporaryDirectory(dir=scratch) as place:
        snapshot = take_snapshot(folder, Path(place) / "snapshot", [workshop]).path
        bench = Bench(workshop, answers, snapshot, Path(place))
        for evidence, (kind, number) in _pieces(workshop).items():
            with spent.on(kind, number):
                found = judge_evidence(workshop, bench, (evidence,))
            outcomes |= {name: finding.outcome for name, finding in found.items()}
    return Judged(outcomes, spent)


def _pieces(workshop: Workshop) -> dict[str, tuple[str, int]]:
    """Say how many of each kind of work a submission is, counted as plain tools need them."""
    answers = load_answer_key(workshop)
    files = {
        kind: {item.options.get("file") for item in workshop.evidence if item.kind == kind}
        for kind in ("notebook", "suite", "wrong_gates")
    }
    asked = {
        (answers.rules[item.options["rule"]].subject, item.options.get("file", ""))
        for item in workshop.evidence
        if item.kind == "cases"
    }
    cases = [c for key in asked if key[0] != "data" for c in asked_cases(workshop, answers, *key)]
    gates = 1 + len(answers.wrong_gates) + len(answers.rewrites)
    return {
        "notebook": (NOTEBOOKS, len(files["notebook"])),
        "suite": (SUITES, len(files["suite"])),
        "wrong_gates": (RUNS, gates * len(files["wrong_gates"])),
        "cases": (CASES, len(cases)),
    }
