"""Copies lie in memory where there is room, and nothing of them stays there."""

import os
from pathlib import Path

import pytest

from instructor.out_folder import places_for
from instructor.sandbox import copies
from instructor.sandbox.copies import folder_for_copies

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
    limit(tmp_path, "user/memory.max", str(2 * ROOM_A_WORKER))
    return folder


def limit(tmp_path: Path, file: str, text: str) -> None:
    """Write what limits a group of the test's own."""
    place = tmp_path / "cgroups" / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n", encoding="ascii")


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
    ("file", "text", "room"),
    [
        ("user/run 1/memory.max", str(ROOM_A_WORKER), ROOM_A_WORKER),
        ("memory/memory.limit_in_bytes", "5", 5),
        ("memory/old/memory.limit_in_bytes", "6", 6),
        ("user/run 1/memory.max", "max", 2 * ROOM_A_WORKER),
        ("user/run 1/memory.max", str(3 * ROOM_A_WORKER), 2 * ROOM_A_WORKER),
        ("user/another/memory.max", "5", 2 * ROOM_A_WORKER),
    ],
)
def test_each_group_that_a_process_is_in_limits_the_room(
    file: str, text: str, room: int, tmp_path: Path
) -> None:
    limit(tmp_path, file, text)
    assert copies.room() == room


@pytest.mark.usefixtures("memory")
def test_without_a_limit_there_is_what_the_machine_has(tmp_path: Path) -> None:
    (tmp_path / "own").unlink()
    assert copies.room() > 2 * ROOM_A_WORKER


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
