"""Release: an allow-list, without solutions, as one commit; or nothing at all."""

import json
from pathlib import Path

import pytest
from dulwich import porcelain
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Commit
from dulwich.refs import Ref
from dulwich.repo import Repo

from instructor import CourseError
from instructor.release import COMMON, find_leaks, read_pairs, release, workspace_files
from instructor.solutions import BEGIN, END, strip_solutions
from lab.fresh import _KEPT
from lab.workshop import Workshop
from tests.kit.command import COURSE, instructor
from tests.kit.conftest import NOW


def files(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in paths}
    return {name for name in names if not name.startswith(".git/")}


def test_release_makes_a_repository_with_one_commit_and_nothing_left_over(tmp_path: Path) -> None:
    done = instructor("release", "plan_gate", "--to", tmp_path / "pair")

    assert (done.code, done.err) == (0, "")
    with Repo(str(tmp_path / "pair")) as repository:
        assert len(list(repository.get_walker())) == 1
        assert repository.refs.get_symrefs()[b"HEAD"] == b"refs/heads/main"
        status = porcelain.status(repository)
    assert status.untracked == []
    assert status.unstaged == []


def test_the_commit_has_every_file_also_where_the_folder_is_given_relative(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    release([workshop], Path("below") / "pair", NOW)

    with Repo(str(tmp_path / "below" / "pair")) as repository:
        commit = repository[repository.refs[Ref(b"HEAD")]]
        assert isinstance(commit, Commit)
        found = iter_tree_contents(repository.object_store, commit.tree)
        committed = {(entry.path or b"").decode() for entry in found}
    assert committed == {file for file, _ in workspace_files([workshop])}


def test_a_workspace_holds_the_allow_list_and_no_more(released: Path, workshop: Workshop) -> None:
    assert files(released) == {file for file, _ in workspace_files([workshop])}


def test_every_module_that_all_workspaces_share_stays_loaded_while_a_pair_edits() -> None:
    """Else two of it would be there at once, the coach's and the one that was read again."""
    files = [Path(file) for file in COMMON if file.startswith("lab/") and file.endswith(".py")]
    shared = {f"lab.{file.stem}" for file in files if file.name != "__init__.py"}

    assert len(shared) > 20
    # The suites import this one, and it looks at a pair's files.
    assert shared - {"lab.outcomes"} <= _KEPT


def test_a_workspace_holds_no_solution_and_no_marker(released: Path, workshop: Workshop) -> None:
    text = "".join((released / file).read_text(encoding="utf-8") for file in files(released))

    assert list(find_leaks([workshop], released)) == []
    assert BEGIN not in text
    assert "sourced[key].append" not in text
    assert "would pass their own check" not in text


def test_a_release_is_the_same_for_every_pair(tmp_path: Path) -> None:
    names = tmp_path / "pairs.txt"
    names.write_bytes("\ufeffada & grace\r\nZoë's pair\r\n\r\n".encode())

    done = instructor("release", "plan_gate", "--to", tmp_path / "class", "--pairs", names)

    assert done.code == 0, done.err
    assert sorted(path.name for path in (tmp_path / "class").iterdir()) == [
        "Zoë's pair",
        "ada & grace",
    ]
    first, second = (tmp_path / "class" / name for name in ("ada & grace", "Zoë's pair"))
    assert {file: (first / file).read_bytes() for file in files(first)} == {
        file: (second / file).read_bytes() for file in files(second)
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("one\none\n", "line 2: 'one' stands in line 1 already"),
        ("One\none\n", "line 2: 'one' stands in line 1 already"),
        ("../up\n", "line 1: '../up' cannot be a folder's name"),
        ("a/b\n", "line 1: 'a/b' cannot be a folder's name"),
        (".hidden\n", "line 1: '.hidden' cannot be a folder's name"),
        ("-rf\n", "line 1: '-rf' cannot be a folder's name"),
        ("\n \n", "no name in it"),
    ],
)
def test_names_that_cannot_be_folders_are_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(content)

    with pytest.raises(CourseError) as raised:
        read_pairs(path)

    assert said in str(raised.value)
    assert "Nothing was written" in str(raised.value)


def test_a_bad_name_among_good_ones_writes_nothing(tmp_path: Path) -> None:
    names = tmp_path / "pairs.txt"
    names.write_text("good\na/b\n")

    done = instructor("release", "plan_gate", "--to", tmp_path / "class", "--pairs", names)

    assert done.code == 2
    assert "line 2" in done.err
    assert not (tmp_path / "class").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "work.txt").write_text("mine")

    done = instructor("release", "plan_gate", "--to", tmp_path)

    assert done.code == 2
    assert "is not empty" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["work.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["release", "no_such", "--to", "x"], "there is no workshop 'no_such'"),
        (["release", "plan_gate", "--to", "lab/new"], "lies inside the course"),
        (["release", "plan_gate", "--to", "README.md"], "is a file"),
        (["release", "plan_gate", "--to", "x", "--pairs", "no.txt"], "no.txt cannot be read"),
    ],
)
def test_what_cannot_be_released_is_said_in_one_line(arguments: list[str], said: str) -> None:
    done = instructor(*arguments)

    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (COURSE / "x").exists()


def test_a_planted_solution_line_is_a_leak(workspace: Path, workshop: Workshop) -> None:
    path = workspace / "lab" / "dry_run.py"
    path.write_text(f"{path.read_text()}\n    return problems or sorted(_disguises(plan))\n")

    leaks = list(find_leaks([workshop], workspace))

    assert [leak.file for leak in leaks] == ["lab/dry_run.py"]
    assert "a line of a solution" in leaks[0].found


def test_a_finished_fixture_is_a_leak(workspace: Path, workshop: Workshop) -> None:
    file = "fixtures/plan_gate/inventory.json"
    (workspace / file).write_bytes((COURSE / file).read_bytes())

    assert [(leak.file, leak.found) for leak in find_leaks([workshop], workspace)] == [
        (file, "it is the finished version")
    ]


def test_a_file_that_is_not_listed_is_a_leak(workspace: Path, workshop: Workshop) -> None:
    (workspace / "cases.json").write_text(json.dumps({}))

    assert [leak.file for leak in find_leaks([workshop], workspace)] == ["cases.json"]


def test_a_region_becomes_its_stub() -> None:
    solution = f"    {BEGIN}\n    return 42\n"
    stub = f"    ### STUB\n    # # Say why.\n    # return 0\n    {END}\n"
    text = f"def f():\n{solution}{stub}"

    assert strip_solutions(text, "x.py") == "def f():\n    # Say why.\n    return 0\n"


def test_a_region_without_a_stub_leaves_a_comment() -> None:
    assert strip_solutions(f"{BEGIN}\nx = 1\n{END}\n", "x.py").startswith("# Your code here")


@pytest.mark.parametrize(
    "text", [f"{BEGIN}\nx = 1\n", f"x = 1\n{END}\n", f"{BEGIN}\n{BEGIN}\n{END}\n"]
)
def test_a_region_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(CourseError, match=r"x\.py"):
        strip_solutions(text, "x.py")
