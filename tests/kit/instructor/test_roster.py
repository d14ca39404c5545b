"""Rosters: what cannot be meant is refused with its line; what is meant comes out as it was."""

from pathlib import Path

import pytest

from instructor import CourseError
from instructor.grade import Options, grade_class
from instructor.intake.roster import Entry, Source, public, read_roster
from instructor.report.folders import report_folders
from tests.kit.command import instructor


def entries(tmp_path: Path, text: str | bytes) -> list[Entry]:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_roster(path, tmp_path)


def kinds(tmp_path: Path, *sources: str) -> list[str]:
    rows = "".join(f'pair_{number},"{source}"\n' for number, source in enumerate(sources))
    found = entries(tmp_path, f"name,source\n{rows}")
    return [entry.attempts[0].source.kind for entry in found]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "roster.csv is empty. Expected: a head with at least name"),
        ("\ufeff\n \n", "roster.csv is empty."),
        ("name,source\n", "roster.csv lists nobody."),
        ("pair,source\na,b\n", "line 1: there is no column name, only 'pair', 'source'."),
        ("\nname,source,Source\n", "line 2: there are two columns source."),
        ("name,email,E-Mail\n", "line 1: there are two columns email."),
        ("name,source\npair_7,\n ,b\n", "line 3: the name is blank."),
        ("name\na/b\n", "line 2: 'a/b' cannot be the name of a folder."),
        ("name\na\\b\n", "cannot be the name of a folder."),
        ("name\n..\n", "line 2: '..' cannot be the name of a folder."),
        ('name\n"a\nb"\n', "line 3: 'a\\nb' cannot be the name of a folder."),
        ("name\na\x00b\n", "line 2: 'a\\x00b' cannot be the name of a folder."),
        ("name,source\na,b,c\n", "line 2: a row with 3 cells, and the head names 2."),
        ('name,source\na,"b\n', "this is no CSV (unexpected end of data)."),
        ("name,attempt\na,1\na,1\n", "line 3: 'a' has an attempt '1' already."),
        ("name,attempt\na,2\na,\n", "line 3: 'a' has an attempt '2' already."),
        ("name,email\na,a@b.example\na,b@b.example\n", "line 3: 'a' has another email"),
        ("name,source\na,ssh://git@git.example/a.git\n", "line 2: the source is an address with s"),
        ("name,source\na,git@git.example:team/a.git\n", "line 2: the source is an address with s"),
        ("name,source\na,ftp://u:secret@x.example/a\n", "with ftp, which is not fetched."),
        ("name\nZo\u00eb\n".encode("latin-1"), "line 2: this is not UTF-8 text."),
        ("name,source\na,b\n".encode("utf-16"), "line 1: this is not UTF-8 text."),
    ],
)
def test_a_roster_that_cannot_be_meant_is_refused_with_its_line(
    text: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(CourseError) as refused:
        entries(tmp_path, text)

    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'roster.csv'}")
    assert "secret" not in str(refused.value)


def test_a_roster_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"none\.csv cannot be read \(No such file"):
        read_roster(tmp_path / "none.csv", tmp_path)


def test_the_command_refuses_a_bad_roster_before_anything_is_graded(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("name,source\n,work\n")

    done = instructor("grade", "--roster", tmp_path / "roster.csv", "--out", tmp_path / "out")

    assert (done.code, done.out) == (2, "")
    assert "line 2: the name is blank." in done.err
    assert not (tmp_path / "out").exists()


def test_neither_a_folder_nor_a_roster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="Give a folder of submissions, or --roster"):
        grade_class(None, tmp_path / "out", Options(), lambda *_: None)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_same_roster_is_read_however_a_spreadsheet_saved_it(
    separator: str, start: str, ending: str, tmp_path: Path
) -> None:
    rows = [
        ["Name", "Room", "SIS Login ID", "E-mail"],
        ["Zoë & 日本", "12", "zoe7", "zoe@school.example"],
        [" Anna B ", "", "", ""],
        ["", "", "", ""],
    ]
    text = start + "".join(separator.join(row) + ending for row in rows)

    first, second = entries(tmp_path, text)

    assert first.name == "Zoë & 日本"
    assert first.ids == {"sis_login": "zoe7", "email": "zoe@school.example"}
    assert (second.name, second.ids) == ("Anna B", {})
    assert first.attempts[0].source == Source("nothing")


def test_several_rows_of_one_name_are_attempts_in_their_order(tmp_path: Path) -> None:
    found = entries(tmp_path, "name,attempt\npair_7,first\nteam-a,\npair_7,\n")

    labels = {entry.name: [attempt.label for attempt in entry.attempts] for entry in found}
    assert labels == {"pair_7": ["first", "2"], "team-a": ["1"]}


def test_a_source_is_known_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "work.zip").touch()
    (tmp_path / "work.tar").touch()
    for name in ("objects", "refs"):
        (tmp_path / "bare.git" / name).mkdir(parents=True)
    (tmp_path / "bare.git" / "HEAD").touch()

    paths = ("folder", "work.zip", "work.tar", "bare.git", str(tmp_path / "folder"))
    assert kinds(tmp_path, *paths) == ["folder", "zip", "zip", "git", "folder"]
    assert kinds(tmp_path, "", "no such folder", "x" * 5000) == ["nothing"] * 3
    addresses = ("https://git.example/a.git", "http://git.example/a", "file:///a", "HTTPS://a")
    assert kinds(tmp_path, *addresses) == ["git"] * 4


def test_a_path_is_found_whichever_way_its_accents_are_encoded(tmp_path: Path) -> None:
    (tmp_path / "Zoe\u0308").mkdir()

    assert kinds(tmp_path, "Zo\u00eb", "Zoe\u0308") == ["folder", "folder"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://git.example/a.git", "https://git.example/a.git"),
        ("https://user:secret@git.example/a.git", "https://git.example/a.git"),
        ("https://secret@git.example:8443/a?private_token=secret#x", "https://git.example:8443/a"),
        ("https://user:sec/secret@git.example/a", "https://git.example/a"),
        ("https://u:secret@secret@git.example/a", "https://git.example/a"),
    ],
)
def test_an_address_is_shown_without_what_is_secret_in_it(address: str, shown: str) -> None:
    assert public(address) == shown


def test_report_folders_stay_apart_on_every_disk() -> None:
    long = "x" * 300
    names = ["Anna", "anna", "ANNA", "Zo\u00eb", "Zoe\u0308", "index.html", "Index.html", long]
    names += ["index.html-submission", long.upper(), "anna-55e1cb10"]

    folders = report_folders(names)

    assert list(folders) == sorted(names)
    assert len({folder.casefold() for folder in folders.values()}) == len(names)
    assert "index.html" not in {folder.casefold() for folder in folders.values()}
    assert max(len(folder.encode()) for folder in folders.values()) < 255
    assert report_folders(["anna"]) == {"anna": "anna"}


def test_a_folder_that_another_name_would_be_given_is_not_given_twice() -> None:
    given = report_folders(["Anna", "anna"])["anna"]

    assert len(set(report_folders(["Anna", "anna", given]).values())) == 3
