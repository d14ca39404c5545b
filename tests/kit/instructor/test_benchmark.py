"""The benchmark does the same work twice, says what each took, and that both judge alike."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console

from instructor import CourseError
from instructor.benchmark import Results, assignment, rivals, sample, tables
from instructor.benchmark.growth import Size
from instructor.benchmark.rounds import Compared
from instructor.benchmark.spent import NOTEBOOKS, Judged, Spent
from instructor.benchmark.stock import Plain
from instructor.commands.benchmark import numbers
from instructor.grade import known_workshops
from instructor.judging import judge_evidence
from lab.workshop import Workshop
from tests.kit.command import in_workspace
from tests.kit.instructor.toy_course import build_course


@pytest.mark.parametrize("text", ["10,x", "", "-1", "1.5"])
def test_sizes_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=repr(text)):
        numbers(text)


def test_sizes_are_numbers_and_nought_is_none() -> None:
    assert (numbers("10,100"), numbers("0")) == ((10, 100), ())


def results() -> Results:
    plain = Spent({NOTEBOOKS: 3.0}, {NOTEBOOKS: 2})
    pieces = Spent({NOTEBOOKS: 0.3}, {NOTEBOOKS: 3})
    judged = {"a": {"x": "pass", "y": "fail"}}
    other = {"a": {"x": "pass", "y": "pass"}}
    whole = {
        1: Compared([9.0, 10.0, 30.0], [1.0, 2.0, 1.0], judged, other),
        2: Compared([5.0], [0.004], judged, other),
    }
    sizes = [Size(10, 20.0, 80.4, 120.0), Size(1000, 1500.0, 90.0, 121.0)]
    return Results("w", "C", 2, 0.5, 1, 3, pieces, plain, whole, sizes)


def printed(found: Results) -> str:
    console = Console(file=StringIO(), width=80)
    tables.print_results(found, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_row_has_the_time_of_one_and_the_ratio() -> None:
    lines = {line[:28].strip(): line.split() for line in printed(results()).splitlines()}

    assert lines["a notebook"][2:] == ["1,500", "ms", "100", "ms", "15.0"]
    assert lines["a file of visible checks"][5:] == ["-", "-", "-"]
    assert lines["a submission, 1 at once"][5:] == ["10,000", "ms", "1,000", "ms", "10.0"]
    assert lines["a submission, 2 at once"][5:] == ["5,000", "ms", "4.00", "ms", "1250.0"]


def test_growth_says_time_and_memory_of_each_size() -> None:
    lines = [line.split() for line in printed(results()).splitlines()]

    assert ["10", "20", "2,000", "ms", "80", "MiB", "120", "MiB"] in lines
    assert ["1000", "1500", "1,500", "ms", "90", "MiB", "121", "MiB"] in lines


def test_what_the_two_judge_otherwise_is_named_once() -> None:
    said = printed(results())

    assert "Judged alike: 1 of 2 outcomes." in said
    assert said.count("a: y is fail by plain means, pass by ours") == 1


SAYS = {
    "nbgrader": {"version": "1.2", "seconds": [3.0, 9.0, 4.0], "shares": {"a": 1.0, "b": 0.8}},
    "otter-grader": {"version": "3", "seconds": [0.5], "shares": {"a": 1.0, "b": 1.0}},
}


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (None, "cannot be started"),
        ("echo no >&2; exit 3", "ended with 3: no"),
        ("echo hello", "ended with 0: it said nothing"),
        ("echo '{}'", "has neither nbgrader nor otter-grader"),
    ],
)
def test_a_python_without_other_graders_is_refused(
    script: str | None, says: str, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)

    with pytest.raises(CourseError, match=re.escape(says)):
        rivals._theirs(str(python), tmp_path, {})


def test_the_same_notebooks_are_graded_by_others_and_by_ours(
    tmp_path: Path, workshop: Workshop
) -> None:
    """Two kernels of ours, before and after; the wrong solution is told from the right one."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho noise\necho '{json.dumps(SAYS)}'\n")
    python.chmod(0o755)

    nbgrader, otter, ours = rivals.compare_rivals(str(python), workshop, tmp_path, 1)

    assert nbgrader == rivals.Grader("nbgrader 1.2", 4.0, right=True)
    assert otter == rivals.Grader("otter-grader 3", 0.5, right=False)
    assert (ours.name, ours.right) == ("ours", True)
    given = json.loads((tmp_path / "notebooks.json").read_text(encoding="utf-8"))
    assert list(given["submissions"]) == ["student-0", "student-1"]
    assert sorted(given["masters"]) == ["nbgrader", "otter-grader"]


@pytest.mark.parametrize("name", ["nbgrader", "otter-grader"])
def test_every_grader_gets_the_same_task_and_checks(name: str) -> None:
    cells = json.loads(assignment.master(name))["cells"]
    handed_in = json.loads(assignment.submission(assignment.WRONG))["cells"]

    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert code == [assignment.START, assignment.RIGHT, *assignment.CHECKS]
    assert [c["source"] for c in handed_in if c["cell_type"] == "code"] == [
        assignment.START, assignment.WRONG, *assignment.CHECKS,
    ]  # fmt: skip
    assert assignment.WRONG != assignment.RIGHT


def test_other_graders_have_a_row_each_with_the_ratio_to_ours() -> None:
    found = results()
    found.rivals = [
        rivals.Grader("other 1", 3.0, right=False),
        rivals.Grader("ours", 0.2, right=True),
    ]

    lines = [line.split() for line in printed(found).splitlines()]

    assert ["other", "1", "3,000", "ms", "15.0", "not", "told"] in lines
    assert ["ours", "200", "ms", "1.0", "told"] in lines


def test_what_was_spent_comes_back_from_plain_data() -> None:
    judged = Judged({"a": "pass"}, Spent({NOTEBOOKS: 1.5}, {NOTEBOOKS: 3}))
    total = Spent()
    for _ in range(2):
        total.add(Judged.from_json(judged.to_json()).spent)

    assert total == Spent({NOTEBOOKS: 3.0}, {NOTEBOOKS: 6})


def test_the_smallest_benchmark_judges_alike_by_plain_means_and_by_ours(tmp_path: Path) -> None:
    course = build_course(tmp_path / "course")
    sizes = ("--submissions", "1", "--workers", "1", "--growth", "2")

    done = in_workspace(course, "-m", "instructor", "benchmark", *sizes)

    assert done.code == 0, done.err
    assert "toy_gate, 1 submission, 1 round; " in done.out
    assert "Judged alike: 9 of 9 outcomes." in done.out
    for name in (*tables.NAMES.values(), "a submission, 1 at once"):
        (line,) = [line for line in done.out.splitlines() if line.startswith(f"{name} ")]
        # A time each way and their ratio, which is not looked at: the machine may be busy.
        assert line.count(" ms") == 2
        assert float(line.split()[-1]) > 0
    assert [line.split()[0] for line in done.out.splitlines() if line.endswith("MiB")] == ["2"]


@pytest.mark.parametrize("workshop", known_workshops(()), ids=lambda workshop: workshop.id)
def test_each_hidden_input_gets_its_verdict_by_plain_means_too(
    tmp_path: Path, workshop: Workshop
) -> None:
    (folder,) = sample(workshop, tmp_path, 1)
    plain = Plain(folder, workshop, tmp_path)

    plain.cases()

    found = judge_evidence(workshop, plain.bench, ["cases"])
    assert {name: item.found for name, item in found.items() if item.outcome != "pass"} == {}
    assert found
