"""A machine that is not ready is told so, row by row, with what to do about it."""

import json
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from instructor import CourseError
from instructor.doctor import Row, check_workspace, machine, rows
from instructor.doctor import workspace as workspace_module
from instructor.doctor.machine import (
    GIB,
    clock_row,
    copies_row,
    course_row,
    disk_row,
    newest_file,
)
from instructor.doctor.rows import ask, package_rows, python_row
from instructor.sandbox.selftest import AttackResult
from lab.workshop import Workshop
from tests.kit.command import COURSE, instructor

NOW = datetime(2026, 9, 5, 12, 0, tzinfo=UTC)


def check(row: Row, status: str, *said: str) -> None:
    """A row that is not well says what to do, one that is has nothing to say."""
    assert row.status == status, row
    assert (row.next != "") == (status != "ok")
    for part in said:
        assert part in row.found


def test_a_folder_that_is_no_workspace_is_refused_with_the_command_that_makes_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(CourseError, match=r"is no workspace.*instructor release"):
        list(check_workspace(tmp_path, sys.executable))


@pytest.mark.parametrize("name", ["none", "dies", "talks", "troubled"])
def test_a_python_that_gives_no_answer_is_a_finding(name: str, tmp_path: Path) -> None:
    scripts = {"dies": "echo no >&2; exit 3", "talks": "echo hello", "troubled": "echo '{}'"}
    scripts["troubled"] = """echo '{"trouble": "it is Monday"}'"""
    said = {"none": "cannot be started", "dies": "3: no", "talks": "0: it said nothing"}
    path = tmp_path / name
    if name in scripts:
        path.write_text(f"#!/bin/sh\n{scripts[name]}\n")
        path.chmod(0o755)

    answer, trouble = ask(str(path), tmp_path, "packages")

    assert answer == {}
    assert said.get(name, "it is Monday") in trouble


def test_a_python_that_is_too_old_is_a_problem() -> None:
    check(python_row("3.10.9", ">=3.11", "here"), "problem", "3.10.9", ">=3.11")
    check(python_row("3.14.0rc1", ">=3.11", "here"), "ok")


def test_each_package_that_is_missing_or_out_of_range_has_a_row() -> None:
    found = package_rows(
        ["a>=1,<2", "b>=1", "c<3"], {"a": "2.0", "b": None, "c": "2.9"}, "Install."
    )

    assert [row.status for row in found] == ["ok", "problem", "problem"]
    check(found[1], "problem", "a is 2.0", "<2,>=1")
    check(found[2], "problem", "b is not installed", ">=1")


def test_where_copies_lie_is_said_and_what_would_keep_them_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MEMORY", tmp_path)
    assert copies_row(4 * GIB, cores=2).found == f"in memory ({tmp_path})"
    little = copies_row(GIB, cores=2).found
    assert little.startswith("on the disk; 4 GiB that are free in")
    assert little.endswith("and there are 1.0")
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "absent")
    assert copies_row(0, cores=2).found == "on the disk"


@pytest.mark.parametrize(
    ("free", "status"), [(1.9 * GIB, "warning"), (0.2 * GIB, "problem"), (2 * GIB, "ok")]
)
def test_a_full_disk_is_named_with_its_place(free: float, status: str, tmp_path: Path) -> None:
    check(disk_row("Disk", tmp_path, int(free)), status, "GiB free", str(tmp_path))


def test_a_clock_before_the_course_is_wrong_and_another_time_zone_is_not() -> None:
    check(clock_row(NOW - timedelta(days=2), NOW), "problem", "2026-09-03", "2026-09-05")
    check(clock_row(NOW - timedelta(hours=20), NOW), "ok", "UTC+0000")


def test_the_newest_file_of_a_course_is_found(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    assert newest_file(tmp_path) == datetime.fromtimestamp(0, UTC)

    (tmp_path / "lab" / "x").write_text("")
    assert (datetime.now(UTC) - newest_file(tmp_path)) < timedelta(days=1)


def test_a_program_without_its_course_is_a_problem(tmp_path: Path) -> None:
    check(course_row(tmp_path), "problem", "no notebooks/")

    folder = tmp_path / "notebooks" / "x"
    folder.mkdir(parents=True)
    (folder / "timing.toml").write_text("title =")
    check(course_row(tmp_path), "problem", "notebooks/x/timing.toml")

    check(course_row(COURSE), "ok", "plan_gate")


def test_a_machine_without_a_browser_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "platform", "linux")
    check(machine.browser_row(), "warning", "None was found")

    monkeypatch.setattr(shutil, "which", lambda name: name == "firefox")
    check(machine.browser_row(), "ok", "firefox")


@pytest.mark.parametrize(("tier", "says"), [("A", ""), ("B", "For tier A: Install it.")])
def test_each_attack_that_was_held_off_has_a_row(
    tier: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("read a file", "write a file")
    results = [AttackResult(name, contained=True, said="PermissionError") for name in names]
    sandbox, attack, _ = sandbox_rows(tier, results, monkeypatch)

    check(sandbox, "ok", f"tier {tier}: 2 attacks were tried, none came through.")
    assert says in sandbox.found
    check(attack, "ok", "read a file: held off")


def test_a_machine_that_only_limits_is_a_problem_and_each_attack_says_what_it_came_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = [
        AttackResult("read a file", contained=False, said="it succeeded"),
        AttackResult("fork for ever", contained=True, said="limit"),
    ]
    sandbox, read, fork = sandbox_rows("C", results, monkeypatch)

    check(sandbox, "problem", "can read and write what you can")
    assert sandbox.next == "Install it. Until then, --require-tier C grades all the same."
    check(read, "warning", "read a file: it succeeded")
    check(fork, "ok", "fork for ever: held off")


def sandbox_rows(
    tier: str, results: list[AttackResult], patch: pytest.MonkeyPatch
) -> Iterator[Row]:
    patch.setattr(machine, "tier", lambda: tier)
    patch.setattr(machine, "attack_results", lambda: results)
    patch.setattr(machine, "missing", lambda _: ["Install it."])
    return machine.sandbox_rows()


def test_a_workspace_s_own_environment_is_the_one_that_is_checked(workspace: Path) -> None:
    """It is broken here, and the command says so, exits with 1, and says what to do."""
    own = workspace / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\nexit 7\n")
    own.chmod(0o755)
    shutil.rmtree(workspace / "notebooks")

    done = instructor("doctor", "--student", workspace)

    assert (done.code, done.err) == (1, "")
    red = [line.split()[1] for line in done.out.splitlines() if line.startswith("✗")]
    assert red == ["Python", "Workspace", "Modules", "Kernel", "JupyterLab"]
    assert "ended with 7: it said nothing" in done.out
    assert "→ Make the workspace anew: uv run instructor release." in done.out
    assert "5 problems found." in done.out


def test_what_is_missing_or_other_in_a_workspace_is_named(
    workspace: Path, workshop: Workshop
) -> None:
    check(workspace_module.files_row(workspace, [workshop]), "ok", "are there")
    check(workspace_module.version_row(workspace, [workshop]), "ok")

    (workspace / "lab" / "coach.py").write_text("other = 1\n")
    (workspace / workshop.gate.file).unlink()

    check(workspace_module.files_row(workspace, [workshop]), "problem", workshop.gate.file)
    check(workspace_module.version_row(workspace, [workshop]), "warning", "lab/coach.py")


def test_modules_kernel_and_jupyterlab_that_do_not_start_say_why(
    workspace: Path, workshop: Workshop
) -> None:
    """Each is broken by a file that takes its place, as a pair's own file may."""
    (workspace / workshop.gate.file).write_text("raise SystemExit('not today')\n")
    for name in ("ipykernel_launcher", "jupyterlab"):
        (workspace / f"{name}.py").write_text("raise RuntimeError('mine')\n")

    check(
        workspace_module.modules_row(workspace, [workshop], sys.executable),
        "problem",
        f"{workshop.gate.module}: SystemExit: not today",
    )
    check(workspace_module.kernel_row(workspace, sys.executable), "problem", "RuntimeError")
    check(rows.lab_row(sys.executable, workspace), "problem", "RuntimeError: mine")


def test_the_command_checks_a_fresh_workspace_and_prints_json(workspace: Path) -> None:
    done = instructor("doctor", "--student", workspace, "--json")

    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert {row["name"]: row["status"] for row in found} == dict.fromkeys(
        ("Python", "Packages", "Workspace", "Files", "Version", "Modules", "Kernel", "JupyterLab"),
        "ok",
    )
