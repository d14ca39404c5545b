"""Studying alone: hints, solutions, a fresh start, progress, slips, watching, and coming back."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from instructor.answer_key import load_answer_key
from instructor.release import build, find_leaks, release, workspace_files
from instructor.study import study_files
from lab import guidance
from lab.cards import Line
from lab.hints import find_ladder, load_ladders
from lab.originals import give_back
from lab.parts import NoSuchPart, part_of, with_part
from lab.progress import ASIDE, NAME, Progress, keep_progress, read_progress
from lab.solutions import encode, load_study, study_file
from lab.workshop import Workshop, WorkshopError, load_workshop, workshop_ids
from tests.kit.command import COURSE
from tests.kit.conftest import NOW

GATE = "lab/plan_gate.py"
RED = (
    Line("one", "pass", name="a"),
    Line("two", "fail", name="test_each_binding_problem_has_its_message"),
)
GREEN = (Line("one", "pass", name="a"),)
WORKSHOPS = [load_workshop(COURSE, name) for name in workshop_ids(COURSE)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> Path:
    """A workspace for self-study; tests that change it take a copy."""
    target = tmp_path_factory.mktemp("alone") / "pair"
    release([workshop], target, NOW, study_files([workshop]))
    return target


@pytest.fixture
def mine(alone: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(alone, tmp_path / "mine"))


@pytest.fixture(autouse=True)
def _in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test of this process may have been the terminal's command."""
    monkeypatch.setattr(guidance._Words, "terminal", False)


# Hints


def test_each_call_climbs_one_hint_and_shows_those_below(
    workspace: Path, workshop: Workshop
) -> None:
    said = [str(guidance.hint(workspace, workshop, "bindings", again=False)) for _ in range(5)]

    assert [text.count("\n  1. ") for text in said] == [1] * 5
    assert [text.partition(": ")[2].partition(".")[0].rpartition(": ")[2] for text in said] == [
        "hint 1 of 4",
        "hint 2 of 4",
        "hint 3 of 4",
        "hint 4 of 4",
        "hint 4 of 4",
    ]
    assert 'One more: coach.hint("plan_gate", "bindings")' in said[2]
    assert "That was the last one. Ask your teacher." in said[3]


def test_hints_are_read_again_without_a_new_one(workspace: Path, workshop: Workshop) -> None:
    guidance.hint(workspace, workshop, "bindings", again=False)

    said = str(guidance.hint(workspace, workshop, "bindings", again=True))

    assert "hint 1 of 4" in said
    assert read_progress(workspace).seen("plan_gate", "bindings") == 1


def test_where_no_hint_was_shown_none_is_shown_again(workspace: Path, workshop: Workshop) -> None:
    said = str(guidance.hint(workspace, workshop, "bindings", again=True))

    assert "no hint yet. Found: none was shown. Expected: one, to show again. Next: " in said
    assert said.endswith('coach.hint("plan_gate", "bindings")')
    assert read_progress(workspace).seen("plan_gate", "bindings") == 0


def test_a_block_gives_the_hints_of_its_first_red_check(
    workspace: Path, workshop: Workshop
) -> None:
    first = str(guidance.hint(workspace, workshop, "validator", again=False))
    guidance.note_check(workspace, workshop, "validator", RED, NOW)

    assert "validate_schema" in first
    assert "validate_bindings" in str(guidance.hint(workspace, workshop, "validator", again=False))


def test_without_a_name_it_is_the_first_block_that_was_not_green(
    workspace: Path, workshop: Workshop
) -> None:
    guidance.note_check(workspace, workshop, "inventory", GREEN, NOW)

    assert "Freeze the schema" in str(guidance.hint(workspace, workshop, "", again=False))


def test_without_a_name_a_block_that_is_red_again_comes_first(
    workspace: Path, workshop: Workshop
) -> None:
    for block in workshop.blocks:
        guidance.note_check(workspace, workshop, block.id, GREEN, NOW)
    guidance.note_check(workspace, workshop, "validator", RED, NOW)

    assert "validate_bindings" in str(guidance.hint(workspace, workshop, "", again=False))


def test_a_red_check_decides_where_an_exercise_is_called_as_its_block() -> None:
    gate = load_workshop(COURSE, "assumption_gate")
    ladders = load_ladders(COURSE, gate.id)
    tests = next(ladder for ladder in ladders if ladder.exercise == "first_tests")

    assert find_ladder(ladders, gate, "gate", tests.tests[0]) == tests
    assert find_ladder(ladders, gate, "gate").exercise == "gate"


def test_an_exercise_that_is_not_there_names_those_that_are(
    workspace: Path, workshop: Workshop
) -> None:
    with pytest.raises(WorkshopError, match="Its exercises are: inventory, contract, schema"):
        guidance.hint(workspace, workshop, "nothing", again=False)


@pytest.mark.parametrize("workshop", WORKSHOPS, ids=lambda item: item.id)
def test_no_hint_holds_a_line_of_a_solution(workshop: Workshop) -> None:
    """Whatever stands in what pairs are given is no secret, in a finished file either."""
    secrets = lines_of_solutions(workshop)
    ladders = load_ladders(COURSE, workshop.id)

    assert len(secrets) > 20
    assert told([rung for ladder in ladders for rung in ladder.rungs], secrets) == []
    for ladder in ladders:
        assert len(ladder.rungs) >= 2
        assert len(set(ladder.rungs)) == len(ladder.rungs)
        assert not [rung for rung in ladder.rungs if "\n" in rung]


def test_a_hint_that_holds_a_line_of_a_solution_is_found(workshop: Workshop) -> None:
    ladder = next(x for x in load_ladders(COURSE, workshop.id) if x.exercise == "bindings")
    planted = 'facts = {fact["id"]: fact for fact in plan["facts"]}'
    secrets = lines_of_solutions(workshop)

    assert planted in secrets
    assert told([*ladder.rungs, f"Write `{planted}` before the loop."], secrets) == [planted]


def lines_of_solutions(workshop: Workshop) -> set[str]:
    """List what only solutions say: lines of 20 characters or more that no pair is given."""
    data = load_bytes(study_files([workshop])[study_file(workshop.id)])
    solutions: dict[str, dict[str, list[dict[str, str]]]] = data["solutions"]  # type: ignore[assignment]
    files = workspace_files([workshop])
    given = "\n".join(data.decode() for file, data in files if not file.endswith("hints.toml"))
    parts = [part["text"] for solution in solutions.values() for part in solution["parts"]]
    # What ends a line in its place, and not in a sentence, makes it no other line.
    lines = {line.strip().rstrip(",:") for text in parts for line in text.splitlines()}
    return {line for line in lines if len(line) >= 20 and line not in given}


def told(rungs: list[str], secrets: set[str]) -> list[str]:
    return [line for rung in rungs for line in sorted(secrets) if line in rung]


def load_bytes(data: bytes) -> dict[str, object]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / study_file("x")
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        loaded = load_study(Path(folder), "x")
    assert loaded is not None
    return loaded


# Solutions


def test_a_classroom_has_no_solutions_and_says_so(workspace: Path, workshop: Workshop) -> None:
    try_often(workspace, workshop, RED, 3)

    said = str(guidance.solution(workspace, workshop, "bindings"))

    assert "Found: no solutions; this workspace was made for a class." in said
    assert "Next: ask your teacher" in said
    assert not (workspace / ".lab" / "study").exists()


@pytest.mark.parametrize(
    ("lines", "times", "shown"), [(RED, 2, False), (RED, 3, True), (GREEN, 1, True)]
)
def test_a_solution_comes_after_success_or_three_tries(
    mine: Path, workshop: Workshop, lines: tuple[Line, ...], times: int, shown: bool
) -> None:
    try_often(mine, workshop, lines, times)

    said = str(guidance.solution(mine, workshop, "bindings"))

    assert ("def validate_bindings" in said) == shown
    assert ("Why so: Only the facts that a step refers to" in said) == shown
    assert ("Expected: a green one, or 3 red ones" in said) != shown


def test_the_same_files_checked_again_are_one_try(mine: Path, workshop: Workshop) -> None:
    """As where a notebook is run from top to bottom; line endings are no edit either."""
    try_often(mine, workshop, RED, 2)
    gate = mine / GATE
    for data in (gate.read_bytes(), gate.read_bytes().replace(b"\n", b"\r\n")):
        gate.write_bytes(data)
        guidance.note_check(mine, workshop, "validator", RED, NOW)

    notes = read_progress(mine).block("plan_gate", "validator")

    assert (notes.tries, notes.outcome) == (2, "fail")
    assert "2 red checks of" in str(guidance.solution(mine, workshop, "bindings"))


def test_a_check_of_one_block_is_no_try_of_another(mine: Path, workshop: Workshop) -> None:
    for block in ("validator", "contract"):
        guidance.note_check(mine, workshop, block, RED, NOW)

    notes = read_progress(mine)

    assert [notes.block("plan_gate", name).tries for name in ("validator", "contract")] == [1, 1]


def try_often(root: Path, workshop: Workshop, lines: tuple[Line, ...], times: int) -> None:
    """Edit the gate and check, as often as that."""
    for _ in range(times):
        with (root / GATE).open("a", encoding="utf-8") as gate:
            gate.write("# another try\n")
        guidance.note_check(root, workshop, "validator", lines, NOW)


def test_self_study_holds_only_the_wrong_gates_that_are_shown(workshop: Workshop) -> None:
    data = load_bytes(study_files([workshop])[study_file(workshop.id)])
    gates = load_answer_key(workshop).wrong_gates
    shown: list[dict[str, str]] = data["wrong_gates"]  # type: ignore[assignment]

    assert data.keys() == {"solutions", "reference", "wrong_gates", "beside"}
    assert [row["slip"] for row in shown] == [g.slip for g in gates if g.layer == "core"]
    assert len(shown) < len(gates)


def test_nothing_of_a_solution_stands_in_plain_sight(alone: Path, workshop: Workshop) -> None:
    study = study_files([workshop])

    assert list(find_leaks([workshop], alone, study)) == []
    text = (alone / study_file(workshop.id)).read_text(encoding="utf-8")
    assert text.startswith("# Solutions and wrong gates for self-study, encoded")
    assert "validate" not in text


def test_self_study_data_in_a_classroom_is_a_leak(alone: Path, workshop: Workshop) -> None:
    found = {leak.file for leak in find_leaks([workshop], alone)}

    assert found == {study_file(workshop.id)}


def test_encoded_text_anywhere_in_a_release_is_a_leak(tmp_path: Path, workshop: Workshop) -> None:
    build([workshop], tmp_path / "pair")
    notebook = tmp_path / "pair" / "notebooks" / "plan_gate" / "2_validator_and_tests.ipynb"
    with notebook.open("ab") as file:
        file.write(encode({"answer": [f"line {number} of it" for number in range(40)]}))

    found = [leak.found for leak in find_leaks([workshop], tmp_path / "pair")]

    assert found == ["it holds encoded text, which nobody can look through"]


@pytest.mark.parametrize("workshop", WORKSHOPS, ids=lambda item: item.id)
def test_every_timed_exercise_has_a_solution_that_is_no_stub(workshop: Workshop) -> None:
    data = load_bytes(study_files([workshop])[study_file(workshop.id)])
    solutions: dict[str, dict[str, list[dict[str, str]]]] = data["solutions"]  # type: ignore[assignment]
    timed = {block.id for block in workshop.blocks}
    wanted = {item.exercise for item in load_ladders(COURSE, workshop.id) if item.block in timed}

    assert wanted <= solutions.keys()
    for name in wanted:
        for part in solutions[name]["parts"]:
            assert "not written yet" not in part["text"], name
            assert "### " not in part["text"], name


# A fresh start


def test_one_function_is_given_back_and_the_rest_stays(workspace: Path) -> None:
    path = workspace / GATE
    released = path.read_text(encoding="utf-8")
    edited = released.replace('"validate_bindings is not written yet"', '"ours"')
    path.write_text(edited.replace('"[]: validate_schema is not written yet"', '"kept"'), "utf-8")
    mine = path.read_bytes()

    given = give_back(workspace, (f"{GATE}::validate_bindings",), NOW)

    assert given.files == (f"validate_bindings in {GATE}",)
    assert (workspace / given.kept / GATE).read_bytes() == mine
    assert given.kept == "kept/2026-09-05_120000"
    text = path.read_text(encoding="utf-8")
    assert text == released.replace('"[]: validate_schema is not written yet"', '"kept"')


@pytest.mark.parametrize("content", ["def broken(:\n", "x = 1\n", ""])
def test_where_the_function_cannot_be_found_the_whole_file_comes_back(
    workspace: Path, content: str
) -> None:
    released = (workspace / GATE).read_bytes()
    (workspace / GATE).write_text(content)

    given = give_back(workspace, (f"{GATE}::validate_bindings",), NOW)

    assert given.files[0].startswith(f"{GATE}, all of it: it ")
    assert (workspace / GATE).read_bytes() == released


def test_a_deleted_file_comes_back_and_two_resets_keep_both(workspace: Path) -> None:
    path = workspace / "fixtures" / "plan_gate" / "limits.json"
    released = path.read_bytes()
    kept = []
    for content in (b"1", b"2"):
        path.write_bytes(content)
        kept.append(give_back(workspace, ("fixtures/plan_gate/limits.json",), NOW).kept)
    path.unlink()

    assert give_back(workspace, ("fixtures/plan_gate/limits.json",), NOW).kept == ""
    assert path.read_bytes() == released
    assert kept == ["kept/2026-09-05_120000", "kept/2026-09-05_120000-2"]
    assert [(workspace / k / "fixtures/plan_gate/limits.json").read_bytes() for k in kept] == [
        b"1", b"2"
    ]  # fmt: skip


def test_nothing_is_changed_where_there_is_nothing_to_give_back(workspace: Path) -> None:
    shutil.rmtree(workspace / ".lab")
    (workspace / GATE).write_text("mine")

    with pytest.raises(WorkshopError, match="Expected: the released files"):
        give_back(workspace, (GATE,), NOW)

    assert (workspace / GATE).read_text() == "mine"
    assert not (workspace / "kept").exists()


@pytest.mark.parametrize("workshop", WORKSHOPS, ids=lambda item: item.id)
def test_every_exercise_can_be_given_back(tmp_path: Path, workshop: Workshop) -> None:
    build([workshop], tmp_path / "pair")
    before = {p: p.read_bytes() for p in (tmp_path / "pair").rglob("*") if p.is_file()}

    for ladder in load_ladders(tmp_path / "pair", workshop.id):
        given = give_back(tmp_path / "pair", ladder.files, NOW)
        assert not [text for text in given.files if "all of it" in text]

    assert all(path.read_bytes() == data for path, data in before.items())


SOURCE = """import os

@wrap
def one():
    return '\u2028'


class Two:
    x = 1

    def three(self):
        pass
"""


def test_a_part_is_found_with_its_decorators_and_inside_a_class() -> None:
    assert part_of(SOURCE, "one") == "@wrap\ndef one():\n    return '\u2028'\n"
    assert part_of(SOURCE, "Two.three") == "    def three(self):\n        pass\n"
    assert part_of(SOURCE.replace("\n", "\r\n"), "one").startswith("@wrap\r\ndef one")
    assert with_part(SOURCE, "one", "one = 1\n") == SOURCE.replace(
        part_of(SOURCE, "one"), "one = 1\n"
    )


@pytest.mark.parametrize("name", ["three", "Two.four", "one.two", "x"])
def test_a_part_that_is_not_there_is_said(name: str) -> None:
    with pytest.raises(NoSuchPart, match=f"it has no {name}"):
        part_of(SOURCE, name)


# Progress


def test_progress_tells_red_checks_minutes_and_hints(workspace: Path, workshop: Workshop) -> None:
    guidance.hint(workspace, workshop, "inventory", again=False)
    guidance.note_check(workspace, workshop, "inventory", RED, NOW)
    guidance.note_check(workspace, workshop, "inventory", GREEN, NOW + timedelta(minutes=7))
    guidance.note_check(workspace, workshop, "contract", RED, NOW)
    guidance.note_check(workspace, workshop, "debrief", (Line("three", "blocked", name="b"),), NOW)

    said = str(guidance.progress(workspace, workshop))

    assert "1 of 6 blocks are green" in said
    assert "✓ Inventory one real tool: 7 of 10 min, 1 red check, 1 hint" in said
    assert "✗ Freeze the plan contract: 1 red check" in said
    assert "… Debrief the limits" in said
    assert "· Implement the validator: not checked yet" in said


def test_a_block_that_turns_red_again_stays_reached_and_is_shown_red(
    workspace: Path, workshop: Workshop
) -> None:
    guidance.note_check(workspace, workshop, "inventory", GREEN, NOW)
    guidance.note_check(workspace, workshop, "inventory", RED, NOW)

    notes = read_progress(workspace).block("plan_gate", "inventory")

    assert (notes.outcome, notes.minutes, notes.tries) == ("fail", 0, 1)


def test_a_broken_file_of_notes_is_put_aside_and_said_once(
    workspace: Path, workshop: Workshop
) -> None:
    (workspace / NAME).write_text("{")

    said = guidance.note_check(workspace, workshop, "inventory", GREEN, NOW)

    assert "Found: .lab/progress.json cannot be read" in said
    assert (workspace / ASIDE).read_text() == "{"
    assert guidance.note_check(workspace, workshop, "inventory", GREEN, NOW) == ""


def test_the_course_itself_keeps_no_notes(tmp_path: Path) -> None:
    keep_progress(tmp_path, Progress().opened("a", "b", datetime.now(UTC)))

    assert list(tmp_path.iterdir()) == []
