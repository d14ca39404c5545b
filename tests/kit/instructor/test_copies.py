"""Copies lie in memory where there is room, and nothing of them stays there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from instructor import judging
from instructor.evidence import Bench, Finding
from instructor.out_folder import places_for
from instructor.sandbox import copies
from instructor.sandbox.copies import folder_for_copies
from lab.workshop import Workshop
from tests.kit.instructor.benches import report_on

# So little that every machine has it.
ROOM_A_WORKER = 1 << 20


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a folder of the test's own be what lies in memory; there is room for two workers."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(copies, "MEMORY", folder)
    monkeypatch.setattr(copies, "ROOM_A_WORKER", ROOM_A_WORKER)
    monkeypatch.setattr(copies, "CGROUPS", tmp_path / "cgroups")
    monkeypatch.setattr(copies, "OWN_CGROUPS", tmp_path / "own")
    (tmp_path / "own").write_text("3:cpu:/x\n4:memory:/old\n0::/user/run 1\n", encoding="ascii")
    limit(tmp_path, "user/memory", "max", 2 * ROOM_A_WORKER)
    return folder


def limit(tmp_path: Path, file: str, ending: str, most: object, used: int = 0) -> None:
    """Write what limits a group of the test's own, and what it uses."""
    usage = {"max": "current", "limit_in_bytes": "usage_in_bytes"}
    for name, number in ((ending, most), (usage[ending], used)):
        place = tmp_path / "cgroups" / f"{file}.{name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{number}\n", encoding="ascii")


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Give the folder to fall back on."""
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


def test_copies_lie_in_memory_and_go_away_with_all_they_hold(memory: Path, disk: Path) -> None:
    with folder_for_copies(disk, workers=2) as folder:
        assert folder.parent == memory
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert list(memory.iterdir()) == []
    assert disk.is_dir()


def test_copies_lie_on_the_disk_where_memory_has_no_room(memory: Path, disk: Path) -> None:
    with folder_for_copies(disk, workers=3) as folder:
        assert folder == disk
        assert list(memory.iterdir()) == []
    assert disk.is_dir()


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("group", "ending", "most", "used", "room"),
    [
        ("user/run 1/memory", "max", ROOM_A_WORKER, 0, ROOM_A_WORKER),
        ("user/run 1/memory", "max", ROOM_A_WORKER, 10, ROOM_A_WORKER - 10),
        ("user/run 1/memory", "max", ROOM_A_WORKER, 2 * ROOM_A_WORKER, 0),
        ("memory/memory", "limit_in_bytes", 5, 0, 5),
        ("memory/old/memory", "limit_in_bytes", 16, 10, 6),
        ("user/run 1/memory", "max", "max", 0, 2 * ROOM_A_WORKER),
        ("user/run 1/memory", "max", 3 * ROOM_A_WORKER, 0, 2 * ROOM_A_WORKER),
        ("user/another/memory", "max", 5, 0, 2 * ROOM_A_WORKER),
    ],
)
def test_each_group_that_a_process_is_in_limits_the_room(
    group: str, ending: str, most: object, used: int, room: int, tmp_path: Path
) -> None:
    limit(tmp_path, group, ending, most, used)
    assert copies.room() == room


@pytest.mark.usefixtures("memory")
def test_without_a_limit_there_is_what_the_machine_has(tmp_path: Path) -> None:
    (tmp_path / "own").unlink()
    assert copies.room() > 2 * ROOM_A_WORKER


@pytest.mark.usefixtures("memory")
def test_memory_that_others_use_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies.psutil, "virtual_memory", lambda: SimpleNamespace(available=7))
    assert copies.room() == 7


def test_what_other_graders_may_still_write_is_no_room(memory: Path, disk: Path) -> None:
    with folder_for_copies(disk, workers=1) as first:
        assert first.parent == memory
        assert copies.room() == ROOM_A_WORKER
        with folder_for_copies(disk, workers=1), folder_for_copies(disk, workers=1) as third:
            assert third == disk
    assert copies.room() == 2 * ROOM_A_WORKER


def test_copies_lie_on_the_disk_where_nothing_can_lie_in_memory(
    memory: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MEMORY", memory / "absent")
    assert copies.room() == 0
    with folder_for_copies(disk, workers=1) as folder:
        assert folder == disk


HOLDS = """
import sys
from pathlib import Path
from instructor.sandbox import copies
copies.MEMORY, copies.ROOM_A_WORKER = Path(sys.argv[1]), 1
with copies.folder_for_copies(Path("disk"), 1) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_grader_left_in_memory_goes_with_the_next_one(
    memory: Path, disk: Path
) -> None:
    grader = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert grader.stdout is not None
    left = Path(grader.stdout.readline().strip())
    with folder_for_copies(disk, workers=1):
        assert (left / "file").is_file()
    grader.kill()
    grader.communicate()
    assert (left / "file").is_file()

    with folder_for_copies(disk, workers=1):
        assert not left.exists()


def test_what_another_user_has_in_memory_stays(
    memory: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory / "failing-closed-for-1-other").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: -1)

    with folder_for_copies(disk, workers=1):
        pass

    assert [path.name for path in memory.iterdir()] == ["failing-closed-for-1-other"]


@pytest.mark.usefixtures("memory")
def test_what_another_grader_is_using_stays(disk: Path) -> None:
    with folder_for_copies(disk, workers=1) as first:
        with folder_for_copies(disk, workers=1) as second:
            assert first != second
        assert first.is_dir()
        assert not second.exists()


def test_a_link_with_such_a_name_is_not_followed(memory: Path, disk: Path) -> None:
    (disk / "precious").touch()
    (memory / "failing-closed-for-1-link").symlink_to(disk)

    with folder_for_copies(disk, workers=1):
        pass

    assert (disk / "precious").is_file()


def test_grading_copies_to_memory_and_leaves_nothing_in_either_place(
    memory: Path, tmp_path: Path
) -> None:
    out = tmp_path / "reports"
    with places_for(out, workers=1) as (brought, folder):
        assert brought == out / ".work"
        assert brought.is_dir()
        assert folder.parent == memory
    assert list(out.iterdir()) == list(memory.iterdir()) == []


@pytest.mark.parametrize("limit", ["LITTLE_BYTES", "LITTLE_FILES"])
def test_work_that_was_judged_where_no_room_is_left_is_no_fail(
    limit: str,
    workspace: Path,
    workshop: Workshop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copies, limit, 1 << 62)

    (found,) = report_on(workspace, tmp_path, workshop, "tests.assumed").all_evidence

    assert found.outcome == "error"
    assert "there is no room left for its copies. Next: grade it again" in found.found


def test_work_whose_copy_went_away_meanwhile_is_no_fail(
    workspace: Path, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(_: object, bench: Bench) -> Finding:
        shutil.rmtree(bench.scratch)
        return Finding("fail", "It is missing.")

    monkeypatch.setattr(judging, "judge_one", judge)

    (found,) = report_on(workspace, tmp_path, workshop, "tests.assumed").all_evidence

    assert found.outcome == "error"
    assert "the folder of its copies went away meanwhile" in found.found
