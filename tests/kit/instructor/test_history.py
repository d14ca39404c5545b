"""What a submission's commits say: read from a copy, judged as grading does, never graded."""

from datetime import timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from dulwich.objects import Tree
from dulwich.repo import Repo

from instructor import COURSE
from instructor.commits import commit_all, start_repository
from instructor.history import NO_GIT, History, read_history
from instructor.judging import Job
from instructor.paces import read_paces
from instructor.sandbox import commits
from instructor.submission import copy_git_data
from lab.workshop import load_workshop
from tests.kit.conftest import NOW

PATHS = ["lab/gate.py", "fixtures/a.json"]


def commit(root: Path, minute: int, **files: str) -> None:
    for name, text in files.items():
        path = root / {"gate": "lab/gate.py", "a": "fixtures/a.json", "other": "b.txt"}[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit_all(root, NOW + timedelta(minutes=minute), f"Minute {minute}")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "pair"
    root.mkdir()
    start_repository(root)
    return root


def read(root: Path, states: int = 40) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read a repository as the sandbox does; give its rows, and its blobs by id."""
    git = root.parent / "git"
    assert copy_git_data(root, git)
    sent: list[dict[str, Any]] = []
    commits.read_commits({"git": str(git), "files": PATHS, "states": states}, sent.append)
    blobs = {row["blob"]: row["data"] for row in sent if "blob" in row}
    return [row for row in sent if "commit" in row], blobs


def test_a_repository_without_a_commit_has_none(repository: Path) -> None:
    assert read(repository) == ([], {})


def test_a_head_that_is_no_reference_is_no_commit(repository: Path) -> None:
    commit(repository, 0, gate="x")
    (repository / ".git" / "HEAD").write_text("ref: ../../etc/passwd\n")

    assert read(repository) == ([], {})


def test_a_parent_that_is_not_there_ends_the_line(repository: Path) -> None:
    commit(repository, 0, gate="x")
    commit(repository, 1, gate="y")
    with Repo(str(repository)) as opened:
        first = opened[opened.head()].parents[0].decode()  # type: ignore[attr-defined]
    (repository / ".git" / "objects" / first[:2] / first[2:]).unlink()

    rows, _ = read(repository)

    assert [row["at"] for row in rows] == [int(NOW.timestamp()) + 60]


def test_a_file_that_is_not_there_is_left_out_and_the_rest_is_read(repository: Path) -> None:
    commit(repository, 0, gate="x", a="{}")
    with Repo(str(repository)) as opened:
        tree = opened[opened[opened.head()].tree]  # type: ignore[attr-defined]
        assert isinstance(tree, Tree)
        fixtures = tree[b"fixtures"][1].decode()
    (repository / ".git" / "objects" / fixtures[:2] / fixtures[2:]).unlink()

    rows, blobs = read(repository)

    assert [list(row["files"]) for row in rows] == [["lab/gate.py"]]
    assert len(blobs) == 1


def test_a_link_and_a_folder_in_a_files_place_are_no_files(repository: Path) -> None:
    (repository / "lab" / "gate.py").mkdir(parents=True)
    (repository / "lab" / "gate.py" / "x").write_text("x")
    (repository / "fixtures").mkdir()
    (repository / "fixtures" / "a.json").symlink_to("/etc/passwd")
    commit_all(repository, NOW, "Odd files")

    rows, blobs = read(repository)

    assert [row["files"] for row in rows] == [{}]
    assert blobs == {}


def test_a_commit_that_changes_no_file_of_ours_is_counted_and_not_judged(repository: Path) -> None:
    commit(repository, 0, gate="x")
    commit(repository, 1, other="y")
    commit(repository, 2, gate="z")

    rows, _ = read(repository)

    assert [row["files"] is None for row in rows] == [False, True, False]


def test_of_many_states_some_are_kept_with_the_first_and_the_last(repository: Path) -> None:
    for minute in range(9):
        commit(repository, minute, gate=str(minute))

    rows, blobs = read(repository, states=3)

    assert [n for n, row in enumerate(rows) if row["files"] is not None] == [0, 4, 8]
    assert len(blobs) == 3


def test_settings_hooks_and_other_places_for_objects_are_not_copied(repository: Path) -> None:
    commit(repository, 0, gate="x")
    git = repository / ".git"
    (git / "config").write_text('[core]\n fsmonitor = "touch here"\n[include]\n path = /etc/x\n')
    (git / "hooks").mkdir(exist_ok=True)
    (git / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch here\n")
    (git / "objects" / "info").mkdir(exist_ok=True)
    (git / "objects" / "info" / "alternates").write_text(f"{COURSE}/.git/objects\n")
    (git / "refs" / "link").symlink_to("/etc")

    rows, _ = read(repository)

    copied = {path.name for path in (repository.parent / "git").rglob("*")}
    assert len(rows) == 1
    assert not copied & {"config", "hooks", "alternates", "link"}


def as_link(root: Path) -> None:
    (root / ".git").rename(root.parent / "elsewhere")
    (root / ".git").symlink_to(root.parent / "elsewhere")


def as_file(root: Path) -> None:
    (root / ".git").rename(root.parent / "elsewhere")
    (root / ".git").write_text(f"gitdir: {root.parent / 'elsewhere'}\n")


def without_head(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()


@pytest.mark.parametrize("change", [as_link, as_file, without_head])
def test_what_is_not_a_repository_of_its_own_has_no_history(
    change: Any, repository: Path, tmp_path: Path
) -> None:
    commit(repository, 0, gate="x")
    change(repository)

    assert read_history(job(repository, tmp_path), tmp_path).note == NO_GIT


def test_a_repository_that_cannot_be_read_says_so_and_stops_nothing(
    repository: Path, tmp_path: Path
) -> None:
    commit(repository, 0, gate="x")
    for path in (repository / ".git" / "objects").rglob("??????*"):
        if path.is_file():
            path.write_bytes(b"no object")

    (pace,) = read_paces([job(repository, tmp_path)], 1, None)

    assert pace.note == "its git history cannot be read"


def job(folder: Path, scratch: Path) -> Job:
    return Job(folder.name, folder, (load_workshop(COURSE, "plan_gate"),), scratch)


@pytest.fixture(scope="module")
def told(
    released: Path, reference: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[History, Path]:
    """A pair's history: the release, then the inventory, then everything; and its folder."""
    folder = tmp_path_factory.mktemp("class") / "pair"
    copytree(released, folder)
    done = "fixtures/plan_gate/inventory.json"
    (folder / done).write_bytes((reference / done).read_bytes())
    commit_all(folder, NOW + timedelta(minutes=12), "Write the inventory")
    copytree(reference, folder, dirs_exist_ok=True)
    commit_all(folder, NOW + timedelta(minutes=50), "Everything else")
    return read_history(job(folder, folder.parent), tmp_path_factory.mktemp("place")), folder


def test_each_state_is_judged_by_what_the_pair_can_see(told: tuple[History, Path]) -> None:
    history, _ = told

    (own,) = history.workshops
    assert [state.commit for state in own.states] == [0, 1, 2]
    seen = [state.outcomes["inventory.visible"] for state in own.states]
    assert seen == ["fail", "pass", "pass"]
    assert own.states[1].outcomes["validator.visible"] in {"fail", "blocked"}
    assert set(own.states[2].outcomes.values()) == {"pass"}


def test_the_states_of_a_history_change_nothing_that_was_handed_in(
    told: tuple[History, Path], reference: Path
) -> None:
    _, folder = told

    assert [path.name for path in folder.parent.iterdir()] == ["pair"]
    for path in reference.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            assert (folder / path.relative_to(reference)).read_bytes() == path.read_bytes()


def test_the_paces_of_a_class_come_in_order_and_one_without_git_says_so(
    tmp_path: Path, repository: Path
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "scratch").mkdir()
    jobs = [job(tmp_path / "bare", tmp_path / "scratch"), job(repository, tmp_path / "scratch")]

    paces = read_paces(jobs, 1, None)

    assert [(pace.submission, pace.note) for pace in paces] == [("bare", NO_GIT), ("pair", NO_GIT)]
    assert list((tmp_path / "scratch").iterdir()) == []
