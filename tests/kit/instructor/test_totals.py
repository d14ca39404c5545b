"""A class's reports together: what most have not got, and who stands apart."""

from dataclasses import replace

from instructor.report.model import BlockReport, EvidenceReport, Report, WorkshopReport
from instructor.report.totals import MOST_SHOWN, Total, common_problems, outliers, totals


def evidence(name: str, outcome: str) -> EvidenceReport:
    return EvidenceReport(
        id=name, kind="cases", title=f"Title of {name}", outcome=outcome, graded=True,
        found=f"{name} is {outcome}.", expected="", next="",
    )  # fmt: skip


def report(submission: str, *outcomes: str, workshop: str = "w") -> Report:
    """A submission whose blocks have one check each."""
    blocks = tuple(
        BlockReport(f"b{n}", f"Block {n}", outcome, (evidence(f"check {n}", outcome),))
        for n, outcome in enumerate(outcomes)
    )
    title = f"Workshop {workshop}"
    return Report(submission, "C", (), (WorkshopReport(workshop, title, blocks),))


def test_a_class_of_nobody_has_no_totals_and_no_outliers() -> None:
    assert (totals([]), common_problems([]), outliers([])) == ([], [], [])


def test_a_check_is_counted_over_all_who_were_asked_and_shows_what_the_first_was_told() -> None:
    reports = [report("a", "pass"), report("b", "fail"), report("c", "fail"), report("d", "error")]

    assert totals(reports) == [Total("Workshop w", "Title of check 0", 2, 3, "check 0 is fail.")]


def test_a_check_that_waits_was_not_asked() -> None:
    (first, second) = totals([report("a", "fail", "blocked"), report("b", "pass", "pass")])

    assert (first.failing, first.asked) == (1, 2)
    assert (second.failing, second.asked) == (0, 1)


def test_checks_of_one_title_in_two_workshops_are_two() -> None:
    reports = [report("a", "fail", workshop="v"), report("b", "pass", workshop="w")]

    assert [(total.workshop, total.failing) for total in totals(reports)] == [
        ("Workshop v", 1), ("Workshop w", 0)
    ]  # fmt: skip


def test_what_is_not_graded_is_no_problem_of_the_class() -> None:
    row = report("a", "fail")
    block = row.workshops[0].blocks[0]
    shown = replace(block, evidence=(replace(block.evidence[0], graded=False),))

    assert totals([replace(row, workshops=(replace(row.workshops[0], blocks=(shown,)),))]) == []


def test_common_problems_are_the_most_frequent_and_none_that_nobody_has() -> None:
    number = MOST_SHOWN + 3
    reports = [
        report(str(n), "pass", *("fail" if n >= m else "pass" for m in range(number)))
        for n in range(number)
    ]

    counts = [total.failing for total in common_problems(reports)]

    assert counts == list(range(number, number - MOST_SHOWN, -1))


def test_a_submission_that_could_not_be_judged_is_looked_at_first() -> None:
    reports = [report("a", "fail"), report("b", "error")]

    assert [(row.submission, row.reason) for row in outliers(reports)] == [
        ("b", "could not be judged: check 0 is error.")
    ]


def test_who_lacks_a_block_that_most_have_is_named_once_with_the_first() -> None:
    reports = [report(name, "pass", "pass", "fail") for name in "abc"]
    behind = report("d", "fail", "blocked", "blocked")

    assert [(row.submission, row.reason) for row in outliers([*reports, behind])] == [
        ("d", "has not reached “Block 0”; 3 of 4 have.")
    ]


def test_in_a_class_of_three_nobody_stands_apart() -> None:
    assert outliers([report("a", "pass"), report("b", "pass"), report("c", "fail")]) == []
