"""Evidence ``fixture``: a file of the pair's that the reference gate must decide as its role says.

Options: ``file``, ``verdict``, ``mentions`` (parts of the refusal), ``pair`` with ``differs_at``
(the one value in which a minimal pair differs), ``changed_from`` (a copy is not enough), ``holds``
(values that must be in it), ``note`` (the lab notes, which must hold the refusal).
"""

from collections.abc import Iterator
from typing import Any

from instructor.answer_key import reference
from instructor.evidence.bench import Bench, Finding, Unusable
from lab.replay import Decision, decide
from lab.strict_json import differences, same_json, values_at
from lab.suite import cut
from lab.workshop import Evidence


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Give the file to the reference gate, with the course's own arguments, and check its role."""
    try:
        document = bench.load(evidence.options["file"])
        with bench.allowance.spending():
            problem = next(_problems(evidence, bench, document), None)
    except Unusable as error:
        problem = (str(error), f"{evidence.options['file']} is there and is strict JSON.")
    if problem:
        return Finding("fail", cut(problem[0]), problem[1])
    return Finding("pass", f"{evidence.options['file']} does what it is there for.")


def _problems(evidence: Evidence, bench: Bench, document: Any) -> Iterator[tuple[str, str]]:
    """Yield (found, expected), the most telling first."""
    options = evidence.options
    name = options["file"].rpartition("/")[2]
    if "changed_from" in options and same_json(document, bench.load(options["changed_from"])):
        yield f"{name} is still a copy of {_name(options['changed_from'])}.", evidence.title
    yield from _missing_values(options, name, document)
    gate = bench.workshop.gate
    decision = decide(gate, reference(gate), document, bench.answers.named)
    if decision.verdict != options["verdict"]:
        yield _wrong_verdict(evidence, name, decision), evidence.title
    for part in options.get("mentions", ()):
        if part not in decision.text:
            found = f"{name} is refused for another reason: {decision.text}"
            yield found, f"The refusal names {part}."
    yield from _not_minimal(evidence, bench, name, document)
    yield from _missing_note(evidence, bench, name)


def _wrong_verdict(evidence: Evidence, name: str, decision: Decision) -> str:
    if decision.verdict != "accept":
        return f"{name} must be accepted, and a correct gate refuses it: {decision.text}"
    return (
        f"{name} must be refused, and a correct gate accepts it. {evidence.options['if_accepted']}"
    )


def _missing_values(options: Any, name: str, document: Any) -> Iterator[tuple[str, str]]:
    for row in options.get("holds", ()):
        values = values_at(document, row["at"])
        if not any(same_json(value, row["value"]) for value in values):
            yield f"{name} {row['missing']}", f"{row['value']!r} stands at {row['at']}."


def _not_minimal(
    evidence: Evidence, bench: Bench, name: str, document: Any
) -> Iterator[tuple[str, str]]:
    if "pair" not in evidence.options:
        return
    other = _name(evidence.options["pair"])
    places = differences(bench.load(evidence.options["pair"]), document)
    wanted = list(evidence.options["differs_at"])
    if places != wanted:
        shown = ", ".join(places[:5]) or "nowhere"
        yield f"{name} and {other} differ at: {shown}.", f"They differ only at {', '.join(wanted)}."


def _missing_note(evidence: Evidence, bench: Bench, name: str) -> Iterator[tuple[str, str]]:
    if "note" not in evidence.options:
        return
    notes = bench.load(evidence.options["note"])
    note = notes.get(name) if isinstance(notes, dict) else None
    where = _name(evidence.options["note"])
    expected = f'{where} holds, under "{name}", the refusal of your gate as it was printed.'
    if not isinstance(note, str) or not note.strip():
        yield f"{where} has no line for {name}.", expected
    else:
        for part in evidence.options.get("mentions", ()):
            if part not in note:
                yield f"The line for {name} in {where} does not name {part}.", expected


def _name(file: str) -> str:
    return file.rpartition("/")[2]
