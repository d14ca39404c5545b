"""A fifth workshop is data, one gate module and one suite: the same instructor takes it as it is.

``tests/kit/toy_workshop/`` holds the files of one, in the places where a course has them. They are
laid over a copy of the course without its own workshops.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.kit.command import COURSE, in_workspace

TOY = Path(__file__).resolve().parents[1] / "toy_workshop"
# The course without its workshops: their gates come along, since nothing asks for them.
ROOMS = ("lab", "instructor")
# One submission, handed in by two.
NAMES = ("pair", "twin")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    others = shutil.ignore_patterns("answers", "weights.toml")
    for room in ROOMS:
        shutil.copytree(COURSE / room, root / room, ignore=others)
    shutil.copy(COURSE / "LICENSE", root)
    shutil.copytree(TOY, root, dirs_exist_ok=True)
    return root


def run(course: Path, *arguments: str) -> str:
    done = in_workspace(course, "-m", "instructor", *arguments)
    assert (done.code, done.err) == (0, ""), done.out + done.err
    return done.out


def test_the_toy_brings_no_code_of_the_instructors() -> None:
    code = sorted(path.relative_to(TOY).as_posix() for path in TOY.rglob("*.py"))

    assert [name for name in code if not name.startswith("fixtures/")] == [
        "lab/toy_gate.py",
        "tests/test_toy_gate.py",
        "tests/test_toy_gate_outcomes.py",
    ]


def test_a_fifth_workshop_is_checked_released_and_graded(course: Path, tmp_path: Path) -> None:
    """Red as a release, green with the reference, and a pair's slip is named.

    What is the same gets the same report, byte for byte. That grading a second time says the same
    is shown by the golden reports, which two runs of ``test_demo`` are compared with.
    """
    said = run(course, "check")
    assert "The course agrees with itself." in said
    assert said.count("toy_gate:") == 7

    run(course, "release", "toy_gate", "--to", str(tmp_path / "class" / "pair"))
    wrong = TOY / "fixtures" / "classroom" / "toy_unit_filled_in"
    shutil.copytree(wrong, tmp_path / "class" / "pair", dirs_exist_ok=True)
    # The check has run the notebook, and a kernel for each of these would only take time.
    (tmp_path / "class" / "pair" / "notebooks" / "toy_gate" / "1_toy.ipynb").unlink()
    shutil.copytree(tmp_path / "class" / "pair", tmp_path / "class" / "twin")
    run(course, "grade", str(tmp_path / "class"), "--out", str(tmp_path / "out"))

    pair, twin = ((tmp_path / "out" / name / "report.json").read_bytes() for name in NAMES)
    assert pair == twin.replace(b'"submission": "twin"', b'"submission": "pair"')
    report = json.loads((tmp_path / "out" / "pair" / "report.json").read_text(encoding="utf-8"))
    rows = {row["id"]: row for row in report["workshops"][0]["blocks"][0]["evidence"]}
    assert rows["gate.visible"]["outcome"] == "pass"
    assert "lets through readings without a unit" in rows["gate.units"]["found"]
