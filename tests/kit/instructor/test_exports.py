"""Every export is read back as its consumer would read it; our fault is never somebody's zero."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft202012Validator, ValidationError

from instructor import CourseError, grade
from instructor.grade import Options, grade_class
from instructor.report.exports import EXPORTS, check_names, score, write_exports
from instructor.report.exports.github import escape_data, escape_markdown, escape_property
from instructor.report.exports.junit import clean
from instructor.report.folders import report_folder
from instructor.report.model import Report
from instructor.report.weights import EQUAL, Weights
from lab.workshop import Workshop
from tests.kit.command import instructor
from tests.kit.instructor.reports import HOSTILE, report, workshop_report

ODD = "=1+1\t\r\n<b>,\"'|%::`"
RUN = {
    "CLASSROOM": "agents",
    "ASSIGNMENT": "gates",
    "ASSIGNMENT_TYPE": "group",
    "OWNER": "pair-one",
    "SUBMISSION_TAG": "submit/2026-09-05T12-00-00Z-0123456",
    "COMMIT_URL": "https://git.example/commit/0123456",
    "RELEASE_URL": "https://git.example/releases/1",
    "REVIEW_URL": "https://git.example/compare/a...b",
}


def write(  # noqa: PLR0917
    name: str,
    reports: list[Report],
    out: Path,
    environment: dict[str, str] | None = None,
    weights: Weights = EQUAL,
    workshops: tuple[Workshop, ...] = (),
    ids: dict[str, dict[str, str]] | None = None,
) -> dict[str, str]:
    """Write one export; map each file's place below its folder to its text, byte for byte."""
    folders = {item.submission: report_folder(item.submission) for item in reports}
    book = score(reports, folders, workshops, weights, environment, ids)
    paths = write_exports([name], book, out)
    assert set(paths) >= set(files_below(out / name))
    return {
        path.relative_to(out / name).as_posix(): path.read_bytes().decode()
        for path in files_below(out / name)
    }


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def pair(name: str = "pair", found: str = "") -> Report:
    """A submission with all that was judged: reached, in part, not yet, waiting."""
    outcomes = {
        "inventory": ["pass", "pass"],
        "validator": ["pass", "fail", "pass"],
        "tests": ["fail"],
        "break": ["blocked", "blocked"],
    }
    return report(name, workshop_report("plan_gate", outcomes, found=found, extras=("fail",)))


def ours(name: str = "ours") -> Report:
    """A submission with one block that we could not judge."""
    return report(name, workshop_report("plan_gate", {"inventory": ["pass"], "tests": ["error"]}))


def both(name: str = "both") -> Report:
    plan = workshop_report("plan_gate", {"inventory": ["pass"], "tests": ["fail"]})
    return report(
        name, plan, workshop_report("result_gate", {"leak": ["pass"], "closed": ["pass"]})
    )


def other(name: str = "other") -> Report:
    return report(name, workshop_report("result_gate", {"leak": ["pass"], "closed": ["blocked"]}))


def hostile_class() -> list[Report]:
    return [pair(name.replace("/", "∕"), found=name) for name in HOSTILE if "\x00" not in name]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


# --- What all have in common ----------------------------------------------------------------


def test_an_unknown_export_is_refused_naming_those_there_are() -> None:
    with pytest.raises(CourseError) as refused:
        check_names(["junit", "blackboard"])

    known = "canvas, classroom50, github, gradescope, junit, moodle"
    assert str(refused.value).startswith(f"There is no export 'blackboard'. Known: {known}.")
    check_names(EXPORTS)


@pytest.mark.parametrize("name", EXPORTS)
def test_what_cannot_be_written_is_said_and_leaves_no_half_a_file(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("in the way")

    with pytest.raises(CourseError, match=rf"^The export {name} could not be written: .*again"):
        write(name, [pair()], tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["canvas", "classroom50", "gradescope", "moodle"])
def test_what_was_not_judged_is_left_out_and_said_rather_than_a_zero(
    name: str, tmp_path: Path
) -> None:
    files = write(name, [pair(), ours("ours\n[x]")], tmp_path)

    left_out = files.pop("not_judged.txt")
    assert "ours [x]: plan_gate (tests)\n" in left_out
    assert "grader's\nproblem" in left_out
    assert "ours" not in "".join([*files, *files.values()])
    assert "not_judged.txt" not in write(name, [pair()], tmp_path), (
        "judged now: nothing is left out"
    )


@pytest.mark.parametrize("name", EXPORTS)
def test_a_second_run_leaves_nothing_of_the_first(name: str, tmp_path: Path) -> None:
    write(name, [pair("gone"), other()], tmp_path)

    files = write(name, [pair("here")], tmp_path)

    assert "gone" not in "".join([*files, *files.values()])
    assert "here" in "".join([*files, *files.values()])


@pytest.mark.parametrize("name", EXPORTS)
def test_the_same_reports_make_the_same_files(name: str, tmp_path: Path) -> None:
    reports = [*hostile_class(), ours(), both(), other()]

    assert write(name, reports, tmp_path / "a") == write(name, reports, tmp_path / "b")


# --- Gradescope -----------------------------------------------------------------------------

GRADESCOPE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tests"],
    "properties": {
        "output": {"type": "string"},
        "output_format": {"const": "text"},
        "visibility": {"const": "visible"},
        "stdout_visibility": {"const": "hidden"},
        "tests": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "score", "max_score", "status", "output", "output_format"],
                "properties": {
                    "number": {"type": "string", "pattern": r"^\d+\.\d+$"},
                    "name": {"type": "string", "minLength": 1},
                    "name_format": {"const": "text"},
                    "score": {"type": "number", "minimum": 0},
                    "max_score": {"type": "number", "exclusiveMinimum": 0},
                    "status": {"enum": ["passed", "failed"]},
                    "output": {"type": "string"},
                    "output_format": {"const": "text"},
                    "visibility": {"const": "visible"},
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}


def gradescope(files: dict[str, str]) -> list[dict[str, Any]]:
    results = [json.loads(text) for place, text in files.items() if place.endswith(".json")]
    for result in results:
        Draft202012Validator(GRADESCOPE).validate(result)
    return results


def test_gradescope_gets_a_test_for_each_block_and_the_sum_is_the_total(tmp_path: Path) -> None:
    [result] = gradescope(write("gradescope", [pair()], tmp_path))

    said = [(t["number"], t["score"], t["max_score"], t["status"]) for t in result["tests"]]
    assert said == [
        ("1.0", 1, 1, "passed"),
        ("1.1", 0.66, 1, "failed"),
        ("1.2", 0, 1, "failed"),
        ("1.3", 0, 1, "failed"),
    ]
    assert result["tests"][3]["extra_data"] == {"outcome": "blocked"}
    assert result["tests"][1]["output"].splitlines()[1:3] == [
        "✗ title of validator.1",
        "  Found: fail was found",
    ]
    assert "score" not in result, "the total is Gradescope's to sum"
    with pytest.raises(ValidationError):
        gradescope({"x.json": json.dumps({**result, "tests": [{"name": "x"}]})})


def test_gradescope_gets_every_workshop_of_a_submission(tmp_path: Path) -> None:
    first, second = gradescope(write("gradescope", [both(), other()], tmp_path))

    assert [t["number"] for t in first["tests"]] == ["1.0", "1.1", "2.0", "2.1"]
    assert [t["name"] for t in second["tests"]] == [
        "Validate a result: Block leak",
        "Validate a result: Block closed",
    ]


def test_gradescope_gets_texts_as_they_are_and_as_text(tmp_path: Path) -> None:
    results = gradescope(write("gradescope", hostile_class(), tmp_path))

    assert len(results) == len(hostile_class())
    outputs = "".join(result["output"] for result in results)
    assert "<script>alert(1)</script>" in outputs


def test_a_name_that_is_too_long_or_taken_gets_a_folder_that_can_be_made(tmp_path: Path) -> None:
    names = ["x" * 250, "exports", "gradebook.csv"]

    files = write("gradescope", [pair(name) for name in names], tmp_path)

    folders = {place.partition("/")[0] for place in files}
    assert {"exports-submission", "gradebook.csv-submission"} < folders
    assert max(map(len, folders)) < 100


# --- Classroom 50 ---------------------------------------------------------------------------

TEXT = {"type": "string", "minLength": 1}
WHOLE = {"type": "integer", "minimum": 0}
IDENTITY = {
    **dict.fromkeys(["classroom", "assignment", "owner", "commit", "release", "review"], TEXT),
    "assignment_type": {"enum": ["individual", "group", "team"]},
    "submission": {"type": "string", "pattern": "^submit/"},
}
CLASSROOM50: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schema", "score", "max-score", "tests"],
    "properties": {
        "schema": {"const": "classroom50/result/v1"},
        **IDENTITY,
        "score": WHOLE,
        "max-score": WHOLE,
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["test-name", "passed", "score", "max-score"],
                "properties": {
                    "test-name": TEXT,
                    "passed": {"type": "boolean"},
                    "score": WHOLE,
                    "max-score": WHOLE,
                },
            },
        },
    },
}


def classroom50(files: dict[str, str]) -> list[dict[str, Any]]:
    results = [json.loads(text) for place, text in files.items() if place.endswith("result.json")]
    for result in results:
        Draft202012Validator(CLASSROOM50).validate(result)
        assert result["score"] == sum(test["score"] for test in result["tests"])
        assert result["max-score"] == sum(test["max-score"] for test in result["tests"])
        assert all(test["score"] <= test["max-score"] for test in result["tests"])
    return results


def test_classroom_50_gets_whole_hundredths(tmp_path: Path) -> None:
    weights = Weights({("plan_gate", "inventory"): Fraction(1, 4)})

    [result] = classroom50(write("classroom50", [pair()], tmp_path, weights=weights))

    assert (result["score"], result["max-score"]) == (91, 325)
    assert [(t["passed"], t["score"], t["max-score"]) for t in result["tests"]] == [
        (True, 25, 25),
        (False, 66, 100),
        (False, 0, 100),
        (False, 0, 100),
    ]
    with pytest.raises(ValidationError):
        classroom50({"result.json": json.dumps({**result, "score": 0.91})})


def test_classroom_50_gets_who_is_graded_from_its_own_run(tmp_path: Path) -> None:
    [result] = classroom50(write("classroom50", [pair()], tmp_path, RUN))

    assert {name: result[name] for name in IDENTITY} == {
        "classroom": "agents",
        "assignment": "gates",
        "assignment_type": "group",
        "owner": "pair-one",
        "submission": RUN["SUBMISSION_TAG"],
        "commit": RUN["COMMIT_URL"],
        "release": RUN["RELEASE_URL"],
        "review": RUN["REVIEW_URL"],
    }
    [again] = classroom50(write("classroom50", [pair()], tmp_path, {**RUN, "REVIEW_URL": ""}))
    assert again["review"] == RUN["COMMIT_URL"]


@pytest.mark.parametrize(
    ("reports", "environment"), [([pair()], {}), ([pair("a"), pair("b")], RUN)]
)
def test_classroom_50_gets_no_name_that_we_do_not_know(
    reports: list[Report], environment: dict[str, str], tmp_path: Path
) -> None:
    results = classroom50(write("classroom50", reports, tmp_path, environment))

    assert len(results) == len(reports)
    for result in results:
        assert set(result) == {"schema", "score", "max-score", "tests"}


# --- Canvas and Moodle ----------------------------------------------------------------------


def test_canvas_gets_a_file_for_each_workshop_with_what_is_possible(tmp_path: Path) -> None:
    files = write("canvas", [pair(), both(), other()], tmp_path)

    assert set(files) == {"plan_gate.csv", "result_gate.csv"}
    head = "Student,ID,SIS User ID,SIS Login ID,Section,"
    assert files["plan_gate.csv"].splitlines() == [
        f"{head}Refuse a plan",
        "    Points Possible,,,,,4",
        "pair,,,pair,,1.66",
        "both,,,both,,1",
    ]
    assert files["result_gate.csv"].splitlines() == [
        f"{head}Validate a result",
        "    Points Possible,,,,,2",
        "both,,,both,,2",
        "other,,,other,,1",
    ]


def test_a_submission_not_judged_in_one_workshop_keeps_the_other(tmp_path: Path) -> None:
    mixed = replace(other("mixed"), workshops=ours().workshops + other().workshops)

    for name in ("canvas", "moodle"):
        files = write(name, [mixed, pair()], tmp_path)
        assert "mixed" not in files["plan_gate.csv"]
        assert "mixed" in files["result_gate.csv"]
        assert files["not_judged.txt"].endswith("mixed: plan_gate (tests)\n")


def test_scores_have_no_thousands_separators(tmp_path: Path) -> None:
    weights = Weights({("result_gate", "leak"): Fraction(1000)})

    for name in ("canvas", "moodle"):
        assert ",1000" in write(name, [other()], tmp_path, weights=weights)["result_gate.csv"]


def test_no_name_sets_what_is_possible_in_canvas(tmp_path: Path) -> None:
    rows = rows_of(write("canvas", [pair("Points Possible")], tmp_path)["plan_gate.csv"])

    assert [row["Student"] for row in rows] == ["    Points Possible", "points possible"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({}, ["", "", "pair"]),
        ({"email": "a@b.example"}, ["", "", "pair"]),
        ({"sis_login": "pair7"}, ["", "", "pair7"]),
        ({"canvas_id": "12"}, ["12", "", ""]),
        ({"canvas_id": "12", "sis_user_id": "s3", "sis_login": "=x"}, ["12", "s3", "'=x"]),
    ],
)
def test_canvas_gets_the_ids_that_a_roster_gives(
    ids: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    rows = rows_of(write("canvas", [pair()], tmp_path, ids={"pair": ids})["plan_gate.csv"])

    assert rows[1]["Student"] == "pair"
    assert [rows[1][name] for name in ("ID", "SIS User ID", "SIS Login ID")] == expected


def test_moodle_gets_the_emails_and_ids_that_a_roster_gives(tmp_path: Path) -> None:
    known = {"a": {"email": "a@b.example", "idnumber": "77"}, "b": {"sis_login": "b"}}

    rows = rows_of(write("moodle", [pair("a"), pair("b")], tmp_path, ids=known)["plan_gate.csv"])
    without = rows_of(write("moodle", [pair("b")], tmp_path, ids=known)["plan_gate.csv"])

    assert [(row["idnumber"], row["email"]) for row in rows] == [("77", "a@b.example"), ("b", "")]
    assert list(rows[0]) == ["idnumber", "email", "grade", "max_grade", "feedback"]
    assert list(without[0]) == ["idnumber", "grade", "max_grade", "feedback"]


@pytest.mark.parametrize(("name", "column"), [("canvas", "SIS Login ID"), ("moodle", "idnumber")])
def test_hostile_names_stay_in_their_cell_and_are_no_formula(
    name: str, column: str, tmp_path: Path
) -> None:
    reports = hostile_class()

    rows = rows_of(write(name, reports, tmp_path)["plan_gate.csv"])[-len(reports) :]

    assert [set(map(type, row.values())) for row in rows] == [{str}] * len(reports)
    assert None not in {key for row in rows for key in row}
    for row, made in zip(rows, reports, strict=True):
        assert row[column].removeprefix("'").lower() == made.submission.lower()
        assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in row.values())


def test_moodle_gets_grade_and_feedback_together_and_feedback_as_text(tmp_path: Path) -> None:
    reports = [pair("a", found="<img src=x>, \"quoted\" & 'more'"), both("b")]

    rows = rows_of(write("moodle", reports, tmp_path)["plan_gate.csv"])

    assert [(row["idnumber"], row["grade"], row["max_grade"]) for row in rows] == [
        ("a", "1.66", "4"),
        ("b", "1", "2"),
    ]
    assert "<" not in rows[0]["feedback"]
    assert unescape(rows[0]["feedback"]).endswith("<img src=x>, \"quoted\" & 'more'")


# --- GitHub ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "data", "value"),
    [
        ("a%b", "a%25b", "a%25b"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("%0A", "%250A", "%250A"),
        ("a:b,c", "a:b,c", "a%3Ab%2Cc"),
        ("::error::x", "::error::x", "%3A%3Aerror%3A%3Ax"),
    ],
)
def test_annotations_are_escaped_as_github_reads_them(text: str, data: str, value: str) -> None:
    assert escape_data(text) == data
    assert escape_property(text) == value


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_any_text_as_it_is_on_one_line(text: str) -> None:
    shown = escape_markdown(text)

    assert unescape(shown) == " ".join(text.split())
    assert not set(re.sub(r"&#\d+;", "", shown)) & set("\\`*_{}[]()<>#+!|~&@:$^\"'\n\r")


def test_a_link_is_no_link_in_markdown() -> None:
    assert escape_markdown("www.x.example http://x") == "www&#46;x.example http&#58;//x"


def test_github_gets_one_annotation_a_block_that_is_open_then_the_points(
    tmp_path: Path, workshop: Workshop
) -> None:
    evidence = {block.id: workshop.evidence_of(block.id) for block in workshop.blocks}
    made = workshop_report(
        "plan_gate", {"inventory": ["pass"], "tests": ["fail"], "break": ["error"]}
    )
    blocks = tuple(
        replace(b, evidence=tuple(replace(i, id=evidence[b.id][0].id) for i in b.evidence))
        for b in made.blocks
    )
    reports = [report("pair", replace(made, blocks=blocks))]

    lines = write("github", reports, tmp_path, workshops=(workshop,))[
        "annotations.txt"
    ].splitlines()

    tests, broken = evidence["tests"][0].options["file"], evidence["break"][0].options["file"]
    assert lines == [
        f"::error file={tests},title=Refuse a plan%3A Block tests::"
        "fail was found%0AExpected: what%0ANext: do this",
        f"::warning file={broken},title=Refuse a plan%3A Block break::"
        "error was found%0AExpected: what%0ANext: do this",
        "::notice title=Refuse a plan::"
        "pair: points not judged (inventory 1, tests 0, break not judged)",
    ]
    two = write("github", [*reports, other("o,t")], tmp_path, workshops=(workshop,))
    assert f"file=pair/{tests}," in two["annotations.txt"], "of several, each is a folder"


def test_an_annotation_never_starts_a_second_command(tmp_path: Path) -> None:
    reports = [pair(ODD, found="x\n::error::forged\r::notice::forged"), pair("\n::error::name")]

    lines = write("github", reports, tmp_path)["annotations.txt"].split("\n")

    assert len(lines) == 7
    assert all(re.match(r"::(error|notice) title=[^:,]+::", line) for line in lines[:-1])
    assert lines[-1] == ""


def test_annotations_are_printed_in_a_run_of_actions_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("github", [pair()], tmp_path)
    assert capsys.readouterr().out == ""

    files = write("github", [pair()], tmp_path, {"GITHUB_ACTIONS": "true"})
    assert capsys.readouterr().out == files["annotations.txt"]


def test_the_summary_is_a_table_for_each_workshop(tmp_path: Path) -> None:
    summary = write("github", [both(), ours(ODD), other()], tmp_path)["summary.md"]

    plan, result = summary.split("## ")[1:]
    assert plan.splitlines()[:4] == [
        "Refuse a plan",
        "",
        "| Submission | inventory | tests | Points | First thing to do |",
        "| --- | --- | --- | --- | --- |",
    ]
    assert "| both | ✓ | ✗ | 1 of 2 | fail was found |" in plan
    assert " | ✓ | &#33; | not judged | error was found |" in plan
    assert "other" not in plan
    assert "| other | ✓ | … | 1 of 2 | blocked was found |" in result
    assert {line.count("|") for line in summary.splitlines() if line.startswith("|")} == {6}


def test_the_summary_is_added_to_the_file_that_the_step_names(tmp_path: Path) -> None:
    named = tmp_path / "step summary"
    environment = {"GITHUB_STEP_SUMMARY": str(named)}

    write("github", [pair()], tmp_path, environment)
    once = named.read_text(encoding="utf-8")
    named.write_bytes(b"before \xff\n")
    files = write("github", [pair()], tmp_path, environment)

    assert named.read_text(encoding="utf-8") == f"before \ufffd\n{once}"
    assert set(files) == {"annotations.txt"}


# --- JUnit ----------------------------------------------------------------------------------


def junit(files: dict[str, str]) -> Xml.Element:
    return Xml.fromstring(files["junit.xml"])  # noqa: S314  our own file


def cases(root: Xml.Element, tag: str) -> Iterator[tuple[str | None, str | None]]:
    return (
        (c.get("classname"), c.get("name"))
        for c in root.iter("testcase")
        if c.find(tag) is not None
    )


def test_junit_tells_failure_error_and_skipped_apart(tmp_path: Path) -> None:
    root = junit(write("junit", [pair(), ours()], tmp_path))

    assert list(cases(root, "failure")) == [
        ("plan_gate.validator", "title of validator.1"),
        ("plan_gate.tests", "title of tests.0"),
    ]
    assert list(cases(root, "error")) == [("plan_gate.tests", "title of tests.0")]
    assert [name for name, _ in cases(root, "skipped")] == ["plan_gate.break"] * 2
    counts = [
        tuple(element.get(name) for name in ("tests", "failures", "errors", "skipped"))
        for element in (root, *root.findall("testsuite"))
    ]
    assert counts == [("10", "2", "1", "2"), ("8", "2", "0", "2"), ("2", "0", "1", "0")]


def test_junit_has_points_as_properties(tmp_path: Path) -> None:
    suites = junit(write("junit", [pair(), ours(), both()], tmp_path)).findall("testsuite")

    said = {
        suite.get("name"): {p.get("name"): p.get("value") for p in suite.iter("property")}
        for suite in suites
    }
    assert list(said) == ["pair/plan_gate", "ours/plan_gate", "both/plan_gate", "both/result_gate"]
    assert said["pair/plan_gate"]["points"] == "1.66"
    assert said["pair/plan_gate"]["points.validator"] == "0.66"
    assert said["pair/plan_gate"]["max_points"] == "4"
    assert said["ours/plan_gate"] == {
        "points": "not judged",
        "max_points": "2",
        "points.inventory": "1",
        "points.tests": "not judged",
    }


def test_junit_leaves_out_what_is_not_graded(tmp_path: Path) -> None:
    extra = report("pair", workshop_report("plan_gate", {"tests": ["pass"]}, extras=("fail",)))

    root = junit(write("junit", [extra], tmp_path))

    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_can_be_read_whatever_a_name_or_a_text_holds(tmp_path: Path) -> None:
    reports = [pair(text, found=f"{text}!") for text in HOSTILE]
    reports.append(pair("lone", found="lone \ud800 surrogate"))

    root = junit(write("junit", reports, tmp_path))

    names = [suite.get("name") for suite in root.findall("testsuite")]
    assert names == [f"{clean(item.submission)}/plan_gate" for item in reports]
    messages = {failure.get("message") for failure in root.iter("failure")}
    assert messages == {clean(f"{text}!") for text in HOSTILE} | {"lone  surrogate"}
    assert clean("\x00a\x0b\ud800\ufffe\t\n\U0001f600") == "a\t\n\U0001f600"


# --- Through the command --------------------------------------------------------------------


@pytest.fixture
def class_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class whose one pair needs no judging: its report is made by hand."""
    (tmp_path / "class" / "pair" / "notebooks" / "plan_gate").mkdir(parents=True)
    monkeypatch.setattr(grade, "_judge_all", lambda *_: iter([pair()]))
    return tmp_path / "class"


def test_grading_writes_each_export_that_was_asked_for(class_of_one: Path, tmp_path: Path) -> None:
    weights = tmp_path / "mine.toml"
    blocks = ("inventory", "contract", "validator", "tests", "break", "debrief")
    weights.write_text("[plan_gate]\n" + "".join(f"{block} = 3\n" for block in blocks))
    options = Options(exports=("canvas", "junit"), weights=weights)

    grade_class(class_of_one, tmp_path / "out", options, lambda *_: None)

    exports = tmp_path / "out" / "exports"
    assert {path.name for path in exports.iterdir()} == {"canvas", "junit"}
    assert "pair,,,pair,,5" in (exports / "canvas" / "plan_gate.csv").read_text(encoding="utf-8")
    book = rows_of((tmp_path / "out" / "gradebook.csv").read_text(encoding="utf-8"))
    assert [(row["points"], row["max_points"]) for row in book] == [("5", "12")]


def test_without_an_export_none_is_written(class_of_one: Path, tmp_path: Path) -> None:
    grade_class(class_of_one, tmp_path / "out", Options(), lambda *_: None)

    assert not (tmp_path / "out" / "exports").exists()


@pytest.mark.parametrize(
    "options", [Options(exports=("nonsense",)), Options(weights=Path("none.toml"))]
)
def test_a_wrong_option_is_refused_before_anything_is_graded(
    options: Options, class_of_one: Path, tmp_path: Path
) -> None:
    with pytest.raises(CourseError):
        grade_class(class_of_one, tmp_path / "out", options, lambda *_: None)

    assert not (tmp_path / "out").exists()


def test_a_class_never_lies_where_exports_are_written_anew(
    class_of_one: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out" / "exports" / "canvas"
    folder.parent.mkdir(parents=True)
    class_of_one.rename(folder)

    with pytest.raises(CourseError, match="would be written into what is graded"):
        grade_class(folder, tmp_path / "out", Options(exports=("canvas",)), lambda *_: None)

    assert (folder / "pair").is_dir()


def test_the_command_names_the_exports_that_there_are(tmp_path: Path) -> None:
    done = instructor("grade", tmp_path, "--out", tmp_path / "out", "--export", "blackboard")

    assert done.code == 2
    assert done.err.startswith("instructor: There is no export 'blackboard'. Known: canvas, ")
    assert "Traceback" not in done.err
