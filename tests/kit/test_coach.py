"""The coach, as a notebook calls it: red, then green, in one process, and never a traceback."""

from pathlib import Path

import pytest

from lab.cards import Card, Line, Note
from lab.coach import MORE_INPUTS
from tests.kit.command import COURSE, in_workspace

SAY = "from lab import coach\n"


def say(workspace: Path, code: str) -> str:
    done = in_workspace(workspace, "-c", SAY + code)
    assert (done.code, done.err) == (0, ""), done.err
    return done.out


def check(block: str) -> str:
    return f"print(coach.check('plan_gate', '{block}'))\n"


def test_a_check_turns_green_after_a_save_without_a_restart(workspace: Path) -> None:
    source = COURSE / "fixtures" / "plan_gate" / "inventory.json"
    save = (
        f"import pathlib\ntext = pathlib.Path({str(source)!r}).read_text()\n"
        "pathlib.Path('fixtures/plan_gate/inventory.json').write_text(text)\n"
    )

    out = say(workspace, check("inventory") + save + check("inventory"))

    assert "0 of 4 checks pass" in out
    assert "Found: inventory.json does not have its form yet" in out
    assert "Next: Open fixtures/plan_gate/inventory.json" in out
    assert "4 of 4 checks pass. Grading adds 1 check that runs only there." in out
    assert out.count(MORE_INPUTS) == 1


def test_an_edit_of_the_gate_is_seen_at_once(workspace: Path) -> None:
    edit = (
        "import pathlib\npath = pathlib.Path('lab/plan_gate.py')\n"
        "text = path.read_text().replace('gate_plan is not written yet', 'now it says this')\n"
        "path.write_text(text)\n"
    )
    look = "print(coach.try_gate('plan_gate', 'valid_plan.json', predict='accept'))\n"

    out = say(workspace, look + edit + look)

    assert "refused, and you predicted: accept" in out
    assert "gate_plan is not written yet" in out
    assert "now it says this" in out


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("lab/plan_gate.py", "def broken(:\n", "SyntaxError"),
        ("lab/plan_gate.py", "import sys\nsys.exit()\n", "SystemExit"),
        ("lab/plan_gate.py", "", "gate_plan"),
        ("lab/plan_gate.py", None, "No module named 'lab.plan_gate'"),
        ("fixtures/plan_gate/valid_plan.json", "[]", "valid_plan.json is not what it was"),
        ("fixtures/plan_gate/valid_plan.json", "{", "valid_plan.json is not JSON"),
        ("fixtures/plan_gate/valid_plan.json", None, "valid_plan.json is missing"),
        ("tests/test_plan_gate_outcomes.py", None, "is missing. Get it back"),
        ("tests/test_plan_gate_outcomes.py", "def (", "SyntaxError"),
        ("notebooks/plan_gate/workshop.toml", "[", "workshop.toml cannot be read"),
        ("notebooks/plan_gate/timing.toml", None, "there is no workshop 'plan_gate' here"),
    ],
)
def test_whatever_a_file_holds_the_check_says_so_without_a_traceback(
    workspace: Path, file: str, content: str | None, said: str
) -> None:
    if content is None:
        (workspace / file).unlink()
    else:
        (workspace / file).write_text(content)

    out = say(workspace, check("validator"))

    assert said in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("coach.try_gate('plan_gate', 'valid_plan.json', predict='maybe')", "Predict first"),
        (
            "coach.try_gate('plan_gate', 'no.json', predict='refuse')",
            "there is no file fixtures/plan_gate/no.json",
        ),
        ("coach.try_gate('nothing', 'no.json', predict='refuse')", "there is no workshop"),
        ("coach.compare('plan_gate', 'valid_plan.json', 'no.json')", "no.json cannot be read"),
        ("coach.compare('plan_gate', 'valid_plan.json', 'live_plan.json')", "differ in 1 value."),
        ("coach.block('plan_gate', 'contract')", "15 minutes (minutes 10 to 25)"),
        ("coach.block('plan_gate', 'no')", "Its blocks are: inventory, contract"),
        ("coach.check('plan_gate', 'no')", "Its blocks are: inventory, contract"),
    ],
)
def test_a_call_that_is_wrong_says_what_is_right(workspace: Path, code: str, said: str) -> None:
    assert said in say(workspace, f"print({code})")


def test_what_builds_on_another_block_waits_for_it(workspace: Path) -> None:
    out = say(workspace, check("debrief"))

    assert "… Your own gate accepts the wrong plan too" in out
    assert "Next: Finish “Implement the validator” first." in out


def test_cards_and_notes_escape_what_they_show() -> None:
    script = "<script>alert(1)</script>"
    card = Card(script, (Line(script, "fail", script, script, script),))

    shown = card._repr_html_() + Note(script, script)._repr_html_()

    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_a_card_without_lines_is_no_pass() -> None:
    assert not Card("nothing", ()).passed


def test_lab_check_says_it_in_a_terminal_and_exits_with_1_while_red(workspace: Path) -> None:
    done = in_workspace(workspace, "-m", "lab", "check", "plan_gate")

    assert done.code == 1
    assert "Inventory one real tool: 0 of 4 checks pass." in done.out
    assert MORE_INPUTS not in done.out
    assert "Traceback" not in done.out + done.err


def test_lab_check_is_green_and_exits_with_0_when_all_is_done(finished: Path) -> None:
    done = in_workspace(finished, "-m", "lab", "check", "plan_gate")

    assert (done.code, done.err) == (0, "")
    assert "✗" not in done.out
    # Inventory, contract and validator are asked about hidden inputs; their cards say so.
    assert done.out.count(MORE_INPUTS) == 3


@pytest.mark.parametrize("arguments", [["no_such"], ["plan_gate", "no_such"]])
def test_lab_check_of_something_unknown_names_what_there_is(
    workspace: Path, arguments: list[str]
) -> None:
    done = in_workspace(workspace, "-m", "lab", "check", *arguments)

    assert done.code == 2
    assert "plan_gate" in done.err
    assert "Traceback" not in done.err
