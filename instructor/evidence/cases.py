"""Evidence ``cases``: hidden inputs, grouped by the rule that they are about.

The sandbox gets each input and returns a verdict and a text; they are compared here. What a report
says comes from the rule's own words, so no hidden input can show.
"""

import base64
import functools
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from instructor.answer_key import AnswerKey, Case, Rule, decide_case, reference
from instructor.evidence.bench import Bench, Finding, Unusable
from instructor.evidence.desk import Rows
from instructor.sandbox.process import Message
from lab.replay import decide
from lab.strict_json import same_json
from lab.suite import cut
from lab.workshop import Evidence, Gate, Workshop

# Marks the ids of a case that is decided a second and a third time.
AGAIN = (" again", " and again")


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Judge the cases of one rule on what the submission said to them."""
    rule = bench.answers.rules[evidence.options["rule"]]
    try:
        rows = _replay(rule, evidence, bench)
    except Unusable as error:
        return Finding("fail", str(error), rule.expected)
    if rows.trouble:
        file = bench.workshop.gate.file
        return Finding("fail", f"{file} cannot be used: {cut(rows.trouble, 300)}.", rule.expected)
    cases = [case for case in bench.answers.cases if case.rule == rule.id]
    return _finding(rule, cases, rows.answers, bench)


def _replay(rule: Rule, evidence: Evidence, bench: Bench) -> Rows:
    """Replay the cases of every rule that the workshop asks of one subject and file, once."""
    file = evidence.options.get("file", "")
    if (rule.subject, file) not in bench.replays:
        cases = asked_cases(bench.workshop, bench.answers, rule.subject, file)
        replay = {"gate": _replay_gate, "schema": _replay_schema, "data": _replay_data}
        bench.replays[rule.subject, file] = replay[rule.subject](cases, evidence, bench)
    return bench.replays[rule.subject, file]


def asked_cases(workshop: Workshop, answers: AnswerKey, subject: str, file: str) -> list[Case]:
    """List the cases that a workshop asks of one subject and file."""
    asked = {
        item.options["rule"]
        for item in workshop.evidence
        if item.kind == "cases" and item.options.get("file", "") == file
    }
    rules = answers.rules
    return [c for c in answers.cases if c.rule in asked and rules[c.rule].subject == subject]


def gate_names(gate: Gate) -> Message:
    """Give what a process has to know of a gate to ask it."""
    return {name: getattr(gate, name) for name in ("module", "error", "load", "decide", "probe")}


def _replay_gate(cases: list[Case], _: Evidence, bench: Bench) -> Rows:
    gate = bench.workshop.gate
    if not (bench.snapshot / gate.file).is_file():
        raise Unusable(f"{gate.file} is missing.")
    rows = [_gate_input(case) for case in cases]
    # Once more in another process, there and back: a right gate has no memory of what it was asked,
    # and no order puts every case after those that it could remember.
    job = {"kind": "gate", "gate": gate_names(gate)}
    first = _run_cases(job, rows, bench)
    if first.trouble:
        return first
    again = [
        {**row, "id": f"{row['id']}{mark}"}
        for mark, order in zip(AGAIN, (rows[::-1], rows), strict=True)
        for row in order
    ]
    second = _run_cases(job, again, bench)
    return Rows({**first.answers, **second.answers})


def _run_cases(job: Message, rows: list[Message], bench: Bench) -> Rows:
    """Run the cases in one child, each with a share of the time limit of its own."""
    seconds = bench.seconds / 5
    return bench.run_rows(job, rows, seconds, bench.seconds + seconds * len(rows) / 10)


def _gate_input(case: Case) -> Message:
    row: Message = {"id": case.id, "document": case.document, "named": case.named}
    if case.text is not None:
        row["text"] = base64.b64encode(case.text.encode()).decode()
    return row


def _replay_schema(cases: list[Case], evidence: Evidence, bench: Bench) -> Rows:
    schema = bench.load(evidence.options["file"])
    if not isinstance(schema, dict):
        raise Unusable(f"{evidence.options['file']} is not a JSON object.")
    rows: list[Message] = [{"id": case.id, "document": case.document} for case in cases]
    return _run_cases({"kind": "schema", "schema": schema}, rows, bench)


def _replay_data(cases: list[Case], evidence: Evidence, bench: Bench) -> Rows:
    """Let the reference gate decide with the submission's data in the place of ours."""
    gate = bench.workshop.gate
    module = reference(gate)
    data = {evidence.options["as"]: bench.load(evidence.options["file"])}
    with bench.allowance.spending():
        decisions = {c.id: decide(gate, module, c.document, {**c.named, **data}) for c in cases}
    return Rows({name: {"verdict": d.verdict, "text": d.text} for name, d in decisions.items()})


def _finding(rule: Rule, cases: list[Case], answers: dict[str, Message], bench: Bench) -> Finding:
    sorted_out = Counter[str]()
    for case in cases:
        answer = answers.get(case.id)
        fault = fault_of(case, answer)
        if answer and not fault and rule.subject == "gate":
            again = {_said(answers.get(f"{case.id}{mark}", {}), "verdict") for mark in AGAIN}
            if case.verdict == "accept" and not _reports_rightly(case, answer, bench.workshop):
                fault = "misreported"
            elif again != {answer["verdict"]}:
                fault = "remembers"
        if fault:
            sorted_out[fault] += 1
    faults = list(_sentences(rule, sorted_out, len(cases)))
    if faults:
        return Finding("fail", " ".join(faults), rule.expected)
    return Finding("pass", f"{len(cases)} of {len(cases)} hidden inputs are decided rightly.")


def fault_of(case: Case, answer: Message | None) -> str:
    """Say in one word what is wrong with an answer; "" when nothing is."""
    if answer is None:
        return "silent"
    if _said(answer, "verdict") not in {"accept", "reject"}:
        return _crash(answer)
    if answer["verdict"] != case.verdict:
        return "let through" if case.verdict == "reject" else "refused"
    text = _said(answer, "text")
    if any(part in text for part in case.absent):
        return "overtold"
    return "" if all(part in text for part in case.mentions) else "unnamed"


def _crash(answer: Message) -> str:
    """Say in one word which limit an answer without a verdict met, if it was one."""
    if _said(answer, "verdict") == "hang":
        return "hung"
    if "printed" in _said(answer, "ending"):
        return "flooded"
    return "too large" if _said(answer, "text").startswith("MemoryError") else "crashed"


def _said(answer: Message, name: str) -> str:
    """Give a text of an answer; "" for what is none: the sandbox may say anything."""
    value = answer.get(name)
    return value if isinstance(value, str) else ""


def _reports_rightly(case: Case, answer: Message, workshop: Workshop) -> bool:
    """Compare the value that an accepting gate returns with the reference's."""
    try:
        return same_json(json.loads(_said(answer, "seen")), _seen_by_reference(workshop, case))
    except (ValueError, RecursionError):
        return False


@functools.cache
def _seen_by_reference(workshop: Workshop, case: Case) -> Any:
    """Give the value that the reference returns, once for all submissions."""
    return decide_case(workshop.gate, reference(workshop.gate), case).seen


def _sentences(rule: Rule, faults: Counter[str], total: int) -> Iterator[str]:
    """Say each kind of fault in the rule's words, with its share of the hidden inputs."""
    who = {"gate": "Your gate", "schema": "Your schema", "data": "With your file, the gate"}
    subject = who[rule.subject]
    said = {
        "let through": f"{subject} lets through {rule.wrongly_accepts}",
        "refused": f"{subject} refuses {rule.wrongly_refuses}",
        "crashed": f"{subject} crashes instead of deciding",
        "hung": f"{subject} does not come to an end",
        "too large": f"{subject} asks for more memory than it may use",
        "flooded": f"{subject} prints more than it may (1 MiB in all)",
        "unnamed": f"{subject} refuses, but the result does not name what is wrong",
        "misreported": f"{subject} {rule.misreports}",
        "overtold": f"{subject} refuses, and repeats in its message what must not be passed on",
        "silent": f"{subject} gave no answer",
        "remembers": f"{subject} decides otherwise when it was asked something else before",
    }
    for word, sentence in said.items():
        if faults[word]:
            yield f"{sentence} ({faults[word]} of {total} hidden inputs)."
