"""Copies lie in memory where there is room, and nothing of them stays there."""

import os
from pathlib import Path

import pytest

from instructor.out_folder import places_for
from instructor.sandbox import copies
from instructor.sandbox.copies import ROOM_A_WORKER, folder_for_copies


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a folder of the test's own be what lies in memory; there is room for two workers."""
    folder = tmp_path / "memory"
    folder.mkdir()
    limit = tmp_path / "limit"
    limit.write_text(f"{2 * ROOM_A_WORKER}\n", encoding="ascii")
    monkeypatch.setattr(copies, "MEMORY", folder)
    monkeypatch.setattr(copies, "_CONTAINER_LIMITS", (tmp_path / "no_such_file", limit))
    return folder


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
def test_a_container_without_a_limit_has_what_the_machine_has(tmp_path: Path) -> None:
    limited = copies.room()

    (tmp_path / "limit").write_text("max\n", encoding="ascii")

    assert limited == 2 * ROOM_A_WORKER
    assert copies.room() != limited


def test_copies_lie_on_the_disk_where_nothing_can_lie_in_memory(
    memory: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MEMORY", memory / "absent")
    assert copies.room() == 0
    with folder_for_copies(disk, workers=1) as folder:
        assert folder == disk


@pytest.mark.usefixtures("memory")
def test_what_a_killed_grader_left_in_memory_goes_with_the_next_one(disk: Path) -> None:
    left = copies._locked_folder()
    assert left is not None
    folder, lock = left
    (folder / "file").touch()
    os.close(lock)  # as the system does when a process is killed

    with folder_for_copies(disk, workers=1):
        assert not folder.exists()


@pytest.mark.usefixtures("memory")
def test_what_another_grader_is_using_stays(disk: Path) -> None:
    with folder_for_copies(disk, workers=1) as first:
        with folder_for_copies(disk, workers=1) as second:
            assert first != second
        assert first.is_dir()
        assert not second.exists()


def test_a_link_with_such_a_name_is_not_followed(memory: Path, disk: Path) -> None:
    (disk / "precious").touch()
    (memory / "failing-closed-link").symlink_to(disk)

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
