"""The course lint: a copy of the course with one thing wrong gets the one problem said."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from instructor.classroom import load_pairs, load_workshops
from instructor.lint import data, graded
from instructor.report.model import BlockReport, EvidenceReport, Report, WorkshopReport
from instructor.report.weights import load_weights
from lab.workshop import load_workshop, workshop_ids
from tests.kit.command import COURSE, instructor

PLAN, NOTEBOOKS = "notebooks/plan_gate/timing.toml", "notebooks/plan_gate"
EVIDENCE = f"{NOTEBOOKS}/workshop.toml"
ANSWERS = "instructor/answers/plan_gate"
CASES, WRONG_GATES = f"{ANSWERS}/cases.json", f"{ANSWERS}/wrong_gates.toml"
HINTS = f"{NOTEBOOKS}/hints.toml"
FIRST = f"{NOTEBOOKS}/1_inventory_and_contract.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course with one of its workshops, whose own code runs in it."""
    others = [name for name in workshop_ids(COURSE) if name != "plan_gate"]
    ignore = shutil.ignore_patterns("__pycache__", "kit", "weights.toml", *others)
    for room in ("notebooks", "lab", "fixtures", "instructor", "tests"):
        shutil.copytree(COURSE / room, tmp_path / "course" / room, ignore=ignore)
    shutil.copy(COURSE / "LICENSE", tmp_path / "course")
    keep_core_gates(tmp_path / "course" / WRONG_GATES)
    return tmp_path / "course"


def keep_core_gates(file: Path) -> None:
    """Leave the stretch gates out: deciding all cases with each of them takes a second a run."""
    head, *gates = file.read_text(encoding="utf-8").split("[[gates]]\n")
    kept = [gate for gate in gates if 'layer = "stretch"' not in gate]
    file.write_text("[[gates]]\n".join([head, *kept]), encoding="utf-8")


def swap(file: str, old: str, new: str) -> Callable[[Path], object]:
    def do(course: Path) -> object:
        text = (course / file).read_text(encoding="utf-8")
        assert text.count(old) >= 1, old
        return (course / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    return do


def cell(change: Callable[[dict[str, object]], object]) -> Callable[[Path], object]:
    def do(course: Path) -> object:
        path = course / NOTEBOOKS / "1_inventory_and_contract.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        change(next(c for c in notebook["cells"] if c["id"] == "setup"))
        return path.write_text(json.dumps(notebook), encoding="utf-8")

    return do


def only_first_rung(course: Path) -> object:
    path = course / HINTS
    head, _, rest = path.read_text(encoding="utf-8").partition("rungs = [\n")
    first, _, others = rest.partition("\n")
    return path.write_text(f"{head}rungs = [{first}]{others.partition(']')[2]}", encoding="utf-8")


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "minutes": (swap(PLAN, "minutes = 80", "minutes = 79"), "the plan says 79"),
    "long": (swap(PLAN, "minutes = 80", "minutes = 90"), "90 is greater than the maximum of 80"),
    "cue": (swap(PLAN, "minute = 20", "minute = 30"), "minute 30 is not within 10 to 25"),
    "exercises": (swap(PLAN, "minutes = 7", "minutes = 6"), "exercises add up to 14, not 15"),
    "cut": (swap(PLAN, 'block = "contract"', 'block = "tests"'), "tests, which is to be kept"),
    "misspelt": (swap(PLAN, "objectives =", "objektives ="), "objektives"),
    "notebook": (
        swap(FIRST, '"minutes": 10', '"minutes": 11'),
        "its metadata do not say",
    ),
    "first": (
        swap(f"{NOTEBOOKS}/2_validator_and_tests.ipynb", "validator | 15 (25", "validator | 5 (25"),
        "does not say that “Implement the validator” has 15 minutes",
    ),
    "check": (
        swap(FIRST,
             'coach.check(\\"plan_gate\\", \\"contract',
             'coach.block(\\"plan_gate\\", \\"contract'),
        "no cell checks the outcome of contract",
    ),
    "needs": (
        swap(EVIDENCE, 'needs = ["validator"]', 'needs = ["debrief"]'),
        "tests.own needs 'debrief', which is no block before its own",
    ),
    "rewrite": (
        swap(WRONG_GATES, '\\"; \\".join(problems) + ', '\\"\\".join(problems)[:9] + '),
        "The rewrite rewrite-other-order does not decide case",
    ),
    "one_rewrite": (
        swap(WRONG_GATES, 'layer = "rewrite"', 'layer = "stretch"\nloses = []'),
        "needs 2 gates of the layer",
    ),
    "one_hint": (only_first_rung, "hints.toml, at $.ladders[0].rungs:"),
    "extra": (
        swap("notebooks/agent_loop/extra.toml", "script.json", "no.json"),
        "no.json is named in extra.toml and is not there",
    ),
    "outputs": (cell(lambda c: c.update(execution_count=1)), "cell setup has outputs or a count"),
    "tags": (cell(lambda c: c.update(metadata={"tags": ["x"]})), "cell setup has tags"),
    "id": (cell(lambda c: c.update(id="0a1b2c3d")), "cell id '0a1b2c3d' says nothing"),
    "case": (
        swap(CASES, '"id": "live-03", "rule": "live", "verdict": "reject"',
             '"id": "live-03", "rule": "live", "verdict": "accept"'),
        "The reference does not decide case live-03",
    ),
    "twice": (swap(CASES, '"live-04"', '"live-03"'), "Case live-03 stands 2 times"),
    "gate": (
        swap(WRONG_GATES, 'validate_bindings(plan))\\n", new = "" }]',
             'validate_bindings(plan))\\n", new = "    _refuse_if(validate_bindings(plan))\\n" }]'),
        "wrong gate bindings-not-wired loses nothing; its loses says validator.bindings",
    ),
    "crash": (
        swap(WRONG_GATES, "crashes = true\n", ""),
        "The wrong gate crashes crashes on case bindings-04, and that is not its slip",
    ),
    "old": (swap(WRONG_GATES, "arg {key}={value!r}", "arg {key}={val!r}"), "stands 0 times"),
    "orphan": (lambda c: (c / "fixtures/plan_gate/x.json").touch(), "x.json is there and nothing"),
    "missing": (lambda c: (c / "lab/dry_run.py").unlink(), "lab/dry_run.py is named"),
    "notes": (lambda c: (c / ANSWERS / "notes.md").unlink(), "notes.md is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_thing_is_said_and_the_check_exits_with_1(name: str, course: Path) -> None:
    do, said = WRONG[name]
    do(course)

    done = instructor("check", "--quick", cwd=course)

    assert done.code == 1, done.out + done.err
    assert said in done.out


def test_a_course_that_agrees_exits_with_0(course: Path) -> None:
    done = instructor("check", "--quick", cwd=course)

    assert (done.code, done.err) == (0, "")
    assert "✗" not in done.out


def report(name: str, outcome: str) -> Report:
    item = EvidenceReport("a.b", "suite", "t", outcome, True, "found", "", "")
    block = BlockReport("inventory", "Inventory", outcome, (item,))
    return Report(name, "C", (), (WorkshopReport("plan_gate", "Plan", (block,)),))


def test_a_block_that_passes_in_a_fresh_release_is_a_problem() -> None:
    assert list(graded._starts_red(report("x", "fail"))) == []
    assert len(list(graded._starts_red(report("x", "pass")))) == 1


def test_what_is_green_in_a_fresh_release_has_to_be_a_guard() -> None:
    (workshop,) = load_workshops(("plan_gate",))
    guards = [item.id for item in workshop.evidence if item.guard]
    weights = load_weights(None, [load_workshop(COURSE, name) for name in workshop_ids(COURSE)])

    def said(*names: str) -> list[str]:
        rows = tuple(EvidenceReport(n, "suite", "t", "pass", True, "f", "", "") for n in names)
        block = BlockReport("tests", "Tests", "fail", rows)
        made = Report("x", "C", (), (WorkshopReport("plan_gate", "Plan", (block,)),))
        return list(graded._earns_nothing(made, [workshop], weights))

    assert guards == ["tests.assumed", "tests.live", "tests.visible"]
    assert said(*guards) == []
    assert said(*guards[1:]) == [
        "plan_gate: tests.assumed is a guard, and does not pass in a fresh release."
    ]
    assert said(*guards, "tests.own") == [
        "plan_gate: tests.own passes before anybody has done anything, and is no guard.",
        "A fresh release earns 1 of 1 points.",
    ]


def test_a_block_of_guards_alone_is_a_problem() -> None:
    (workshop,) = load_workshops(("plan_gate",))
    guards = tuple(item for item in workshop.evidence if item.guard)
    ungraded = replace(guards[0], graded=False)

    assert list(data.guard_problems(workshop)) == []
    assert list(data.guard_problems(replace(workshop, evidence=guards))) == [
        "tests has only guards, which are green from the start."
    ]
    assert list(data.guard_problems(replace(workshop, evidence=(ungraded,)))) == [
        "tests.assumed is a guard and is not graded, so it guards nothing."
    ]


def test_a_reference_that_is_not_green_is_a_problem() -> None:
    assert list(graded._all_green(report("x", "pass"))) == []
    assert len(list(graded._all_green(report("x", "blocked")))) == 1


def test_evidence_that_is_never_red_or_never_green_is_a_problem() -> None:
    both = [report("x", "pass"), report("y", "fail")]

    assert list(graded._red_and_green(both)) == []
    assert list(graded._red_and_green(both[:1])) == ["No submission shows plan_gate: a.b as fail."]
    assert list(graded._red_and_green(both[1:])) == ["No submission shows plan_gate: a.b as pass."]


def test_a_pair_that_shows_something_else_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stray").mkdir()
    monkeypatch.setattr(graded, "CLASSROOM", tmp_path)
    pair = replace(load_pairs()[0], name="x", outcomes={"inventory": "pass"}, first="")

    right = graded._pairs([pair], {"x": report("x", "pass")})
    wrong = graded._pairs([pair], {"x": report("x", "fail")})

    assert sum(problem.startswith("x:") for problem in wrong) == 2
    assert right == ["fixtures/classroom/stray is not listed in class.toml."]
