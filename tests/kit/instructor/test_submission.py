"""Snapshots: ordinary files only, the course's own code restored, everything odd remarked."""

import os
from pathlib import Path

import pytest

from instructor import CourseError
from instructor.intake.landing import MAX_FILE_BYTES, MAX_FILES
from instructor.submission import find_submissions, take_snapshot
from lab.workshop import Workshop
from tests.kit.command import COURSE


def remarks(source: Path, tmp_path: Path, workshop: Workshop) -> dict[str, str]:
    """Map a remark's kind to what was found; the copy is at tmp_path/snapshot."""
    snapshot = take_snapshot(source, tmp_path / "snapshot", [workshop])
    return {remark.id: remark.found for remark in snapshot.remarks}


def test_an_ordinary_workspace_gets_no_remark(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    assert remarks(workspace, tmp_path, workshop) == {}


def test_the_repository_and_caches_are_not_copied(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    (workspace / "__pycache__").mkdir()
    (workspace / "__pycache__" / "x.pyc").write_bytes(b"\x00")

    take_snapshot(workspace, tmp_path / "snapshot", [workshop])

    assert not (tmp_path / "snapshot" / ".git").exists()
    assert not (tmp_path / "snapshot" / "__pycache__").exists()


@pytest.mark.parametrize("target", ["/etc/hostname", "/etc", "..", "README.md"])
def test_a_link_is_left_out_wherever_it_leads(
    workspace: Path, tmp_path: Path, workshop: Workshop, target: str
) -> None:
    (workspace / "link").symlink_to(target)

    found = remarks(workspace, tmp_path, workshop)

    assert found == {"left-out": "'link' is a link; it was left out."}
    assert not (tmp_path / "snapshot" / "link").exists()


def test_a_pipe_is_left_out_and_nobody_waits_for_it(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    os.mkfifo(workspace / "pipe")

    found = remarks(workspace, tmp_path, workshop)

    assert found == {"left-out": "'pipe' is not an ordinary file; it was left out."}


def test_a_large_file_is_left_out(workspace: Path, tmp_path: Path, workshop: Workshop) -> None:
    with (workspace / "large.bin").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)

    assert "'large.bin' is too large" in remarks(workspace, tmp_path, workshop)["left-out"]


def test_thousands_of_files_are_cut_off_with_one_remark(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    (workspace / "z").mkdir()
    for number in range(MAX_FILES + 50):
        (workspace / "z" / f"{number:05}").touch()

    snapshot = take_snapshot(workspace, tmp_path / "snapshot", [workshop])

    assert [remark.id for remark in snapshot.remarks] == ["left-out"]
    assert (tmp_path / "snapshot" / "lab" / "plan_gate.py").is_file()


@pytest.mark.parametrize("name", ["json.py", "jsonschema.py", "pytest.py"])
def test_a_file_that_hides_a_module_is_named(
    workspace: Path, tmp_path: Path, workshop: Workshop, name: str
) -> None:
    (workspace / name).write_text("")

    assert name in remarks(workspace, tmp_path, workshop)["hides-a-module"]


@pytest.mark.parametrize("name", ["conftest.py", "tests/conftest.py", "pytest.ini"])
def test_settings_that_are_not_read_are_named(
    workspace: Path, tmp_path: Path, workshop: Workshop, name: str
) -> None:
    (workspace / name).write_text("")

    assert f"'{name}' was not read" in remarks(workspace, tmp_path, workshop)["not-read"]


def test_text_that_is_not_utf_8_is_named_with_its_place(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    (workspace / "lab" / "plan_gate.py").write_bytes(b"# caf\xe9\n")

    found = remarks(workspace, tmp_path, workshop)

    assert found == {"not-utf-8": "'lab/plan_gate.py' is not UTF-8 text at byte 5."}


def test_the_courses_own_code_is_restored_and_remarked(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    file = "tests/test_plan_gate_outcomes.py"
    (workspace / file).write_text("def test_everything():\n    pass\n")

    found = remarks(workspace, tmp_path, workshop)

    assert found == {"course-file-changed": f"{file} differs from the course's own; ours was used."}
    assert (tmp_path / "snapshot" / file).read_bytes() == (COURSE / file).read_bytes()


def test_other_line_endings_are_no_change(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    for path in workspace.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert remarks(workspace, tmp_path, workshop) == {}


def test_a_file_in_the_place_of_a_folder_makes_room(
    workspace: Path, tmp_path: Path, workshop: Workshop
) -> None:
    (workspace / "tests" / "test_plan_gate.py").unlink()
    (workspace / "tests" / "test_plan_gate_outcomes.py").unlink()
    (workspace / "tests").rmdir()
    (workspace / "tests").write_text("not a folder")

    take_snapshot(workspace, tmp_path / "snapshot", [workshop])

    assert (tmp_path / "snapshot" / "tests" / "test_plan_gate_outcomes.py").is_file()


def test_a_class_is_its_folders_and_a_submission_is_itself(
    workspace: Path, workshop: Workshop
) -> None:
    (workspace.parent / ".hidden").mkdir()
    (workspace.parent / "notes.txt").touch()

    assert find_submissions(workspace.parent, [workshop]) == {"workspace": workspace}
    assert find_submissions(workspace, [workshop]) == {"workspace": workspace}


def test_a_folder_without_submissions_is_refused(tmp_path: Path, workshop: Workshop) -> None:
    with pytest.raises(CourseError, match="holds no submission"):
        find_submissions(tmp_path, [workshop])
