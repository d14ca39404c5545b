"""The probes of the hole hunts: each shows its hole, none is an input that grading uses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from instructor.answer_key import Case, build_gate, load_answer_key, reference
from instructor.solutions import without_solutions
from lab.hole_probes import CLOSED, CRASH, OPEN, TOO_STRICT, Kind, Probe, ask, load_holes, patched
from lab.strict_json import same_json
from lab.workshop import Workshop, WorkshopError, load_workshop, workshop_ids
from tests.kit.command import COURSE
from tests.kit.lab.hole_table import hole_table
from tests.kit.lab.naive_gates import naive_gate

WORKSHOPS = {name: load_workshop(COURSE, name) for name in workshop_ids(COURSE)}
HOLES = {name: load_holes(COURSE, name) for name in WORKSHOPS}
KINDS = [
    pytest.param(name, kind, id=f"{name}: {kind.id}")
    for name in HOLES
    for kind in HOLES[name].kinds
]
EACH = pytest.mark.parametrize("workshop", WORKSHOPS.values(), ids=WORKSHOPS)

# What graded cases decide already, and what is no hole: the hunt leaves these kinds out.
DECIDED_ELSEWHERE = {
    "plan_gate": {"required-arg", "allow-list", "source-policy", "error-shape", "control"},
    "result_gate": {"control"},
    "assumption_gate": {
        "unknown-tag", "crash", "absence", "required-arg", "falsy", "ignored-input", "uniqueness",
        "typing", "contradiction", "control",
    },
    "plan_record": {"effect"},
}  # fmt: skip


# Each hole is one


@EACH
def test_a_naive_gate_accepts_what_is_plain_and_leaves_every_hole_open(workshop: Workshop) -> None:
    gate, table = naive_gate(workshop), HOLES[workshop.id]

    came = {kind.id: ask(workshop.gate, gate, kind)[0] for kind in table.kinds}

    assert {kind: word for kind, word in came.items() if word not in (OPEN, CRASH)} == {}
    plain = Kind("plain", "plain", "", "", table.plain)
    assert ask(workshop.gate, gate, plain) == (CLOSED, "")


@EACH
def test_the_reference_closes_every_hole(workshop: Workshop) -> None:
    gate, table = reference(workshop.gate), HOLES[workshop.id]

    came = {kind.id: ask(workshop.gate, gate, kind) for kind in table.kinds}

    assert {kind: answer for kind, answer in came.items() if answer != (CLOSED, "")} == {}


@EACH
def test_a_gate_that_refuses_all_closes_none(workshop: Workshop) -> None:
    """A stub is such a gate: each kind has an input that it must let through."""
    stub = without_solutions(workshop.gate.file, (COURSE / workshop.gate.file).read_bytes())
    gate = build_gate(workshop.gate, stub.decode())

    closed = [k.id for k in HOLES[workshop.id].kinds if ask(workshop.gate, gate, k)[0] == CLOSED]

    assert closed == []


# None of them is a hidden input


@EACH
def test_no_probe_is_an_input_that_grading_uses(workshop: Workshop) -> None:
    hidden = load_answer_key(workshop).cases
    probes = [p for kind in HOLES[workshop.id].kinds for p in kind.probes]
    probes += HOLES[workshop.id].plain

    assert not [case.id for case in hidden for probe in probes if same_input(case, probe)]


@EACH
def test_the_comparison_with_hidden_inputs_sees_one(workshop: Workshop) -> None:
    """Whatever its verdict and its names are: it is the input that must stay hidden."""
    case = next(case for case in load_answer_key(workshop).cases if case.text is None)
    twin = json.loads(json.dumps(case.document))
    raw = replace(case, text="[1]", document=None)

    assert same_input(case, Probe("accept", twin, None, {"a": 1}))
    assert same_input(case, Probe("reject", twin, None, {}))
    assert not same_input(case, Probe(case.verdict, {"other": twin}, None, {}))
    assert not same_input(case, Probe(case.verdict, twin, "[1]", {}))
    assert same_input(raw, Probe("reject", None, "[1]", {}))
    assert not same_input(raw, Probe("reject", None, "[2]", {}))


@pytest.mark.parametrize(("hidden", "probe"), [(True, 1), (1, 1.0), ([1], [True])])
def test_the_comparison_with_hidden_inputs_knows_types(hidden: Any, probe: Any) -> None:
    case = replace(load_answer_key(WORKSHOPS["plan_gate"]).cases[0], text=None, document=hidden)

    assert same_input(case, Probe("reject", hidden, None, {}))
    assert not same_input(case, Probe("reject", probe, None, {}))


def same_input(case: Case, probe: Probe) -> bool:
    return case.text == probe.text and same_json(case.document, probe.document)


# The words


@pytest.mark.parametrize(("workshop", "kind"), KINDS)
def test_a_hint_is_short_and_does_not_hold_the_input(workshop: str, kind: Kind) -> None:
    rows = json.loads((COURSE / "fixtures" / workshop / "holes.json").read_text(encoding="utf-8"))
    (row,) = [row for row in rows["kinds"] if row["id"] == kind.id]
    inputs = [
        text
        for probe in row["probes"]
        for text in strings([edit.get("value") for edit in probe.get("patch", [])])
        if not text.isalpha() and len(text) > 4 and probe["verdict"] == row["probes"][0]["verdict"]
    ]

    assert "\n" not in kind.hint + kind.closed
    assert len(kind.hint) <= 220
    assert kind.closed.endswith(".")
    assert [text for text in inputs if text in kind.hint] == []


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in strings(item)]


@EACH
def test_every_kind_that_the_workshop_leaves_open_is_hunted(workshop: Workshop) -> None:
    kinds = HOLES[workshop.id].kinds

    assert {kind.kind for kind in kinds} | DECIDED_ELSEWHERE[workshop.id] >= hole_table(
        workshop.id
    ).kinds()
    assert len({kind.id for kind in kinds}) == len(kinds)
    assert all({p.verdict for p in kind.probes} == {"accept", "reject"} for kind in kinds)


# Reading the file


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "null", "{}", '{"kinds": 1, "plain": []}',
        '{"named": {}, "bases": {}, "plain": ["gone"], "kinds": []}',
        '{"named": {}, "bases": {}, "plain": [], "kinds": [{}]}',
        '{"named": {}, "bases": {"a": []}, "plain": [], "kinds": [{"id": "a", "kind": "a", '
        '"closed": "", "hint": "", "probes": [{"verdict": "reject", "base": "a", '
        '"patch": [{"op": "move", "path": "/0", "value": 1}]}]}]}',
    ],
)  # fmt: skip
def test_a_file_of_probes_that_was_edited_is_a_sentence(content: str, tmp_path: Path) -> None:
    folder = tmp_path / "fixtures" / "plan_gate"
    folder.mkdir(parents=True)
    (folder / "holes.json").write_text(content, encoding="utf-8")

    with pytest.raises(WorkshopError, match=r"Get it back: git checkout -- fixtures/plan_gate/"):
        load_holes(tmp_path, "plan_gate")


def test_a_file_of_probes_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkshopError, match=r"cannot be read: .* Get it back"):
        load_holes(tmp_path, "plan_gate")


@EACH
def test_a_patch_does_what_a_json_patch_does(workshop: Workshop) -> None:
    """Compare with the library that the grader uses, on all of its own patches."""
    data = json.loads((COURSE / "instructor" / "answers" / workshop.id / "cases.json").read_bytes())
    rows = [row for row in data["cases"] if "patch" in row]

    assert len(rows) > 20
    for row in rows:
        base = data["bases"][row["base"]]
        assert same_json(patched(base, row["patch"]), jsonpatch.apply_patch(base, row["patch"]))


def test_a_patch_leaves_its_document_alone() -> None:
    document = {"a": [1]}

    assert patched(document, [{"op": "add", "path": "/a/-", "value": 2}]) == {"a": [1, 2]}
    assert patched(document, [{"op": "remove", "path": "/a/0"}]) == {"a": []}
    assert document == {"a": [1]}


# What comes of a kind


def kind_of(*verdicts: str, absent: tuple[str, ...] = ()) -> Kind:
    return Kind(
        "k",
        "k",
        "",
        "",
        tuple(Probe(v, {"n": n}, None, {}, absent) for n, v in enumerate(verdicts)),
    )


def gate_that(body: str) -> Any:
    source = f"class PlanRejected(ValueError): pass\ndef gate_plan(plan, **named):\n    {body}\n"
    return build_gate(WORKSHOPS["plan_gate"].gate, source)


@pytest.mark.parametrize(
    ("body", "kind", "came"),
    [
        ("return 1", kind_of("reject", "accept"), OPEN),
        ("raise PlanRejected('no')", kind_of("reject", "accept"), TOO_STRICT),
        ("raise PlanRejected('no')", kind_of("accept", "reject"), OPEN),
        ("if plan['n'] < 2: raise PlanRejected", kind_of("reject", "reject", "accept"), CLOSED),
        ("if plan['n'] < 1: raise PlanRejected", kind_of("reject", "reject", "accept"), OPEN),
        ("raise PlanRejected('so you said')", kind_of("reject", absent=("you said",)), OPEN),
        ("raise PlanRejected('so they said')", kind_of("reject", absent=("you said",)), CLOSED),
        ("return plan['x']", kind_of("reject", "accept"), CRASH),
        ("raise SystemExit", kind_of("reject"), CRASH),
        ("plan['n'] = named['a'].append(1)", kind_of("reject"), CRASH),
    ],
)  # fmt: skip
def test_only_a_gate_that_decides_all_of_a_kind_has_closed_it(
    body: str, kind: Kind, came: str
) -> None:
    assert ask(WORKSHOPS["plan_gate"].gate, gate_that(body), kind)[0] == came


def test_a_gate_cannot_write_into_a_probe() -> None:
    kind = kind_of("reject")
    gate = gate_that("plan.clear()")

    ask(WORKSHOPS["plan_gate"].gate, gate, kind)

    assert kind.probes[0].document == {"n": 0}
