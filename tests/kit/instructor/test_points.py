"""Weights are refused with their place; points are derived from outcomes and never the reverse."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from instructor import COURSE, CourseError
from instructor.report.model import EvidenceReport, Report, WorkshopReport
from instructor.report.pages import gradebook
from instructor.report.points import number_text, points_of, total_text
from instructor.report.tables import csv_text
from instructor.report.weights import WEIGHTS_FILE, Weights, load_weights
from lab.workshop import Workshop, load_workshop, workshop_ids
from tests.kit.instructor.reports import HOSTILE, block, item, report, workshop_report

ALL = "inventory = 1\ncontract = 1\ntests = 1\nbreak = 1\ndebrief = 1\n"
TABLE = f"[plan_gate]\n{ALL}"


@pytest.fixture(scope="module")
def course() -> list[Workshop]:
    return [load_workshop(COURSE, name) for name in workshop_ids(COURSE)]


def refusal(text: str, course: list[Workshop], folder: Path) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as refused:
        load_weights(path, course)
    return str(refused.value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("0", "found 0."),
        ("0.0", "found 0.0."),
        ("-1", "found -1."),
        ("-0.1", "found -0.1."),
        ("nan", "found NaN."),
        ("inf", "found Infinity."),
        ("-inf", "found -Infinity."),
        ("true", "found true."),
        ("false", "found false."),
        ('"2"', "found '2'."),
        ("[1]", "found [1]."),
        ("1000.01", "found 1000.01."),
        ("0.009", "found 0.009."),
        ("0.333", "found 0.333."),
        ("1e999999999", "found 1E+999999999."),
        ("1e-999999999", "found 1E-999999999."),
        ("2026-01-01", "found datetime.date(2026, 1, 1)."),
    ],
)
@pytest.mark.parametrize("place", ["validator", "validator.weight", 'validator.evidence."v.x"'])
def test_what_is_no_weight_is_refused_with_its_place(
    value: str, found: str, place: str, course: list[Workshop], tmp_path: Path
) -> None:
    place = place.replace("v.x", "validator.bindings")

    said = refusal(f"{TABLE}{place} = {value}\n", course, tmp_path)

    assert said.startswith(f"mine.toml, plan_gate.{place}: {found}")
    assert "Expected: a number from 0.01 to 1000 with at most two decimals." in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[plan_gat]\n", "mine.toml: 'plan_gat' is no workshop. Expected one of: assumption_gate"),
        ("plan_gate = 3\n", "mine.toml, [plan_gate]: found 3. Expected: a table"),
        (f"{TABLE}valid = 1\n", "mine.toml, [plan_gate]: 'valid' is no block. Expected one of: "),
        (f"{TABLE}station = 1\n", "'station' is no block"),
        (TABLE, "mine.toml, [plan_gate]: no weight for validator. Expected: one for each of"),
        ("[plan_gate]\n", "no weight for inventory, contract, validator, tests, break, debrief."),
        (f"{TABLE}validator = 1\nvalidator = 1\n", "mine.toml cannot be read: Cannot overwrite"),
        (f"{TABLE}{TABLE}", "mine.toml cannot be read: Cannot declare"),
        (f"{TABLE}validator = {{ speed = 1 }}\n", "plan_gate.validator: 'speed' is no setting"),
        (f"{TABLE}validator.evidence = 2\n", "plan_gate.validator.evidence: found 2. Expected"),
        (f"{TABLE}validator.evidence.x = 2\n", "'x' is no graded evidence of this block."),
        (f"{TABLE}validator.evidence.'tests.own' = 2\n", "'tests.own' is no graded evidence"),
        (
            "[plan_gate]\ninventory = 1\nvalidator = 1\ntests = 1\nbreak = 1\ndebrief = 1\n"
            "contract.evidence.'notebook.1' = 2\n",
            "'notebook.1' is no graded evidence of this block. Expected one of: contract.visible",
        ),
        (
            "[plan_gate]\ninventory = 1\ncontract = 1\nvalidator = 1\nbreak = 1\ndebrief = 1\n"
            "tests.evidence.'tests.live' = 2\n",
            "plan_gate.tests.evidence: 'tests.live' is a guard: it is green from the start",
        ),
        ("[plan_gate\n", "mine.toml cannot be read: Expected ']'"),
        ("x = " + "9" * 5000, "mine.toml cannot be read: "),
    ],
)
def test_a_table_that_does_not_fit_the_course_is_refused(
    text: str, said: str, course: list[Workshop], tmp_path: Path
) -> None:
    assert said in refusal(text, course, tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, course: list[Workshop]) -> None:
    with pytest.raises(CourseError, match=r"none\.toml cannot be read: No such file"):
        load_weights(tmp_path / "none.toml", course)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, course: list[Workshop]) -> None:
    (tmp_path / "mine.toml").write_bytes(b"# caf\xe9\n")

    with pytest.raises(CourseError, match=r"mine\.toml cannot be read: 'utf-8'"):
        load_weights(tmp_path / "mine.toml", course)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_weight_is_the_exact_number_that_was_written(
    mark: str, course: list[Workshop], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    evidence = '{ "validator.bindings" = 3, "validator.live" = 0.5 }'
    path.write_text(f"{mark}{TABLE}validator = {{ weight = 0.1, evidence = {evidence} }}\n")

    weights = load_weights(path, course)

    assert weights.block("plan_gate", "validator") == Fraction(1, 10)
    assert weights.of_evidence("plan_gate", "validator", "validator.bindings") == 3
    assert weights.of_evidence("plan_gate", "validator", "validator.live") == Fraction(1, 2)
    assert weights.of_evidence("plan_gate", "validator", "validator.inventory") == 1
    assert weights.block("result_gate", "leak") == 1, "a workshop without a table counts 1 a block"


def test_the_courses_own_file_fits_and_weighs_every_block_alike(course: list[Workshop]) -> None:
    weights = load_weights(None, course)

    assert set(weights.blocks) == {(w.id, b.id) for w in course for b in w.blocks}
    assert set(weights.blocks.values()) == {1}
    assert "Speed has no weight" in WEIGHTS_FILE.read_text(encoding="utf-8")


def test_a_guard_earns_nothing_and_its_block_is_whole_without_it(course: list[Workshop]) -> None:
    weights = load_weights(None, course)
    rows = [item("pass", "tests.live"), item("fail", "tests.catch"), item("pass", "tests.own")]
    guards = [item("pass", name) for name in ("tests.live", "tests.assumed", "tests.visible")]

    def tests_block(*evidence: EvidenceReport) -> Decimal | None:
        made = WorkshopReport("plan_gate", "Plan", (block("tests", *evidence),))
        return points_of(report("pair", made), weights).earned

    assert tests_block(*guards) == 0
    assert tests_block(*rows) == Decimal("0.5")
    assert tests_block(*guards, item("pass", "tests.own")) == 1


def test_guards_are_known_where_a_course_has_no_weights(
    course: list[Workshop], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("instructor.report.weights.WEIGHTS_FILE", tmp_path / "none.toml")

    weights = load_weights(None, course)

    assert weights.of_evidence("plan_gate", "tests", "tests.live") == 0
    assert weights.of_evidence("plan_gate", "tests", "tests.own") == 1


def earned(*items: str, weights: Weights | None = None) -> Decimal | None:
    made = workshop_report("plan_gate", {"tests": list(items)})
    return points_of(report("pair", made), weights or Weights()).earned


@pytest.mark.parametrize(
    ("outcomes", "points"),
    [
        ([], "0"),
        (["fail"], "0"),
        (["blocked"], "0"),
        (["blocked", "blocked"], "0"),
        (["pass", "blocked"], "0.5"),
        (["pass", "fail", "blocked", "fail"], "0.25"),
        (["pass", "fail", "fail"], "0.33"),
        (["pass", "pass", "fail"], "0.66"),
        (["pass"], "1"),
        (["pass", "pass", "pass"], "1"),
    ],
)
def test_a_blocks_points_are_the_share_that_passed(outcomes: list[str], points: str) -> None:
    assert earned(*outcomes) == Decimal(points)


@pytest.mark.parametrize("others", [[], ["pass"], ["fail"], ["blocked"], ["pass"] * 9])
def test_one_error_leaves_a_block_not_judged_and_never_zero(others: list[str]) -> None:
    assert earned(*others, "error") is None


def test_a_total_with_one_block_not_judged_says_so() -> None:
    good = workshop_report("plan_gate", {"tests": ["pass"], "break": ["pass"]})
    ours = workshop_report("result_gate", {"leak": ["pass", "error"], "closed": ["pass"]})

    points = points_of(report("pair", good, ours))

    assert points.earned is None
    assert (total_text(points), total_text(points.workshops[1])) == ("not judged", "not judged")
    assert [b.id for b in points.workshops[1].not_judged] == ["leak"]
    assert total_text(points.workshops[0]) == "2 of 2"


def test_what_is_not_graded_never_counts() -> None:
    rows = [item("pass"), item("fail"), item("pass", graded=False), item("error", graded=False)]
    made = workshop_report("plan_gate", {"x": ["pass"]}, extras=("pass", "fail", "error"))
    made = made.__class__(made.id, made.title, (block("tests", *rows),), made.extras)

    points = points_of(report("pair", made))

    assert (points.earned, points.possible) == (Decimal("0.5"), 1)


def test_a_block_with_nothing_graded_earns_nothing() -> None:
    made = workshop_report("plan_gate", {"tests": []})

    points = points_of(report("pair", made))

    assert (points.earned, points.possible) == (0, 1)


def test_ten_blocks_of_a_tenth_make_exactly_one() -> None:
    names = [f"b{number}" for number in range(10)]
    weights = Weights({("plan_gate", name): Fraction(1, 10) for name in names})
    made = workshop_report("plan_gate", {name: ["pass"] for name in names})

    points = points_of(report("pair", made), weights)

    assert (points.earned, points.possible) == (1, 1)
    assert total_text(points) == "1 of 1"


def test_ten_evidence_of_a_tenth_make_exactly_the_block() -> None:
    names = [f"tests.{number}" for number in range(10)]
    parts = {("plan_gate", "tests", name): Fraction(1, 10) for name in names}

    assert (
        earned(*["pass"] * 10, weights=Weights({("plan_gate", "tests"): Fraction(3)}, parts)) == 3
    )
    assert earned("fail", *["pass"] * 9, weights=Weights({}, parts)) == Decimal("0.9")


def test_evidence_counts_by_its_weight_inside_its_own_block_alone() -> None:
    weights = Weights(
        {("plan_gate", "tests"): Fraction(2)}, {("plan_gate", "tests", "tests.0"): Fraction(3)}
    )

    assert earned("pass", "fail", weights=weights) == Decimal("1.5")
    assert earned("fail", "pass", weights=weights) == Decimal("0.5")
    other = workshop_report("result_gate", {"tests": ["pass", "fail"]})
    assert points_of(report("pair", other), weights).earned == Decimal("0.5")


@pytest.mark.parametrize("weight", ["0.01", "0.07", "1", "2.5", "1000"])
@pytest.mark.parametrize("number", [2, 3, 7, 150])
def test_a_block_that_lacks_one_check_never_shows_its_full_points(weight: str, number: int) -> None:
    weights = Weights({("plan_gate", "tests"): Fraction(Decimal(weight))})

    assert earned(*["pass"] * number, weights=weights) == Decimal(weight)
    less = earned(*["pass"] * (number - 1), "fail", weights=weights)
    assert less is not None
    assert 0 <= less < Decimal(weight)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0.00", "0"),
        ("1.50", "1.5"),
        ("100", "100"),
        ("1234567.25", "1234567.25"),
        ("1E+3", "1000"),
    ],
)
def test_a_number_is_written_without_exponents_and_separators(number: str, text: str) -> None:
    assert number_text(Decimal(number)) == text


def class_of_four() -> list[Report]:
    return [
        report("whole", workshop_report("plan_gate", {"tests": ["pass"], "break": ["pass"]})),
        report(
            "part", workshop_report("plan_gate", {"tests": ["pass", "fail"], "break": ["fail"]})
        ),
        report("ours", workshop_report("plan_gate", {"tests": ["pass"], "break": ["error"]})),
        report("other", workshop_report("result_gate", {"leak": ["blocked"]})),
    ]


def test_the_gradebook_leaves_points_empty_where_a_block_was_not_judged() -> None:
    head, *rows = [line.split(",") for line in gradebook(class_of_four()).splitlines()]

    place = head.index("blocks")
    assert head[place + 1 : place + 3] == ["points", "max_points"]
    points = {row[0]: tuple(row[place + 1 : place + 3]) for row in rows}
    assert points == {
        "whole": ("2", "2"),
        "part": ("0.5", "2"),
        "ours": ("", ""),
        "other": ("0", "1"),
    }


def test_the_gradebook_counts_by_the_teachers_weights() -> None:
    weights = Weights({("plan_gate", "tests"): Fraction(5, 2)})

    assert ",2,2,3.5,3.5,C," in gradebook(class_of_four()[:1], weights)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text[0] in "=+-@\t\r"])
def test_a_cell_that_looks_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert csv_text([[text]]) in {f"'{text}\n", f'"\'{text}"\n'}


@pytest.mark.parametrize("text", ["a=1", "0", "12.5", "", "Zoë", "'=1"])
def test_any_other_cell_is_left_alone(text: str) -> None:
    assert csv_text([[text, "x"]]) == f"{text},x\n"
