"""One submission on a bench: the lowest level at which a kind of evidence judges it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

from instructor.answer_key import AnswerKey, load_answer_key
from instructor.classroom import build_reference
from instructor.evidence import KINDS, Bench, Finding
from instructor.judging import Job, judge_submission
from instructor.report.model import Report
from instructor.submission import take_snapshot
from lab.workshop import Workshop

GATE, TESTS = "lab/plan_gate.py", "tests/test_plan_gate.py"
# Something done to a submission's folder.
Change = Callable[[Path], object]


def write(file: str, text: str | bytes) -> Change:
    def do(root: Path) -> object:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.write_bytes(text.encode() if isinstance(text, str) else text)

    return do


def prepend(file: str, text: str) -> Change:
    return lambda root: (root / file).write_text(text + (root / file).read_text("utf-8"), "utf-8")


def append(file: str, text: str) -> Change:
    return lambda root: (root / file).write_text((root / file).read_text("utf-8") + text, "utf-8")


def nest(folder: Path, levels: int) -> None:
    """Put a folder into a folder, so many times that a call for each is too many."""
    for _ in range(levels):
        folder /= "d"
        folder.mkdir(parents=True)


def put_on_bench(
    root: Path,
    place: Path,
    workshop: Workshop,
    answers: AnswerKey | None = None,
    seconds: float = 3,
) -> Bench:
    """Snapshot a submission and lay it on a bench; both stand below ``place``."""
    snapshot = take_snapshot(root, place / "snapshot", [workshop])
    scratch = place / "scratch"
    scratch.mkdir()
    key = answers or load_answer_key(workshop)
    return Bench(workshop, key, snapshot.path, scratch, seconds, cell_seconds=4)


def bench_with(
    workshop: Workshop,
    place: Path,
    files: dict[str, str],
    build: Callable[[list[Workshop], Path], None] = build_reference,
) -> Bench:
    """Hand in the reference, or what is built, with these files; give the bench it lies on."""
    build([workshop], place / "handed-in")
    for file, text in files.items():
        write(file, text)(place / "handed-in")
    return put_on_bench(place / "handed-in", place, workshop, seconds=10)


def few_answers(workshop: Workshop, gates: tuple[str, ...] = (), cases: int = 2) -> AnswerKey:
    """Give a key with some of the wrong gates, one rewrite, and a few cases of each verdict."""
    key = load_answer_key(workshop)
    kept = [
        case
        for rule in key.rules
        for verdict in ("accept", "reject")
        for case in [c for c in key.cases if (c.rule, c.verdict) == (rule, verdict)][:cases]
    ]
    wrong = tuple(gate for gate in key.wrong_gates if gate.id in gates)
    return replace(key, cases=tuple(kept), wrong_gates=wrong, rewrites=key.rewrites[:1])


def judged(name: str, bench: Bench) -> Finding:
    """Judge one evidence of the bench's workshop."""
    evidence = next(item for item in bench.workshop.evidence if item.id == name)
    return KINDS[evidence.kind](evidence, bench)


def findings(bench: Bench, kind: str) -> dict[str, Finding]:
    """Judge the evidence of one kind, by id."""
    rows = [item for item in bench.workshop.evidence if item.kind == kind]
    return {item.id: KINDS[kind](item, bench) for item in rows}


def report_on(
    root: Path,
    place: Path,
    workshop: Workshop,
    name: str = "validator.live",
    judge: Callable[[Job], Report] = judge_submission,
) -> Report:
    """Judge a submission as grading does, on one evidence alone."""
    evidence = next(item for item in workshop.evidence if item.id == name)
    alone = replace(workshop, evidence=(replace(evidence, needs=()),))
    scratch = place / "scratch"
    scratch.mkdir()
    return judge(Job("pair", root, (alone,), scratch, cell_seconds=20, seconds=3))


def changed(reference: Path, place: Path, *changes: Change) -> Path:
    """Give a finished submission with some things done to it."""
    root = Path(copytree(reference, place / "pair"))
    for change in changes:
        change(root)
    return root
