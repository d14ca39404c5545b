"""The four gates in one loop: each refuses one mistake, and a fifth gets past all of them."""

from pathlib import Path

import pytest

from lab import agent_loop
from lab.agent_loop import GATES, Run, changed, run


def refused_by(turns: Run) -> list[str]:
    """Name the gate that refused each attempt; "" where none did."""
    found = []
    for turn in turns.turns:
        gates = [gate for gate in GATES if turn.verdicts[gate] == "reject"]
        assert len(gates) <= 1
        found.append(gates[0] if gates else "")
    return found


def test_each_of_four_mistakes_is_refused_by_another_gate(tmp_path: Path) -> None:
    done = run(tmp_path / "record.jsonl")

    assert refused_by(done) == [*GATES, "", ""]
    assert [turn.refusal for turn in done.turns] == [
        "step_1 arg account_id='acct_0000' does not match sourced 'acct_1044'",
        "step 2: writes to protected target ledger.charges",
        "refusing ticket.update: assignee_email is tagged 'assumed'",
        "unexpected fields: ['discount_code']",
        "none: it goes ahead",
        "none: it goes ahead",
    ]


def test_what_no_gate_sees_goes_ahead(tmp_path: Path) -> None:
    done = run(tmp_path / "record.jsonl")

    assert done.turns[-1].task == 2
    assert done.turns[-1].verdicts == dict.fromkeys(GATES, "accept")
    assert "credit 15 dollars to acct_2077" in done.would_do
    assert "warehouse.truncate on staging.credits_202602" in done.would_do


@pytest.mark.parametrize(
    ("gate", "harm"),
    [
        ("plan_gate", "credit 15 dollars to acct_0000"),
        ("plan_record", "warehouse.truncate on ledger.charges"),
        (
            "result_gate",
            "remember {'sku': 'SKU-19', 'quantity': 4, 'warehouse': 'sfo', "
            "'discount_code': 'STAFF'}",
        ),
    ],
)
def test_without_a_gate_its_mistake_goes_ahead(gate: str, harm: str, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole.jsonl")
    without = run(tmp_path / "without.jsonl", leave_out=gate)

    assert harm in without.would_do
    assert harm not in whole.would_do
    assert len(without.turns) == GATES.index(gate) + 2


def test_without_the_assumption_gate_a_guess_goes_ahead_unseen(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole.jsonl")
    without = run(tmp_path / "without.jsonl", leave_out="assumption_gate")

    assert without.would_do == whole.would_do
    assert len(without.turns) == len(whole.turns) - 2


def test_a_name_that_is_no_gate_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be one of plan_gate, plan_record"):
        run(tmp_path / "record.jsonl", leave_out="gate")


def test_a_module_that_cannot_be_used_is_a_note_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_loop, "GATES", ("no_such_gate",))
    monkeypatch.setattr(agent_loop.coach, "forget", lambda: None)

    said = str(agent_loop.show())

    assert said.startswith("The loop cannot run yet.")
    assert "lab.no_such_gate" in said


def test_a_change_is_made_in_a_copy() -> None:
    base = {"steps": [{"args": {"a": 1}}]}

    assert changed(base, {"/steps/0/args/a": 2}) == {"steps": [{"args": {"a": 2}}]}
    assert base == {"steps": [{"args": {"a": 1}}]}


def test_the_page_escapes_what_it_shows() -> None:
    turn = agent_loop.Turn(1, "<b>", dict.fromkeys(GATES, "accept"), "<script>")

    shown = Run((turn,), ("<i>",))._repr_html_()

    assert [tag for tag in ("<b>", "<script>", "<i>") if tag in shown] == []
    assert "&lt;script&gt;" in shown
