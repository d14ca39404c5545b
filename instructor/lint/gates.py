"""Lint of the gates: the reference decides every case, and a wrong gate loses what it says.

All of it runs in this process: a wrong gate is our own code. That our own tests catch each of them
is proven by grading, where they are the reference's (``instructor.lint.graded``).
"""

import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from instructor import CourseError
from instructor.answer_key import (
    AnswerKey,
    Case,
    WrongGate,
    build_gate,
    decide_case,
    load_answer_key,
    reference,
)
from instructor.evidence.cases import fault_of
from lab.replay import Decision
from lab.strict_json import same_json
from lab.workshop import Gate, Workshop, WorkshopError

# A test that asks for more than the contract passes on one right gate by chance, hardly on three.
FEWEST_REWRITES = 2


@dataclass(frozen=True)
class Failing:
    """A case, and what a gate says to it that is not what it should say."""

    case: Case
    decision: Decision


@dataclass(frozen=True)
class Desk:
    """The cases for a gate, what the reference says to each, and the graded evidence of a rule."""

    gate: Gate
    cases: tuple[Case, ...]
    right: Mapping[str, Decision]
    evidence: Mapping[str, str]

    def asked(self, *, graded: bool) -> Iterator[Case]:
        """Yield the cases that graded evidence asks for, or the others."""
        return (case for case in self.cases if (case.rule in self.evidence) == graded)

    def failing(self, module: types.ModuleType, cases: Iterable[Case]) -> Iterator[Failing]:
        """Decide cases with a gate; yield those that it does not decide as it should."""
        for case in cases:
            decision = decide_case(self.gate, module, case)
            if not _is_right(case, decision, self.right[case.id]):
                yield Failing(case, decision)

    def lost(self, failing: Iterable[Failing]) -> list[str]:
        """Name the graded evidence that a submission with these failing cases would lose."""
        rules = {one.case.rule for one in failing}
        return [name for rule, name in self.evidence.items() if rule in rules]


def answer_problems(workshop: Workshop) -> Iterator[str]:
    """Check the cases with the reference, then every wrong gate and rewrite with the cases."""
    try:
        answers = load_answer_key(workshop)
    except (CourseError, WorkshopError, ValueError) as error:
        yield str(error)
        return
    yield from _rule_problems(workshop, answers)
    desk = set_desk(workshop, answers)
    for case in desk.cases:
        if not _is_right(case, desk.right[case.id], desk.right[case.id]):
            yield f"The reference does not decide case {case.id} as it should."
    for wrong in answers.wrong_gates:
        yield from _wrong_gate_problems(wrong, desk)
    yield from _rewrite_problems(answers, desk)


def set_desk(workshop: Workshop, answers: AnswerKey) -> Desk:
    """Let the reference decide all cases that are about the gate."""
    gate = workshop.gate
    right = reference(gate)
    cases = tuple(c for c in answers.cases if answers.rules[c.rule].subject == "gate")
    asked = [item for item in workshop.evidence if item.kind == "cases" and item.graded]
    rules = {item.options["rule"]: item.id for item in asked}
    return Desk(
        gate,
        cases,
        {case.id: decide_case(gate, right, case) for case in cases},
        {rule: name for rule, name in rules.items() if answers.rules[rule].subject == "gate"},
    )


def _wrong_gate_problems(wrong: WrongGate, desk: Desk) -> Iterator[str]:
    """Check that a wrong gate loses what it says, and crashes only where that is its slip."""
    module = build_gate(desk.gate, wrong.source)
    failing = list(desk.failing(module, desk.asked(graded=True)))
    lost = desk.lost(failing)
    if set(lost) != set(wrong.loses):
        yield (
            f"The wrong gate {wrong.id} loses {_listed(lost)}; its loses says "
            f"{_listed(wrong.loses)}. Make it wrong in one way alone, take a second fault out of "
            "the cases, or mend loses."
        )
    if not lost and wrong.layer == "core":
        yield f"No graded case catches the wrong gate {wrong.id}."
    elif not lost and not any(desk.failing(module, desk.asked(graded=False))):
        yield f"No case catches the wrong gate {wrong.id}."
    crashed = [one.case.id for one in failing if one.decision.verdict == "crash"]
    if crashed and not wrong.crashes:
        yield f"The wrong gate {wrong.id} crashes on case {crashed[0]}, and that is not its slip."
    if wrong.crashes and not crashed:
        yield f"The wrong gate {wrong.id} crashes on no graded case, and that is its slip."


def _rewrite_problems(answers: AnswerKey, desk: Desk) -> Iterator[str]:
    """Check that there are rewrites of the reference, and that each is as right as it."""
    if len(answers.rewrites) < FEWEST_REWRITES:
        yield f"wrong_gates.toml needs {FEWEST_REWRITES} gates of the layer rewrite."
    for rewrite in answers.rewrites:
        for one in desk.failing(build_gate(desk.gate, rewrite.source), desk.cases):
            yield f"The rewrite {rewrite.id} does not decide case {one.case.id} as it should."


def _rule_problems(workshop: Workshop, answers: AnswerKey) -> Iterator[str]:
    """Check that each rule can be passed and failed, and that something asks for it."""
    for name, number in Counter(case.id for case in answers.cases).items():
        if number > 1:
            yield f"Case {name} stands {number} times."
    for rule in answers.rules.values():
        verdicts = {case.verdict for case in answers.cases if case.rule == rule.id}
        if verdicts != {"accept", "reject"}:
            yield f"Rule {rule.id} needs a case to accept and a case to refuse."
        if not any(e.options.get("rule") == rule.id for e in workshop.evidence):
            yield f"Rule {rule.id} is asked for by no evidence."


def _is_right(case: Case, decision: Decision, right: Decision) -> bool:
    """Tell whether a decision is the case's verdict and says of it what it must."""
    if fault_of(case, {"verdict": decision.verdict, "text": decision.text}):
        return False
    return case.verdict == "reject" or same_json(decision.seen, right.seen)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"
