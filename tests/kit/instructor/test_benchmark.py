"""The benchmark does the same work twice, says what each took, and that both judge alike."""

from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console

from instructor.benchmark import Results, tables
from instructor.benchmark.growth import Size
from instructor.benchmark.rounds import Compared
from instructor.benchmark.spent import NOTEBOOKS, Judged, Spent
from instructor.commands.benchmark import numbers
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
    return Results("w", "limits", 2, 0.5, 1, 3, pieces, plain, whole, sizes)


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
