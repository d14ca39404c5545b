"""Several attempts make one report: the best of each block, whole, and a list of them all."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from instructor.attempts import Tried, best_of
from instructor.report.model import NOTHING, BlockReport, Report, report_schema
from instructor.report.pages import write_class_pages, write_feedback
from instructor.report.totals import Total, common_problems
from lab.workshop import Workshop
from tests.kit.instructor.reports import report, workshop_report

Outcomes = dict[str, list[str]]


def tried(label: str, outcomes: Outcomes, source: str = "folder", *, judged: bool = True) -> Tried:
    """Make an attempt whose findings say which attempt they are of."""
    own = workshop_report("plan_gate", outcomes, found=f"of {label}")
    return Tried(label, source, judged, report("pair_7", own, remark=f"odd in {label}"))


def blocks(merged: Report) -> dict[str, BlockReport]:
    return {block.id: block for block in merged.workshops[0].blocks}


@pytest.mark.parametrize(
    ("first", "second", "best"),
    [
        (["pass"], ["fail"], "1"),
        (["fail"], ["pass"], "2"),
        (["fail"], ["blocked"], "1"),
        (["blocked"], ["error"], "1"),
        (["error"], ["fail"], "2"),
        (["fail", "pass", "pass"], ["fail", "fail", "pass"], "1"),
        (["fail", "pass"], ["fail", "pass"], "2"),
        (["pass"], ["pass"], "2"),
        (["error"], ["error"], "2"),
    ],
)
def test_the_best_block_is_kept_whole(first: list[str], second: list[str], best: str) -> None:
    merged = best_of([tried("1", {"tests": first}), tried("2", {"tests": second})])

    assert {item.found for item in blocks(merged)["tests"].evidence} == {f"of {best}"}
    counts = {attempt.label: attempt.counts["plan_gate"] for attempt in merged.attempts}
    assert counts == {"1": (), "2": (), best: ("tests",)}


def test_each_block_is_taken_by_itself_and_all_attempts_are_shown() -> None:
    first = tried("1", {"inventory": ["pass"], "tests": ["fail"]})
    second = tried("late", {"inventory": ["fail"], "tests": ["pass"]}, "zip")

    merged = best_of([first, second])

    assert {block.outcome for block in blocks(merged).values()} == {"pass"}
    shown = [(a.label, a.source, a.reached, a.counts) for a in merged.attempts]
    reached = [{"plan_gate": ("inventory",)}, {"plan_gate": ("tests",)}]
    assert shown == [
        ("1", "folder", reached[0], reached[0]),
        ("late", "zip", reached[1], reached[1]),
    ]
    assert [r.found for r in merged.remarks] == ["Attempt 1: odd in 1", "Attempt late: odd in late"]


@pytest.mark.parametrize("outcome", ["blocked", "error", "fail"])
def test_handing_in_nothing_never_counts_more_than_work(outcome: str) -> None:
    work = tried("1", {"tests": [outcome]})
    nothing = tried("2", {"tests": ["fail"]}, "nothing", judged=False)

    assert blocks(best_of([work, nothing]))["tests"].outcome == outcome


def test_what_could_not_be_fetched_is_no_zero_because_of_an_empty_row() -> None:
    lost = tried("1", {"tests": ["error"]}, "git", judged=False)
    nothing = tried("2", {"tests": ["fail"]}, "nothing", judged=False)

    assert blocks(best_of([lost, nothing]))["tests"].outcome == "error"


def test_extras_are_those_of_the_attempt_that_has_most() -> None:
    rows = [("pass", "fail"), ("pass", "pass"), ("fail", "fail")]
    tries = [
        Tried(str(n), "folder", True, report("p", workshop_report("plan_gate", {}, extras=row)))
        for n, row in enumerate(rows)
    ]

    assert [item.outcome for item in best_of(tries).workshops[0].extras] == ["pass", "pass"]


def test_one_attempt_alone_is_left_as_it_is() -> None:
    alone = tried("1", {"tests": ["fail"]})

    assert best_of([alone]) is alone.report
    assert alone.report.to_json()["attempts"] == []


def test_a_merged_report_fits_its_schema() -> None:
    merged = best_of([tried("1", {"tests": ["fail"]}), tried("2", {"tests": ["pass"]}, "git")])

    data = merged.to_json()
    Draft202012Validator(report_schema()).validate(data)
    assert data["attempts"][1] == {
        "label": "2",
        "source": "git",
        "reached": {"plan_gate": ["tests"]},
        "counts": {"plan_gate": ["tests"]},
    }


def test_the_pages_show_the_attempts_and_which_of_them_counts(
    tmp_path: Path, workshop: Workshop
) -> None:
    script = "<script>1</script>"
    merged = best_of([tried(script, {"tests": ["fail"]}), tried("2", {"tests": ["pass"]}, "zip")])
    alone = tried("1", {"tests": ["fail"]}).report

    write_feedback(merged, tmp_path / "feedback.html")
    write_feedback(alone, tmp_path / "alone.html")
    write_class_pages([merged], (workshop,), {"pair_7": "pair_7"}, tmp_path)

    page = (tmp_path / "feedback.html").read_text(encoding="utf-8")
    table = page[page.index("<h2>Attempts</h2>") :]
    assert "&lt;script&gt;" in table
    assert "<script" not in page
    assert table.index("not reached") < table.index("✓ reached") < table.index(">counts<")
    assert "Attempts" not in (tmp_path / "alone.html").read_text(encoding="utf-8")
    assert "best of 2 attempts" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_who_handed_in_nothing_says_nothing_about_what_is_hard() -> None:
    missing = report("a", workshop_report("plan_gate", {"tests": ["fail"]}, found=f"{NOTHING}."))
    wrong = report("b", workshop_report("plan_gate", {"tests": ["fail"]}, found="wrong"))

    assert common_problems([missing, wrong]) == [
        Total("Refuse a plan", "title of tests.0", 1, 1, "wrong")
    ]
    assert common_problems([missing]) == []
