"""Intake: from folders, zips and repositories to plain folders; nothing climbs out, all is said."""

import csv
import json
import stat
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

from instructor import CourseError, grade
from instructor.evidence import Finding
from instructor.grade import Options, grade_class
from instructor.intake import bring, clone, landing
from instructor.intake.bring import Intake, take_in
from instructor.intake.clone import Unreachable
from instructor.intake.landing import MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, Snapshot
from instructor.intake.roster import Source, local_source
from instructor.intake.unzip import Unusable, unzip
from instructor.judging import Job
from instructor.report.model import Report
from instructor.submission import copy_git_data, find_submissions, skipped
from lab.workshop import Workshop
from tests.kit.command import instructor
from tests.kit.instructor.reports import report, workshop_report

GATE = "lab/plan_gate.py"
AUTHOR = b"Pair <pair@school.example>"
LINK = stat.S_IFLNK << 16
PIPE = stat.S_IFIFO << 16


def zipped(path: Path, *members: tuple[str, str | bytes], mode: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, data)
    return path


def unpacked(archive: Path) -> Snapshot:
    target = archive.parent / "target" / "files"
    target.mkdir(parents=True)
    snapshot = Snapshot(target)
    unzip(archive, snapshot)
    return snapshot


def said(snapshot: Snapshot | Intake) -> list[str]:
    return [remark.found for remark in snapshot.remarks]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- Zips -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "mode", "reason"),
    [
        ("../out.py", 0, "leads out of its folder"),
        ("lab/../../out.py", 0, "leads out of its folder"),
        ("/out.py", 0, "names a place on a disk"),
        ("C:/out.py", 0, "names a place on a disk"),
        ("C:out.py", 0, "names a place on a disk"),
        ("lab\\out.py", 0, "has a backslash in its name"),
        ("..\\out.py", 0, "has a backslash in its name"),
        ("./", LINK, ""),
        ("..", 0, "has no name that a file can have"),
        ("link", LINK, "is a link"),
        ("pipe", PIPE, "is not an ordinary file"),
        ("a/" * (MAX_DEPTH + 1) + "b", 0, f"lies {MAX_DEPTH} folders deep"),
        ("n" * 300, 0, "cannot be written (File name too long)"),
        (".git", 0, "points to a repository elsewhere"),
        (".git/objects/info/alternates", 0, "points to a repository elsewhere"),
    ],
)
def test_a_member_that_is_no_ordinary_file_of_its_own_is_left_out(
    name: str, mode: int, reason: str, tmp_path: Path
) -> None:
    archive = zipped(tmp_path / "in" / "a.zip", (name, "/etc/hostname"), mode=mode)
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(GATE, "x = 1\n")

    snapshot = unpacked(archive)

    assert files(tmp_path / "in" / "target") == {f"files/{GATE}": b"x = 1\n"}
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    expected = [f"{name[:250] + '…' * (len(name) > 250)!r} {reason}; it was left out."]
    assert said(snapshot) == (expected if reason else [])


def test_of_two_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("a.py", "old"), ("b", ""), ("b/c", "file below a file"))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(archive, "a") as file:
        file.writestr("a.py", "new")

    snapshot = unpacked(archive)

    assert files(snapshot.path) == {"a.py": b"new", "b": b""}
    assert said(snapshot) == [
        "'a.py' stands twice; it was left out.",
        "'b/c' cannot be written (File exists); it was left out.",
    ]


def test_an_encrypted_member_is_left_out(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("secret.py", "x"))
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)

    assert said(unpacked(archive)) == ["'secret.py' is encrypted; it was left out."]


def test_a_member_that_is_damaged_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("lab/a.py", "x" * 1000), ("lab/b.py", "y"))
    data = bytearray(archive.read_bytes())
    data[data.index(b"lab/a.py") + len("lab/a.py") + 2] ^= 0xFF
    archive.write_bytes(data)

    snapshot = unpacked(archive)

    assert files(snapshot.path) == {"lab/b.py": b"y"}
    assert len(said(snapshot)) == 1
    assert said(snapshot)[0].startswith("'lab/a.py' cannot be read (")


def test_a_member_that_lies_about_its_size_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "MAX_FILE_BYTES", 1000)
    snapshot = Snapshot(tmp_path)

    snapshot.write("bomb", 10, iter([b"x" * 900] * 1_000_000))

    assert said(snapshot) == ["'bomb' is too large: it grows when it is unpacked; it was left out."]
    assert (files(tmp_path), snapshot.total_bytes) == ({}, 1800)


def test_a_large_member_is_left_out_before_it_is_read(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("z.bin", b"\0" * (MAX_FILE_BYTES + 1)), (GATE, "x"))

    snapshot = unpacked(archive)

    assert files(snapshot.path) == {GATE: b"x"}
    assert said(snapshot) == ["'z.bin' is too large (5,000,001 bytes); it was left out."]


def test_what_is_graded_is_unpacked_first_of_five_thousand_files(tmp_path: Path) -> None:
    junk = [(f"pair 7/a/{number:04}", "") for number in range(5_000)]
    tools = [(f"pair 7/.venv/{number:04}", "") for number in range(100)]
    tools += [("pair 7/env/pyvenv.cfg", ""), ("pair 7/env/lib/x.py", ""), ("__MACOSX/._a", "")]
    archive = zipped(tmp_path / "a.zip", *tools, *junk, (f"pair 7/{GATE}", "x"))

    snapshot = unpacked(archive)

    found = files(snapshot.path)
    assert len(found) == MAX_FILES
    assert f"pair 7/{GATE}" in found
    assert {name.split("/")[1] for name in found} == {"lab", "a"}
    assert len(said(snapshot)) == 1
    assert f"and what follows is beyond {MAX_FILES:,} files" in said(snapshot)[0]


def test_a_repository_in_a_zip_comes_along_last(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", (".git/HEAD", "ref: x"), ("Zoë notes.txt", "é"))

    snapshot = unpacked(archive)

    assert files(snapshot.path) == {".git/HEAD": b"ref: x", "Zoë notes.txt": "é".encode()}
    assert said(snapshot) == []


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + b"\0" * 100])
def test_what_is_no_zip_is_the_pairs_and_says_what_to_do(
    data: bytes, tmp_path: Path, workshop: Workshop
) -> None:
    (tmp_path / "a.zip").write_bytes(data)

    with pytest.raises(Unusable, match=r"^The zip cannot be opened: File is not a zip file"):
        unpacked(tmp_path / "a.zip")

    found = take_in(Source("zip", str(tmp_path / "a.zip")), tmp_path / "in", [workshop])
    assert found.folder is None
    assert found.finding == Finding(
        "fail",
        "The zip cannot be opened: File is not a zip file.",
        "A zip or repository with your work.",
        "Make it again, open it to see that your files are in it, and hand it in.",
    )


def test_a_zip_that_needs_too_much_is_the_pairs_and_too_slow_is_ours(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source("zip", str(zipped(tmp_path / "a.zip", ("a", "b"))))

    def slow(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("fetch", 180)

    def dead(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], -9, b"", b"")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    outcomes = {}
    for number, run in enumerate((slow, dead, full)):
        monkeypatch.setattr(bring.subprocess, "run", run)
        finding = take_in(source, tmp_path / f"in{number}", [workshop]).finding
        assert finding is not None
        outcomes[run.__name__] = (finding.outcome, finding.found)

    assert outcomes["slow"][0] == outcomes["full"][0] == "error"
    assert "not done after 180 seconds" in outcomes["slow"][1]
    assert "No space left on device" in outcomes["full"][1]
    assert outcomes["dead"][0] == "fail"
    assert "more time or memory than work like this" in outcomes["dead"][1]


# --- Folders --------------------------------------------------------------------------------


def test_nothing_and_a_path_that_leads_nowhere_are_said(tmp_path: Path, workshop: Workshop) -> None:
    blank = take_in(Source("nothing"), tmp_path / "a", [workshop]).finding
    lost = take_in(Source("nothing", written="Zoë/"), tmp_path / "b", [workshop]).finding

    assert blank is not None
    assert lost is not None
    assert (blank.outcome, blank.found) == ("fail", "Nothing was handed in.")
    assert (lost.outcome, lost.found) == ("fail", "Nothing was handed in: there is no 'Zoë/'.")


@pytest.mark.parametrize("below", ["repo", "a b/repo", "Zoë/日本"])
def test_work_that_lies_too_deep_is_found_and_said(
    below: str, tmp_path: Path, workshop: Workshop
) -> None:
    gate = tmp_path / "pair" / below / GATE
    gate.parent.mkdir(parents=True)
    gate.touch()
    (tmp_path / "pair" / "notes.txt").touch()

    found = take_in(local_source(tmp_path / "pair"), tmp_path / "in", [workshop])

    assert found.folder == tmp_path / "pair" / below
    assert [remark.id for remark in found.remarks] == ["lies-deeper"]
    assert said(found)[0].startswith(f"The work lies in {below!r}, not at the top")
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize("below", ["a/b/c", ".venv", ".hidden", "__MACOSX"])
def test_work_is_not_looked_for_just_anywhere(
    below: str, tmp_path: Path, workshop: Workshop
) -> None:
    gate = tmp_path / "pair" / below / GATE
    gate.parent.mkdir(parents=True)
    gate.touch()

    pair = tmp_path / "pair"
    assert take_in(local_source(pair), tmp_path / "in", [workshop]) == Intake(pair)


def test_a_repository_inside_a_right_workspace_changes_nothing(
    finished: Path, tmp_path: Path, workshop: Workshop
) -> None:
    copytree(finished, finished / "old" / "repo")
    Repo.init(str(finished / "old" / "repo"))

    found = take_in(local_source(finished), tmp_path / "in", [workshop])

    assert found == Intake(finished)


def test_of_two_folders_with_work_none_is_chosen(tmp_path: Path, workshop: Workshop) -> None:
    for name in ("one", "two"):
        (tmp_path / "pair" / name / "lab").mkdir(parents=True)
        (tmp_path / "pair" / name / GATE).touch()

    found = take_in(local_source(tmp_path / "pair"), tmp_path / "in", [workshop])

    assert found.folder == tmp_path / "pair"
    assert said(found) == ["2 folders hold work ('one', 'two'), so none of them was graded."]


def test_a_folder_that_holds_only_a_zip_is_that_zip(tmp_path: Path, workshop: Workshop) -> None:
    zipped(tmp_path / "pair" / "work.zip", (f"repo/{GATE}", "x"), ("../out", "x"))

    found = take_in(local_source(tmp_path / "pair"), tmp_path / "in", [workshop])

    assert found.folder is not None
    assert files(found.folder) == {GATE: b"x"}
    assert [remark.id for remark in found.remarks] == ["lies-deeper", "left-out", "lies-deeper"]
    assert [path.name for path in (tmp_path / "pair").iterdir()] == ["work.zip"]


def test_zips_in_a_class_are_submissions_and_keep_apart_from_their_folders(
    tmp_path: Path, workshop: Workshop
) -> None:
    (tmp_path / "pair_7").mkdir()
    for name in ("pair_7.zip", "team a.ZIP", "x.zip.zip", "x.zip", "y.zip.zip"):
        zipped(tmp_path / name, ("a", "b"))
    (tmp_path / "notes.txt").touch()
    (tmp_path / "link.zip").symlink_to("x.zip")

    found = find_submissions(tmp_path, [workshop])

    names = {name: path.name for name, path in found.items()}
    assert names == {
        "pair_7": "pair_7",
        "pair_7.zip": "pair_7.zip",
        "team a": "team a.ZIP",
        "x": "x.zip",
        "x.zip.zip": "x.zip.zip",
        "y.zip": "y.zip.zip",
    }
    assert skipped(tmp_path) == ["link.zip", "notes.txt"]
    assert find_submissions(tmp_path / "x.zip", [workshop]) == {"x": tmp_path / "x.zip"}


# --- Repositories ---------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Repo:
    """A repository whose one commit holds a gate, and what is no ordinary file."""
    repo = Repo.init_bare(str(tmp_path / "bare.git"), mkdir=True)
    commit(repo, tree(repo, {GATE: b"x = 1\n", "Zo\u00eb.txt": b"\xc3\xa9"}))
    second = tree(repo, {GATE: b"x = 2\n", "link": (0o120000, b"/etc"), "sub": 0o160000})
    commit(repo, second)
    return repo


def tree(repo: Repo, entries: dict[str, Any]) -> bytes:
    """Make a tree of texts, of modes with texts, or of a submodule's mode alone."""
    made, below = Tree(), dict[str, dict[str, Any]]()
    for name, what in entries.items():
        first, _, rest = name.partition("/")
        if rest:
            below.setdefault(first, {})[rest] = what
        elif isinstance(what, int):
            made.add(first.encode(), what, b"1" * 40)
        else:
            mode, data = what if isinstance(what, tuple) else (0o100644, what)
            blob = Blob.from_string(data)
            repo.object_store.add_object(blob)
            made.add(first.encode(), mode, blob.id)
    for name, inner in below.items():
        made.add(name.encode(), 0o040000, tree(repo, inner))
    repo.object_store.add_object(made)
    return made.id


def commit(repo: Repo, tree_id: bytes, branch: bytes = b"refs/heads/master") -> bytes:
    made = Commit()
    made.tree, made.author, made.committer, made.message = tree_id, AUTHOR, AUTHOR, b"x"
    made.author_time = made.commit_time = 1_700_000_000
    made.author_timezone = made.commit_timezone = 0
    made.parents = [repo.refs[branch]] if branch in repo.refs else []
    repo.object_store.add_object(made)
    repo.refs[branch] = made.id
    return made.id


def cloned(address: str, target: Path) -> Snapshot:
    target.mkdir(parents=True)
    snapshot = Snapshot(target)
    clone.clone(address, snapshot)
    return snapshot


@pytest.fixture
def server(repository: Repo) -> Iterator[str]:
    """Serve the repository over http; give the address."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    app = make_wsgi_chain(DictBackend({"/pair.git": repository}))
    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def check_clone(folder: Path, repository: Repo) -> None:
    assert (folder / GATE).read_bytes() == b"x = 2\n"
    assert not (folder / "link").is_symlink()
    with Repo(str(folder)) as history:
        walked = [entry.commit.id for entry in history.get_walker()]
        assert len(walked) == 2
        assert walked[0] == repository.head()
    assert copy_git_data(folder, folder.parent / f"{folder.name}-git")


def test_a_path_and_a_file_address_are_cloned_with_their_history(
    repository: Repo, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    for number, address in enumerate((str(bare), bare.as_uri())):
        snapshot = cloned(address, tmp_path / str(number))

        check_clone(snapshot.path, repository)
        assert said(snapshot) == [
            "'link' is a link; it was left out.",
            "'sub' is a submodule; it was left out.",
        ]


def test_an_address_is_fetched_over_http_in_a_process_of_its_own_and_keeps_its_secret(
    server: str, repository: Repo, tmp_path: Path, workshop: Workshop
) -> None:
    source = Source("git", f"http://user:secret@{server}/pair.git")

    found = take_in(source, tmp_path / "in", [workshop])

    assert found.finding is None
    assert found.folder is not None
    check_clone(found.folder, repository)
    assert b"secret" not in b"".join(files(tmp_path / "in").values())


def test_what_cannot_be_fetched_is_our_error_without_the_secret(
    server: str, tmp_path: Path, workshop: Workshop
) -> None:
    source = Source("git", f"http://user:secret@{server}/other.git?token=secret")

    found = take_in(source, tmp_path / "in", [workshop])

    assert found.folder is None
    assert found.finding is not None
    assert found.finding.outcome == "error"
    expected = f"http://{server}/other.git could not be fetched: there is no repository."
    assert found.finding.found == expected
    assert "not your work's fault" in found.finding.next


@pytest.mark.parametrize(
    ("address", "reason"),
    [("http://u:secret@127.0.0.1:1/a.git", "no git server answers"), ("/no/such", "no repository")],
)
def test_why_it_cannot_be_fetched_names_no_address(
    address: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(Unreachable, match=reason) as refused:
        cloned(address, tmp_path / "target")

    assert "secret" not in str(refused.value)
    assert "/no/such" not in str(refused.value)


def test_a_repository_without_a_commit_is_the_pairs(tmp_path: Path) -> None:
    Repo.init_bare(str(tmp_path / "bare.git"), mkdir=True).close()

    with pytest.raises(Unusable, match="holds no commit"):
        cloned(str(tmp_path / "bare.git"), tmp_path / "target")


def test_a_head_that_leads_nowhere_takes_the_only_branch(tmp_path: Path) -> None:
    repo = Repo.init_bare(str(tmp_path / "bare.git"), mkdir=True)
    commit(repo, tree(repo, {GATE: b"x"}), b"refs/heads/work")

    snapshot = cloned(str(tmp_path / "bare.git"), tmp_path / "target")

    assert (snapshot.path / GATE).read_bytes() == b"x"


def test_a_tree_that_climbs_out_or_into_its_repository_is_left_out(tmp_path: Path) -> None:
    repo = Repo.init_bare(str(tmp_path / "bare.git"), mkdir=True)
    hostile = {"..": {"out": b"x"}, ".GIT": {"config": b"x"}, "a": {".git": b"x"}}
    flat = {
        f"{folder}/{name}": data for folder, own in hostile.items() for name, data in own.items()
    }
    commit(repo, tree(repo, {GATE: b"x", **flat}))

    snapshot = cloned(str(tmp_path / "bare.git"), tmp_path / "in" / "target")

    assert {name for name in files(snapshot.path) if not name.startswith(".git/")} == {GATE}
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["target"]
    assert len(said(snapshot)) == 3


# --- Through grading ------------------------------------------------------------------------


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Judge nothing, so that it is quick; a file named ``passes`` in a folder makes it pass."""
    seen: list[Job] = []

    def judge_all(jobs: list[Job], _workers: int) -> Iterator[tuple[Job, Report]]:
        seen.extend(jobs)
        for job in reversed(jobs):
            finding = job.finding or Finding("fail", "not yet")
            passes = job.folder is not None and (job.folder / "passes").exists()
            outcome = "pass" if passes else finding.outcome
            own = workshop_report("plan_gate", {"tests": [outcome]}, found=finding.found)
            yield job, report(job.name, own)

    monkeypatch.setattr(grade, "judge_all", judge_all)
    return seen


def gradebook(out: Path) -> dict[str, dict[str, str]]:
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def test_everybody_on_a_roster_is_in_the_gradebook_in_its_order(
    judged: list[Job], tmp_path: Path
) -> None:
    (tmp_path / "work" / "lab").mkdir(parents=True)
    (tmp_path / "work" / GATE).touch()
    (tmp_path / "work" / "passes").touch()
    zipped(tmp_path / "zoë.zip", (f"repo/{GATE}", ""), ("repo/passes", ""))
    (tmp_path / "empty").mkdir()
    roster = tmp_path / "roster.csv"
    rows = ["zoe,", "Zoë 日本,zoë.zip", "anna,work", "Anna,empty", "zoe,gone", "zoe,work"]
    roster.write_text("\n".join(["name,source,email", *rows, "team-a,gone"]), encoding="utf-8")

    options = Options(("plan_gate",), roster=roster, exports=("moodle",))
    reports = grade_class(None, tmp_path / "out", options, lambda *_: None)

    book = gradebook(tmp_path / "out")
    outcomes = {name: row["plan_gate.tests"] for name, row in book.items()}
    assert list(outcomes.items()) == [
        ("zoe", "pass"),
        ("Zoë 日本", "pass"),
        ("anna", "pass"),
        ("Anna", "fail"),
        ("team-a", "fail"),
    ]
    assert (book["team-a"]["points"], book["team-a"]["max_points"]) == ("0", "1")
    said = book["team-a"]["first_thing_to_do"]
    assert said == "Nothing was handed in: there is no 'gone'."
    assert [attempt.label for attempt in reports[0].attempts] == ["1", "2", "3"]
    written = sorted((tmp_path / "out").glob("*/report.json"))
    names = [json.loads(path.read_text(encoding="utf-8"))["submission"] for path in written]
    assert sorted(names) == sorted(outcomes)
    assert len({path.parent.name.casefold() for path in written}) == len(outcomes)
    assert not (tmp_path / "out" / ".work").exists()
    assert {job.name for job in judged} == set(outcomes)


def test_paths_on_a_roster_start_at_the_folder_that_is_given_and_the_last_work_tells_the_pace(
    judged: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / "class" / name / "lab").mkdir(parents=True)
        (tmp_path / "class" / name / GATE).touch()
    roster = tmp_path / "roster.csv"
    roster.write_text("name,source\na,one\na,two\na,\nb,\n")
    read: list[Job] = []
    monkeypatch.setattr(grade, "read_paces", lambda jobs, *_: read.extend(jobs) or [])

    options = Options(roster=roster, history=True)
    grade_class(tmp_path / "class", tmp_path / "out", options, lambda *_: None)

    folders = [job.folder and job.folder.name for job in judged]
    assert folders == ["one", "two", None, None]
    assert [(job.name, job.label) for job in read] == [("a", "2"), ("b", "1")]


def test_a_zip_beside_a_folder_of_its_name_is_remarked(judged: list[Job], tmp_path: Path) -> None:
    (tmp_path / "class" / "pair_7" / "lab").mkdir(parents=True)
    (tmp_path / "class" / "pair_7" / GATE).touch()
    zipped(tmp_path / "class" / "pair_7.zip", (GATE, ""))

    grade_class(tmp_path / "class", tmp_path / "out", Options(), lambda *_: None)

    remarks = {job.name: [remark.id for remark in job.remarks] for job in judged}
    assert remarks == {"pair_7": [], "pair_7.zip": ["same-name"]}


@pytest.mark.parametrize(
    ("source", "out"), [("work", "work/out"), ("out/exports/a.zip", "out"), ("out/a", "out")]
)
def test_reports_are_never_written_over_what_a_roster_names(
    source: str, out: str, judged: list[Job], tmp_path: Path
) -> None:
    place = tmp_path / source
    if place.suffix:
        zipped(place, (GATE, ""))
    else:
        place.mkdir(parents=True)
    roster = tmp_path / "roster.csv"
    roster.write_text(f"name,source\na,{source}\n")

    with pytest.raises(CourseError, match="would be written into what is graded"):
        grade_class(None, tmp_path / out, Options(roster=roster), lambda *_: None)

    assert judged == []
    assert place.exists()


def test_a_class_on_a_roster_is_graded_by_the_command(tmp_path: Path) -> None:
    """What cannot be opened takes no time to judge; all of it gets its own report."""
    (tmp_path / "broken.zip").write_bytes(b"no zip")
    rows = ["missing;", "broken;broken.zip", "remote;https://user:secret@127.0.0.1:1/a.git"]
    (tmp_path / "roster.csv").write_text("\r\n".join(["name;source", *rows]))
    out = tmp_path / "reports"

    done = instructor(
        "grade", "--roster", tmp_path / "roster.csv", "--out", out,
        "--workshop", "plan_gate", "--workers", 1,
    )  # fmt: skip

    assert (done.code, done.err) == (0, "")
    book = gradebook(out)
    blocks = {
        name: {text for column, text in row.items() if column.startswith("plan_gate.")}
        for name, row in book.items()
    }
    assert blocks == {"missing": {"fail"}, "broken": {"fail"}, "remote": {"error"}}
    points = {name: row["points"] for name, row in book.items()}
    assert points == {"missing": "0", "broken": "0", "remote": ""}
    written = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.*"))
    assert "https://127.0.0.1:1/a.git could not be fetched" in written
    assert "secret" not in written + done.out
    assert str(tmp_path) not in written
    assert done.out.count("/3 ") == 3
