"""A file is written whole or not at all, and nothing is left beside it."""

import os
from pathlib import Path

import pytest

from lab.whole_file import write_whole


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"old")
    begun: list[str] = []

    def stops_half_way(part: Path, data: bytes) -> int:
        begun.append(part.name)
        with part.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", stops_half_way)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "file", b"new")

    assert begun == [f".file.{os.getpid()}.part"]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_folder_in_its_place_stays(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()

    with pytest.raises(OSError, match="file"):
        write_whole(tmp_path / "file", b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_in_the_place_of_its_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").write_bytes(b"")

    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder" / "file", b"new")


def test_it_makes_the_folders_and_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"

    write_whole(path, b"one\r\n")
    write_whole(path, b"two\n")

    assert path.read_bytes() == b"two\n"
    assert list(path.parent.iterdir()) == [path]
