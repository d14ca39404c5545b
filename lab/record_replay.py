"""Replay what a fixture holds on a gate: one plan through ``check``, or a session on a record.

A session is ``{"calls": [...]}``, each call an object with one of these fields:

    {"write_plan": PLAN, "now": TIME}     {"restart": true}     {"crash": "half a li"}
    {"dry_run": TIME, "present": [NAME]}  {"run_step": N, "now": TIME}
    {"version_at": TIME}                  {"plan_at": TIME}
    {"versions": true}  {"revisions": true}  {"trace": true}  {"snapshots": true}

It runs on a record in a folder of its own, which begins with the lines of ``"record"``, if any.
Of each problem an answer keeps the step that it names: how a gate words it is the gate's own.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = dict[str, Any]


def replay(gate: Any, document: Any, policy: Any) -> Any:
    """Decide a document with a gate; what the gate refuses raises its ``PlanRecordError``.

    A plan that is clean gives []. A session gives its answers; one whose last call writes a plan
    that is not accepted is refused with that answer's problems, unless it was stored all the same.
    """
    if type(document) is dict and "calls" in document and "steps" not in document:
        return _session(gate, document, policy)
    problems = gate.check(document, policy)
    if problems:
        raise gate.PlanRecordError(*problems)
    return problems


def _session(gate: Any, document: Any, policy: Any) -> list[Any]:
    calls, text = document["calls"], document.get("record", "")
    if type(calls) is not list or type(text) is not str or not all(map(_is_call, calls)):
        raise gate.PlanRecordError("not a session: calls is no list of calls, or record no text")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl"
        if text:
            file.write_bytes(text.encode(errors="replace"))
        return _answers(gate, calls, file, policy)


def _answers(gate: Any, calls: list[Call], file: Path, policy: Any) -> list[Any]:
    record = gate.PlanRecord(file, policy)
    answers: list[Any] = []
    before: list[Any] = []
    for call in calls:
        before = record.versions
        if "restart" in call or "crash" in call:
            with file.open("ab") as tail:
                tail.write(str(call.get("crash", "")).encode(errors="replace"))
            record = gate.PlanRecord(file, policy)
            answers.append("restarted")
        else:
            answers.append(_answer(record, call))
    if calls and "write_plan" in calls[-1] and record.versions == before:
        last = answers[-1]
        if last["status"] != "accepted":
            raise gate.PlanRecordError(*last.get("problems", [last["status"]]))
    return [_without_wording(answer) for answer in answers]


def _without_wording(answer: Any) -> Any:
    """Put in the place of each problem the step that it names."""
    if isinstance(answer, list):
        return [_without_wording(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    kept = {key: _without_wording(value) for key, value in answer.items()}
    if isinstance(answer.get("problems"), list):
        kept["problems"] = sorted({str(text).partition(":")[0] for text in answer["problems"]})
    return kept


def _answer(record: Any, call: Call) -> Any:
    name = next(name for name in _CALLS if name in call)
    return _CALLS[name](record, call)


def _is_call(call: Any) -> bool:
    known = [*_CALLS, "restart", "crash"]
    if type(call) is not dict or type(call.get("present", [])) is not list:
        return False
    return sum(name in call for name in known) == 1


_CALLS: dict[str, Callable[[Any, Call], Any]] = {
    "write_plan": lambda record, call: record.write_plan(call["write_plan"], call.get("now")),
    "dry_run": lambda record, call: record.dry_run(call["dry_run"], call.get("present", [])),
    "run_step": lambda record, call: record.run_step(
        call["run_step"], call.get("now"), call.get("present", [])
    ),
    "version_at": lambda record, call: record.version_at(call["version_at"]),
    "plan_at": lambda record, call: record.plan_at(call["plan_at"]),
    "versions": lambda record, _: record.versions,
    "revisions": lambda record, _: record.revisions,
    "trace": lambda record, _: record.trace,
    "snapshots": lambda record, _: record.snapshots,
}
