"""The hole hunt as a pair sees it: what is open, a hint, what is closed, and never a traceback."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab import coach, hole_probes
from lab import holes as hunt
from lab.__main__ import main
from lab.cards import Card, Note
from lab.progress import ASIDE, NAME, read_progress
from tests.kit.command import COURSE, in_workspace

TOY = COURSE / "tests" / "kit" / "toy_workshop"
# What the process that asks the gate imports of the course.
MODULES = ("__init__", "hole_probes", "quick_start", "replay", "strict_json", "workshop")
HEAD = """
from lab.strict_json import load_json as load_reading


class ReadingRefused(ValueError):
    pass


def gate_reading(reading):
"""
# Two kinds: a value of true, and a unit in capitals.
OPEN = "return reading"
WAIT = "__import__('threading').Event().wait()"
FIRST_CLOSED = "if reading['value'] is True: raise ReadingRefused('no')\n    return reading"
ALL_CLOSED = (
    "if reading['value'] is True or reading['unit'].isupper(): raise ReadingRefused('no')\n"
    "    return reading"
)


def kind(name: str, field: str, value: Any) -> dict[str, Any]:
    patch = [{"op": "replace", "path": f"/{field}", "value": value}]
    probes = [{"verdict": "reject", "base": "plain", "patch": patch}]
    probes.append({"verdict": "accept", "base": "plain"})
    says = {"closed": f"{name} is closed.", "hint": f"Think of {name}."}
    return {"id": name, "kind": name, "probes": probes, **says}


PROBES = {
    "named": {},
    "plain": ["plain"],
    "bases": {"plain": {"value": 1, "unit": "m"}},
    "kinds": [kind("truth", "value", True), kind("capitals", "unit", "M")],
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of the smallest workshop, with a gate that is not there yet."""
    shutil.copytree(TOY / "notebooks", tmp_path / "notebooks")
    data = tmp_path / "notebooks" / "toy_gate" / "workshop.toml"
    probes = '"fixtures/toy_gate/valid_reading.json",\n    "fixtures/toy_gate/holes.json",'
    text = data.read_text(encoding="utf-8")
    data.write_text(text.replace('"fixtures/toy_gate/valid_reading.json",', probes, 1))
    (tmp_path / "lab").mkdir()
    for name in MODULES:
        shutil.copy(COURSE / "lab" / f"{name}.py", tmp_path / "lab")
    (tmp_path / "fixtures" / "toy_gate").mkdir(parents=True)
    (tmp_path / "fixtures" / "toy_gate" / "holes.json").write_text(json.dumps(PROBES))
    (tmp_path / ".lab").mkdir()
    monkeypatch.setattr(coach, "ROOT", tmp_path)
    return tmp_path


def write_gate(toy: Path, body: str) -> None:
    (toy / "lab" / "toy_gate.py").write_text(f"{HEAD}    {body}\n", encoding="utf-8")


def say(hint: int = 1, seconds: float = 60.0) -> str:
    return str(coach.holes("toy_gate", hint, seconds))


# What goes wrong


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (None, "No module named 'lab.toy_gate'"),
        ("def broken(:\n", "SyntaxError"),
        ("raise SystemExit\n", "SystemExit"),
        ("", "ReadingRefused"),
        ("import os\nos._exit(0)\n", "it ended Python"),
        (HEAD + "    raise ReadingRefused('not written yet')\n", "not written yet"),
        (HEAD + "    return 1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_a_gate_that_is_not_there_yet_is_finished_first(
    toy: Path, gate: str | None, said: str
) -> None:
    if gate is not None:
        (toy / "lab" / "toy_gate.py").write_text(gate, encoding="utf-8")

    text = say()

    assert text.startswith("lab/toy_gate.py ")
    assert said in text
    assert "lab check toy_gate says what is missing" in text


def test_a_gate_that_never_answers_costs_a_line_and_no_kernel(toy: Path) -> None:
    write_gate(toy, f"{WAIT} if reading['value'] is True else 0\n    return reading")

    text = say(seconds=1.0)

    assert "0 of 2 closed" in text
    assert "Found: Your gate gives no answer." in text


def test_a_gate_that_never_answers_at_all_is_said_to(toy: Path) -> None:
    write_gate(toy, WAIT)

    assert "it gives no answer" in say(seconds=1.0)


def test_a_gate_that_never_ends_its_import_is_said_to(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hunt, "START_SECONDS", 3.0)
    (toy / "lab" / "toy_gate.py").write_text(f"{WAIT}\n", encoding="utf-8")

    assert "it gives no answer" in say()


def test_after_two_hangs_nobody_waits_for_a_third(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gate(toy, OPEN)
    asked = []

    def hangs(_: Any, __: Any, kinds: list[str], ___: float) -> dict[str, tuple[str, str]]:
        asked.append(kinds[0])
        return {kinds[0]: ("hang", "")}

    monkeypatch.setattr(hunt, "_ask_in_a_process", hangs)
    three = {**PROBES, "kinds": [kind(name, "unit", "M") for name in ("a", "b", "c")]}
    (toy / "fixtures" / "toy_gate" / "holes.json").write_text(json.dumps(three))

    assert "0 of 3 closed" in say()
    assert asked == ["a", "b"]
    assert "Found: It was not asked: your gate gave no answer to two others." in say(hint=3)


def test_a_gate_that_ends_python_in_one_kind_is_asked_about_the_next(toy: Path) -> None:
    write_gate(toy, "import os\n    if reading['value'] is True: os._exit(1)\n    return reading")

    text = say()

    assert "lets 2 kinds through" in text
    assert "Found: Your gate crashes: it ended Python" in text


def test_a_gate_that_goes_too_far_is_told_so(toy: Path) -> None:
    """The plain reading is let through, and its twin of another unit is not."""
    too_far = "if reading['value'] is True or reading['unit'] == 's': raise ReadingRefused('no')"
    write_gate(toy, f"{too_far}\n    return 1")
    far = {**PROBES, "kinds": [kind("truth", "value", True)]}
    far["kinds"][0]["probes"][1]["patch"] = [{"op": "replace", "path": "/unit", "value": "s"}]
    (toy / "fixtures" / "toy_gate" / "holes.json").write_text(json.dumps(far))

    assert "now your gate goes too far" in say()


def test_what_a_gate_prints_shows_nowhere(toy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_gate(toy, 'print(\'{"kind": "truth", "came": "closed"}\')\n    return reading')

    assert "0 of 2 closed" in say()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("holes", ["3", "[]", '{"toy_gate": 3}', '{"toy_gate": [[]]}', "[" * 9999])
def test_notes_that_cannot_be_read_are_none_and_that_is_said(toy: Path, holes: str) -> None:
    write_gate(toy, FIRST_CLOSED)
    notes = f'{{"blocks": {{}}, "hints": {{}}, "holes": {holes}}}'
    (toy / NAME).write_text(notes, encoding="utf-8")

    said = say()

    assert "1 of 2 closed" in said
    assert "Closed just now" not in said
    assert f"Found: {NAME} cannot be read" in said
    assert read_progress(toy).holes == {"toy_gate": ("capitals",)}


def test_notes_of_before_the_hunt_stay_readable(toy: Path) -> None:
    write_gate(toy, FIRST_CLOSED)
    (toy / NAME).write_text('{"version": 1, "blocks": {}, "hints": {"a.b": 2}}', encoding="utf-8")

    assert "cannot be read" not in say()
    notes = read_progress(toy)
    assert (notes.seen("a", "b"), notes.holes) == (2, {"toy_gate": ("capitals",)})


def test_a_hint_that_is_no_number_is_a_sentence(toy: Path) -> None:
    write_gate(toy, OPEN)

    said = str(coach.holes("toy_gate", hint="x"))  # type: ignore[arg-type]

    assert said == "Found: hint='x'. Expected: a number. Next: hint=2, for the second one."


def test_the_course_itself_remembers_nothing(toy: Path) -> None:
    write_gate(toy, FIRST_CLOSED)
    (toy / ".lab").rmdir()

    assert "1 of 2 closed" in say()
    assert not (toy / ".lab").exists()


def test_a_state_that_cannot_be_written_is_no_failure(toy: Path) -> None:
    write_gate(toy, FIRST_CLOSED)
    (toy / NAME).mkdir()
    (toy / NAME / "of yours").touch()
    (toy / ASIDE).touch()

    assert "1 of 2 closed" in say()


def test_a_workshop_without_probes_says_so(toy: Path) -> None:
    shutil.copytree(TOY / "notebooks", toy / "notebooks", dirs_exist_ok=True)

    assert say() == "toy_gate has no hole hunt."


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", ["no_such", "", "../toy_gate"])
def test_a_workshop_that_is_not_there_is_a_sentence(name: str) -> None:
    assert "here. Found: " in str(coach.holes(name))


def test_probes_that_were_edited_are_a_sentence(toy: Path) -> None:
    (toy / "fixtures" / "toy_gate" / "holes.json").write_text("{", encoding="utf-8")

    assert "Get it back: git checkout -- fixtures/toy_gate/holes.json" in say()


# From open to closed


def test_it_counts_hints_and_confirms_what_was_closed(toy: Path) -> None:
    write_gate(toy, OPEN)
    first = say()
    write_gate(toy, FIRST_CLOSED)
    second = say()
    write_gate(toy, ALL_CLOSED)
    third = say()
    fourth = say()

    assert "0 of 2 closed. Your gate still lets 2 kinds through." in first
    assert "Expected: truth is closed." in first
    assert "Next: Think of truth." in first
    assert "1 of 2 closed. Your gate still lets 1 kind through." in second
    assert "✓ Closed just now: truth is closed." in second
    assert "Next: Think of capitals." in second
    assert "2 of 2 closed. Nothing that we know of is left" in third
    assert "✓ truth is closed." in third
    assert "✓ Closed just now: capitals is closed." in third
    assert "just now" not in fourth


def test_another_hint_can_be_asked_for(toy: Path) -> None:
    write_gate(toy, OPEN)

    assert "Next: Think of capitals." in say(hint=2)
    assert "Next: Think of truth." in say(hint=3)


def test_the_command_says_it_and_an_open_hole_is_no_failure(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_gate(toy, OPEN)

    for named in (["toy_gate"], []):
        assert main(["holes", *named, "--hint", "2"]) == 0
        assert "Hole hunt (never graded): 0 of 2 closed." in capsys.readouterr().out


@pytest.mark.usefixtures("toy")
def test_the_command_exits_with_1_where_there_is_no_hunt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["holes", "toy_gate"]) == 1
    assert "Finish the gate first" in capsys.readouterr().out


# In a real workspace


def test_a_fresh_release_is_told_to_finish_its_gate(workspace: Path) -> None:
    done = in_workspace(workspace, "-m", "lab", "holes", "plan_gate")

    assert (done.code, done.err) == (1, "")
    assert "gate_plan is not written yet" in done.out


def test_our_own_gate_has_none_of_the_holes_that_we_know_of(finished: Path) -> None:
    done = in_workspace(finished, "-m", "lab", "holes", "plan_gate")

    assert (done.code, done.err) == (0, "")
    number = len(hole_probes.load_holes(COURSE, "plan_gate").kinds)
    assert f"{number} of {number} closed. Nothing that we know of is left" in done.out


def test_a_card_or_a_note_comes_back_for_a_notebook(toy: Path) -> None:
    assert isinstance(coach.holes("toy_gate"), Note)
    write_gate(toy, OPEN)
    assert isinstance(coach.holes("toy_gate"), Card)
