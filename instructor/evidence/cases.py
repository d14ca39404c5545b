"""Evidence ``cases``: hidden inputs, grouped by the rule that they are about.

The sandbox gets each input and returns a verdict and a text; they are compared here. What a report
says comes from the rule's own words, so no hidden input can show.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

from instructor.answer_key import Case, Rule, reference
from instructor.evidence.bench import Bench, Finding, Unusable
from instructor.evidence.desk import Rows
from instructor.sandbox.process import Message
from lab.strict_json import same_json
from lab.suite import cut
from lab.workshop import Evidence


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
    """Replay every case of the rule's subject, once for all its rules."""
    if rule.subject not in bench.replays:
        ids = {name for name, other in bench.answers.rules.items() if other.subject == rule.subject}
        cases = [case for case in bench.answers.cases if case.rule in ids]
        replay = {"gate": _replay_gate, "schema": _replay_schema, "data": _replay_data}
        bench.replays[rule.subject] = replay[rule.subject](cases, evidence, bench)
    return bench.replays[rule.subject]


def _replay_gate(cases: list[Case], _: Evidence, bench: Bench) -> Rows:
    gate = bench.workshop.gate
    if not (bench.snapshot / gate.file).is_file():
        raise Unusable(f"{gate.file} is missing.")
    names = {"module": gate.module, "decide": gate.decide, "load": gate.load, "error": gate.error}
    rows = [_gate_input(case, bench) for case in cases]
    return bench.run_rows({"kind": "gate", "gate": names}, rows)


def _gate_input(case: Case, bench: Bench) -> Message:
    row: Message = {
        "id": case.id,
        "document": case.document,
        "arguments": _arguments(case, bench),
    }
    if case.text is not None:
        row["text"] = base64.b64encode(case.text.encode()).decode()
    return row


def _arguments(case: Case, bench: Bench) -> list[Any]:
    """List what the gate gets beside the document."""
    inventory = bench.answers.inventory if case.with_inventory else None
    return [inventory] if case.evidence is None else [inventory, case.evidence]


def _replay_schema(cases: list[Case], evidence: Evidence, bench: Bench) -> Rows:
    schema = bench.load(evidence.options["file"])
    if not isinstance(schema, dict):
        raise Unusable(f"{evidence.options['file']} is not a JSON object.")
    rows: list[Message] = [{"id": case.id, "document": case.document} for case in cases]
    return bench.run_rows({"kind": "schema", "schema": schema}, rows)


def _replay_data(cases: list[Case], evidence: Evidence, bench: Bench) -> Rows:
    """Let the reference gate decide with the submission's data in the place of ours."""
    gate = bench.workshop.gate
    module = reference(gate)
    data = bench.load(evidence.options["file"])
    return Rows({case.id: _decide(module, gate, case.document, data) for case in cases})


def _decide(module: Any, gate: Any, document: Any, data: Any) -> Message:
    try:
        getattr(module, gate.decide)(document, data)
    except getattr(module, gate.error) as error:
        return {"verdict": "reject", "text": str(error)}
    return {"verdict": "accept", "text": ""}


def _finding(rule: Rule, cases: list[Case], answers: dict[str, Message], bench: Bench) -> Finding:
    kinds = ("let through", "refused", "crashed", "unnamed", "misreported", "silent")
    sorted_out = dict.fromkeys(kinds, 0)
    for case in cases:
        fault = _fault(case, answers.get(case.id))
        if not fault and rule.subject == "gate" and case.verdict == "accept":
            fault = "" if _reports_rightly(case, answers[case.id], bench) else "misreported"
        if fault:
            sorted_out[fault] += 1
    faults = list(_sentences(rule, sorted_out, len(cases)))
    if faults:
        return Finding("fail", " ".join(faults), rule.expected)
    return Finding("pass", f"{len(cases)} of {len(cases)} hidden inputs are decided rightly.")


def _fault(case: Case, answer: Message | None) -> str:
    """Say in one word what is wrong with an answer; "" when nothing is."""
    if answer is None:
        return "silent"
    if str(answer.get("verdict")) not in {"accept", "reject"}:
        return "crashed"
    if answer["verdict"] != case.verdict:
        return "let through" if case.verdict == "reject" else "refused"
    named = all(part in str(answer.get("text")) for part in case.mentions)
    return "" if named else "unnamed"


def _reports_rightly(case: Case, answer: Message, bench: Bench) -> bool:
    """Compare the value that an accepting gate returns with the reference's."""
    gate = bench.workshop.gate
    wanted = getattr(reference(gate), gate.decide)(case.document, *_arguments(case, bench))
    try:
        return same_json(json.loads(str(answer.get("text"))), wanted)
    except (ValueError, RecursionError):
        return False


def _sentences(rule: Rule, faults: dict[str, int], total: int) -> Iterator[str]:
    """Say each kind of fault in the rule's words, with its share of the hidden inputs."""
    who = {"gate": "Your gate", "schema": "Your schema", "data": "With your file, the gate"}
    subject = who[rule.subject]
    said = {
        "let through": f"{subject} lets through {rule.wrongly_accepts}",
        "refused": f"{subject} refuses {rule.wrongly_refuses}",
        "crashed": f"{subject} crashes instead of deciding",
        "unnamed": f"{subject} refuses, but the result does not name what is wrong",
        "misreported": f"{subject} accepts, but does not return what the contract says",
        "silent": f"{subject} gave no answer",
    }
    for word, number in faults.items():
        if number:
            yield f"{said[word]} ({number} of {total} hidden inputs)."
