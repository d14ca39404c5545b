"""The sample class: a pair's changes each fit exactly once, or the class is not built."""

import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from instructor import CourseError, classroom
from instructor.classroom import Pair, build_pair, load_pairs
from instructor.edits import replaced
from instructor.release import release
from lab.workshop import Workshop
from tests.kit.conftest import NOW

FILE = "tests/test_plan_gate.py"
MARK = "# More tests of your own, if you like."
FIRST = replace(load_pairs()[0], name="first", builds_on="release")
SECOND = replace(FIRST, name="second", builds_on="first")


@pytest.mark.parametrize(("text", "found"), [("a b c", 0), ("d a d", 2), ("", 0)])
def test_an_old_text_that_does_not_stand_once_is_refused(text: str, found: int) -> None:
    with pytest.raises(CourseError) as refused:
        replaced(text, [{"old": "d", "new": "e"}], "here, x.py")

    assert str(refused.value) == f"here, x.py: its old text 'd' stands {found} times, not once."


def test_an_old_text_of_several_lines_is_named_by_its_first() -> None:
    with pytest.raises(CourseError, match=r"^here: its old text 'if a:' stands 0 times"):
        replaced("", [{"old": "\n    if a:\n        b\n", "new": ""}], "here")


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(CourseError, match=r"^here: its old text '' stands 3 times, not once\.$"):
        replaced("ab", [{"old": "", "new": "c"}], "here")


def test_changes_are_made_in_turn_and_a_later_one_sees_what_an_earlier_one_wrote() -> None:
    changes = [{"old": "a", "new": "b c"}, {"old": "c d", "new": ""}]

    assert replaced("a d e", changes, "here") == "b  e"
    assert replaced("a d e", [], "here") == "a d e"


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, released: Path) -> Path:
    """An empty class folder, of pairs that all start from one and the same release."""

    def start(_workshops: list[Workshop], target: Path, _now: datetime) -> None:
        shutil.copytree(released, target)

    monkeypatch.setattr(classroom, "CLASSROOM", tmp_path / "samples")
    monkeypatch.setattr(classroom, "release", start)
    return tmp_path / "samples"


def write(folder: Path, *changes: tuple[str, str, str]) -> None:
    rows = [
        f"[[changes]]\nfile = '{file}'\nold = '''\n{old}'''\nnew = '''\n{new}'''\n"
        for file, old, new in changes
    ]
    folder.mkdir(parents=True)
    (folder / "changes.toml").write_text("\n".join(rows), encoding="utf-8")


def built(pair: Pair, samples: Path) -> Path:
    target = samples.parent / "built"
    build_pair(pair, [FIRST, SECOND], target, NOW)
    return target


@pytest.mark.parametrize(
    ("file", "old", "said"),
    [
        (FILE, "# no such line", f"first/changes.toml, {FILE}: its old text '# no such line' sta"),
        (FILE, MARK, "stands 0 times, not once"),  # the change before it took it away
        (FILE, "pytest.fail", "'pytest.fail' stands 3 times, not once"),
        ("tests/no.py", "a", "first/changes.toml, tests/no.py: there is no such file in what"),
        ("changes.toml", "a", "first/changes.toml, changes.toml: there is no such file"),
    ],
)
def test_a_change_that_does_not_fit_is_said_with_pair_and_file(
    file: str, old: str, said: str, samples: Path
) -> None:
    write(samples / "first", (FILE, MARK, ""), (file, old, ""))

    with pytest.raises(CourseError) as refused:
        built(FIRST, samples)

    assert said in str(refused.value)


def test_a_change_to_what_an_earlier_pair_took_away_is_said_with_the_later_pair(
    samples: Path,
) -> None:
    write(samples / "first", (FILE, MARK, "# Ours."))
    write(samples / "second", (FILE, MARK, "# Theirs."))

    with pytest.raises(CourseError, match=rf"^second/changes\.toml, {FILE}: .* stands 0 times"):
        built(SECOND, samples)


def test_a_pair_is_the_release_with_its_changes_after_its_files_and_those_before_it(
    samples: Path, released: Path
) -> None:
    write(samples / "first", (FILE, MARK, "# Ours."), ("README.md", "one\n", "two\n"))
    (samples / "first" / "README.md").write_text("one\n", encoding="utf-8")
    write(samples / "second", (FILE, "# Ours.", "# Theirs."))

    target = built(SECOND, samples)

    given = (released / FILE).read_text(encoding="utf-8")
    assert (target / FILE).read_text(encoding="utf-8") == given.replace(MARK, "# Theirs.")
    assert (target / "README.md").read_text(encoding="utf-8") == "two\n"
    assert list(target.rglob("changes.toml")) == []


def test_every_change_of_the_class_fits_what_is_released_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(workshops: list[Workshop], target: Path, now: datetime) -> None:
        kept = tmp_path / "kept" / "-".join(workshop.id for workshop in workshops)
        if not kept.exists():
            release(workshops, kept, now)
        shutil.copytree(kept, target)

    monkeypatch.setattr(classroom, "release", start)

    classroom.build_class(tmp_path / "class", NOW)

    names = {path.name for path in (tmp_path / "class").iterdir()}
    assert names == {pair.name for pair in load_pairs()}
    assert list((tmp_path / "class").rglob("changes.toml")) == []
