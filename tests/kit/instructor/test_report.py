"""Reports: what they sum up to, and that nothing of a student's gets through as markup."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from instructor.judging import plain
from instructor.report.model import (
    BlockReport,
    EvidenceReport,
    RemarkReport,
    Report,
    WorkshopReport,
    block_outcome,
    report_from_json,
    report_schema,
)
from instructor.report.pages import gradebook, write_class_pages, write_feedback
from lab.workshop import Workshop

ODD_NAMES = ['comma, "quote"', "line\nbreak", "<b>bold</b>", "[red]markup", "Zoë", "-dash", "=1+1"]


def evidence(outcome: str, *, graded: bool = True, found: str = "found") -> EvidenceReport:
    return EvidenceReport("a.b", "suite", "title", outcome, graded, found, "expected", "next")


def report(*items: EvidenceReport, name: str = "pair", found: str = "found") -> Report:
    block = BlockReport("inventory", "Inventory", block_outcome(items), items)
    remark = RemarkReport("left-out", found, "next")
    return Report(name, "C", (remark,), (WorkshopReport("plan_gate", "Plan", (block,)),))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], "blocked"),
        (["pass"], "pass"),
        (["pass", "fail"], "fail"),
        (["blocked", "pass"], "blocked"),
        (["fail", "blocked"], "fail"),
        (["fail", "error"], "error"),
    ],
)
def test_a_block_passes_only_when_all_its_graded_evidence_does(
    outcomes: list[str], expected: str
) -> None:
    rows = [evidence(outcome) for outcome in outcomes]

    assert block_outcome(rows) == expected
    assert block_outcome([*rows, evidence("fail", graded=False)]) == expected


def test_evidence_that_is_not_graded_alone_reaches_nothing() -> None:
    assert block_outcome([evidence("pass", graded=False)]) == "blocked"


def test_the_first_problem_is_a_graded_one() -> None:
    extra, graded = evidence("fail", graded=False), evidence("fail")

    assert report(extra, graded).first_problem is graded
    assert report(extra, evidence("pass")).first_problem is extra
    assert report(evidence("pass")).first_problem is None


def test_a_report_fits_its_schema_and_the_schema_can_refuse() -> None:
    data = report(evidence("pass")).to_json()
    validator = Draft202012Validator(report_schema())

    validator.validate(data)
    with pytest.raises(ValidationError):
        validator.validate({**data, "version": 2})
    with pytest.raises(ValidationError):
        validator.validate({**data, "extra": True})


def test_reports_of_a_class_share_their_texts() -> None:
    """A thousand reports are kept until the class page is written."""
    text = json.dumps(report(evidence("fail", found="a text of " + "some length")).to_json())

    one, other = (report_from_json(json.loads(text)) for _ in range(2))

    assert one.to_json() == other.to_json() == json.loads(text)
    assert one.all_evidence[0].found is other.all_evidence[0].found
    assert one.workshops[0].title is other.workshops[0].title


def test_every_name_comes_back_from_the_gradebook_as_it_was() -> None:
    reports = [report(evidence("fail", found='a, "b"'), name=name) for name in ODD_NAMES]

    rows = list(csv.DictReader(io.StringIO(gradebook(reports))))

    # A spreadsheet would compute the last two: an apostrophe says that they are text.
    assert [row["submission"] for row in rows] == [*ODD_NAMES[:-2], "'-dash", "'=1+1"]
    assert {row["plan_gate.inventory"] for row in rows} == {"fail"}
    assert {row["first_thing_to_do"] for row in rows} == {'a, "b"'}


def test_pages_escape_what_a_student_wrote(tmp_path: Path, workshop: Workshop) -> None:
    script = "<script>alert(1)</script>"
    hostile = report(evidence("fail", found=script), name=script, found=script)

    write_feedback(hostile, tmp_path / "feedback.html")
    write_class_pages([hostile], (workshop,), {script: script}, tmp_path)

    for page in (tmp_path / "feedback.html", tmp_path / "index.html"):
        text = page.read_text(encoding="utf-8")
        assert "&lt;script&gt;" in text
        assert "<script" not in text
        assert not re.search(r"(src|href)=['\"]?(https?:|//)", text)


def test_a_link_to_a_report_survives_an_odd_name(tmp_path: Path, workshop: Workshop) -> None:
    odd = report(evidence("pass"), name="100% #1?")

    write_class_pages([odd], (workshop,), {odd.submission: odd.submission}, tmp_path)

    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="100%25%20%231%3F/feedback.html"' in text


def test_control_characters_are_taken_out() -> None:
    assert plain("\x1b[31mred\x1b[0m\x07 and\ud800 \n two") == "red and two"
    assert json.dumps(plain("a\x00b")) == '"a b"'
