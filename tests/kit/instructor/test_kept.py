"""A report is made again when anything that it depends on has changed, and only then."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from instructor import judging, kept
from instructor.intake.landing import Remark, Snapshot
from instructor.judging import Job, judge_submission
from instructor.kept import Kept
from instructor.report.model import Report, report_from_json
from lab.workshop import Workshop
from tests.kit.instructor.reports import report, workshop_report

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
KEY = "0" * 64


def snapshot(root: Path, *remarks: Remark) -> Snapshot:
    folder = root / "snapshot"
    (folder / "lab").mkdir(parents=True)
    (folder / "lab" / "gate.py").write_text("x = 1\n")
    (folder / "a").write_text("")
    return Snapshot(folder, list(remarks))


def rewrite(taken: Snapshot) -> None:
    (taken.path / "lab" / "gate.py").write_text("x = 2\n")


def add(taken: Snapshot) -> None:
    (taken.path / "b").write_text("")


def remove(taken: Snapshot) -> None:
    (taken.path / "a").unlink()


def rename(taken: Snapshot) -> None:
    (taken.path / "a").rename(taken.path / "b")


def move(taken: Snapshot) -> None:
    (taken.path / "lab" / "gate.py").rename(taken.path / "gate.py")


def remark(taken: Snapshot) -> None:
    taken.remarks.append(Remark("left-out", "'x' is a link.", "Hand in files."))


@pytest.mark.parametrize("change", [rewrite, add, remove, rename, move, remark])
def test_another_submission_has_another_key(
    change: Callable[[Snapshot], None], tmp_path: Path
) -> None:
    taken, keeper = snapshot(tmp_path), Kept(tmp_path, "10 10")
    before = keeper.key(taken, ["w"])

    change(taken)

    assert keeper.key(taken, ["w"]) != before


def test_other_settings_workshops_or_course_have_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = snapshot(tmp_path)
    keys = [
        Kept(tmp_path, "10 10").key(taken, ["v", "w"]),
        Kept(tmp_path, "10 20").key(taken, ["v", "w"]),
        Kept(tmp_path, "10 10").key(taken, ["w", "v"]),
        Kept(tmp_path, "10 10").key(taken, ["vw"]),
    ]
    monkeypatch.setattr(kept, "_course", lambda: "another")
    keys.append(Kept(tmp_path, "10 10").key(taken, ["v", "w"]))

    assert len(set(keys)) == 5


def test_the_course_s_digest_changes_with_any_file_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in kept.PARTS:
        (tmp_path / part).mkdir()
        (tmp_path / part / "file").write_text("1")
    monkeypatch.setattr(kept, "COURSE", tmp_path)
    digests = [kept._course.__wrapped__()]
    for part in kept.PARTS:
        (tmp_path / part / "file").write_text("2")
        digests.append(kept._course.__wrapped__())

    assert len(set(digests)) == 1 + len(kept.PARTS)


def test_the_same_has_the_same_key_wherever_it_lies(tmp_path: Path) -> None:
    taken, keeper = snapshot(tmp_path), Kept(tmp_path, "10 10")
    elsewhere = Snapshot(Path(copytree(taken.path, tmp_path / "elsewhere")))

    assert keeper.key(taken, ["w"]) == keeper.key(elsewhere, ["w"])


def test_what_could_not_be_judged_is_not_kept(tmp_path: Path) -> None:
    keeper = Kept(tmp_path / "kept", "")

    keeper.write(KEY, report("a", workshop_report("plan_gate", {"x": ["pass", "error"]})))

    assert keeper.read(KEY, "a") is None
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"version": 1}'])
def test_a_kept_file_that_is_no_report_is_no_report(text: str, tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.json").write_text(text)

    assert Kept(tmp_path, "").read(KEY, "a") is None


def test_a_kept_report_comes_back_in_the_name_of_who_has_the_same(tmp_path: Path) -> None:
    made = report("a", workshop_report("plan_gate", {"x": ["pass", "fail"]}))
    Kept(tmp_path, "").write(KEY, made)

    assert Kept(tmp_path, "").read(KEY, "b") == replace(made, submission="b")


def test_asked_to_grade_again_nothing_that_is_kept_counts(tmp_path: Path) -> None:
    made = report("a", workshop_report("plan_gate", {"x": ["pass"]}))
    Kept(tmp_path, "").write(KEY, made)

    assert Kept(tmp_path, "", read_old=False).read(KEY, "a") is None


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_report_that_is_read_back_is_written_as_it_was(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))

    assert report_from_json(data).to_json() == data


def test_only_what_has_changed_is_judged(
    workspace: Path, tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def judge(one: Workshop, *_: object) -> object:
        judged.append(one.id)
        return workshop_report(one.id, {"x": ["pass"]})

    monkeypatch.setattr(judging, "_judge_workshop", judge)

    def grade(name: str, *, again: bool = False) -> Report:
        keeper = Kept(tmp_path / "kept", "", read_old=not again)
        return judge_submission(Job(name, workspace, (workshop,), tmp_path, kept=keeper))

    first, second = grade("a"), grade("b")
    assert judged == ["plan_gate"]
    assert second == replace(first, submission="b")

    (workspace / "lab" / "plan_gate.py").write_text("x = 1\n")
    grade("a")
    assert judged == ["plan_gate"] * 2

    grade("a", again=True)
    assert judged == ["plan_gate"] * 3
