"""The lint of hints: a ladder that is wrong in one way gets the one problem said."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from instructor.lint import hints
from instructor.study import load_solutions
from lab.hints import Ladder, load_ladders
from lab.workshop import Workshop
from tests.kit.command import COURSE

Ladders = tuple[Ladder, ...]


def change(name: str, /, **fields: object) -> Callable[[Ladders], Ladders]:
    def do(ladders: Ladders) -> Ladders:
        assert name in {ladder.exercise for ladder in ladders}
        return tuple(
            replace(ladder, **fields) if ladder.exercise == name else ladder  # type: ignore[arg-type]
            for ladder in ladders
        )

    return do


WRONG: dict[str, tuple[Callable[[Ladders], Ladders], str]] = {
    "no_hints": (lambda rows: rows[1:], "inventory has graded work and no hints."),
    "twice": (change("bindings", exercise="schema"), "The exercise schema stands twice"),
    "block": (change("limits", block="nowhere"), "limits: there is no block 'nowhere'."),
    "test": (change("tests", tests=("test_no",)), "test_no is no visible check of tests."),
    "file": (change("limits", files=("fixtures/no.json",)), "fixtures/no.json is no file of this"),
    "part": (change("gate", files=("lab/plan_gate.py::gate_plans",)), "it has no gate_plans"),
    "solution_only": (
        change("gate", files=("lab/plan_gate.py::_step_problems",)),
        "it has no _step_problems",
    ),
    "reasons": (change("limits", exercise="more_limits"), "more_limits: solutions.toml gives no"),
    "no_exercise": (change("limits", exercise="more_limits"), "reasons for 'limits', which is no"),
}


@pytest.mark.parametrize(("alter", "said"), WRONG.values(), ids=WRONG)
def test_a_ladder_that_is_wrong_is_a_problem(
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    alter: Callable[[Ladders], Ladders],
    said: str,
) -> None:
    ladders = alter(load_ladders(COURSE, workshop.id))
    monkeypatch.setattr(hints, "load_ladders", lambda *_: ladders)

    found = list(hints.problems(workshop))

    assert any(said in problem for problem in found), found


def test_the_hints_that_there_are_have_no_problem(workshop: Workshop) -> None:
    assert list(hints.problems(workshop)) == []
    assert load_solutions(workshop.id).pair == "finished"
