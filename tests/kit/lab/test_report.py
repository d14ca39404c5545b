"""The certificate of replay: one page that anyone can check, and that says what it is not."""

import ast
import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab import report_command
from lab.__main__ import main
from lab.cards import Line
from lab.checks import Checks
from lab.digests import digests, work_files
from lab.report import certificate, changed_since
from lab.workshop import Workshop, load_workshop, workshop_ids
from tests.kit.browser import needs_browser, open_browser
from tests.kit.command import COURSE, in_workspace

NOW = datetime(2026, 9, 5, 13, 0, tzinfo=UTC)
SCRIPT = "<script>alert(1)</script>'\""


def judged(monkeypatch: pytest.MonkeyPatch, *lines: Line) -> None:
    """Let every block have these lines, so that no suite runs."""
    monkeypatch.setattr(Checks, "lines", lambda *_: lines)


def page_of(workshop: Workshop, name: str = "", root: Path = COURSE) -> str:
    return certificate(root, [workshop], name, NOW)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]).split())


# What goes wrong


def test_broken_files_are_blocks_that_are_not_reached(workspace: Path) -> None:
    (workspace / "lab" / "plan_gate.py").write_text("def broken(:\n")
    (workspace / "fixtures" / "plan_gate" / "inventory.json").unlink()

    done = in_workspace(workspace, "-m", "lab", "report")

    assert (done.code, done.err) == (0, "")
    page = (workspace / "report.html").read_text(encoding="utf-8")
    assert "0 of 6 blocks reached" in text_of(page)
    assert "… waits" in text_of(page)
    assert "inventory.json missing" in text_of(page)
    assert "Traceback" not in page
    assert not (workspace / ".lab" / "progress.json").exists()


@pytest.mark.parametrize("error", [RuntimeError(SCRIPT), SystemExit(0)])
def test_a_check_that_breaks_is_a_check_that_fails(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop, error: BaseException
) -> None:
    def broken(*_: object) -> tuple[Line, ...]:
        raise error

    monkeypatch.setattr(Checks, "lines", broken)
    page = page_of(workshop)

    assert "0 of 6 blocks reached" in text_of(page)
    assert "<script" not in page


def test_what_students_wrote_is_escaped(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch, Line(SCRIPT, "fail", SCRIPT))

    page = page_of(workshop, SCRIPT)

    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;&#x27;&quot;") == 8


def test_one_check_that_fails_keeps_a_block_from_being_reached(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch, Line("a", "pass"), Line("b", "fail"), Line("c", "blocked"))

    text = text_of(page_of(workshop))

    assert "0 of 6 blocks reached" in text
    assert "Inventory one real tool: 1 of 3" in text


def test_a_block_without_checks_is_not_said_to_be_reached(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch)

    text = text_of(page_of(workshop))

    assert "0 of 6 blocks reached" in text
    assert "– no check" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such"], "there is no workshop 'no_such' here. Found: "),
        (["plan_gate", "--out", "{folder}/other.html/report.html"], "cannot be written"),
        (["--verify", "{folder}/no.html"], "cannot be read"),
        (["--verify", "{folder}"], "cannot be read"),
        (["--verify", "{folder}/other.html"], "holds no digest"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    judged(monkeypatch)
    (tmp_path / "other.html").write_bytes(b"\xff<tr data-file='a'><tr data-sha256='b'>")

    with pytest.raises(SystemExit) as ended:
        main(["report", *(part.format(folder=tmp_path) for part in arguments)])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["other.html"]


# What is on it


def test_it_names_nobody_unless_a_name_is_given(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch)

    assert "class='who'" not in page_of(workshop)
    assert "<p class='who'>pair 7</p>" in page_of(workshop, "pair 7")


def test_it_says_when_with_what_and_how_to_see_it_again(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch, Line("a", "pass"))

    text = text_of(page_of(workshop))

    assert re.search(r"Judged 2026-09-05 13:00 \+0000 with Python 3\.\d+\.\d+, jsonschema 4", text)
    assert "uv run lab check plan_gate Inventory one real tool: 1 of 1 ·" in text
    assert "It does not say who did the work" in text


def test_it_loads_nothing_and_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch, Line("a", "pass"))

    page = page_of(workshop)

    assert not re.search(r"<script|<link|<img|src=|href=|url\(|@import", page)
    assert "default-src 'none'" in page


def test_each_file_that_a_pair_works_in_has_its_digest(
    monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    judged(monkeypatch)
    page = page_of(workshop)

    for file in (*workshop.stripped, *workshop.start):
        whole = hashlib.sha256((COURSE / file).read_bytes()).hexdigest()
        assert f"data-file='{file}' data-sha256='{whole}'" in page


# A page compared with the files


def written(root: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> str:
    judged(monkeypatch)
    return page_of(workshop, root=root)


def test_the_files_of_a_page_are_unchanged(
    workspace: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = written(workspace, workshop, monkeypatch)

    assert changed_since(workspace, page) == []


def test_other_line_endings_are_no_change(
    workspace: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = written(workspace, workshop, monkeypatch)
    for file in work_files(workshop):
        path = workspace / file
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert b"\r\n" in (workspace / "lab" / "plan_gate.py").read_bytes()
    assert changed_since(workspace, page) == []
    assert "CR LF counted as LF" in text_of(page)


def test_a_file_that_changed_or_is_gone_is_named(
    workspace: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = written(workspace, workshop, monkeypatch)
    (workspace / "lab" / "plan_gate.py").write_bytes(b"")
    (workspace / "fixtures" / "plan_gate" / "limits.json").unlink()

    changed = changed_since(workspace, page)

    assert changed is not None
    assert [row.partition(":")[0] for row in changed] == [
        "fixtures/plan_gate/limits.json",
        "lab/plan_gate.py",
    ]
    assert changed[0].endswith("then, missing now")
    assert changed[1].endswith(f"{hashlib.sha256().hexdigest()[:16]} now")


@pytest.mark.parametrize("file", ["../secret", "/etc/hostname", "a/../../secret"])
def test_a_page_from_elsewhere_makes_nobody_read_outside_the_folder(
    file: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "here").mkdir()

    changed = changed_since(tmp_path / "here", f"<tr data-file='{file}' data-sha256='ab'>")

    assert changed == [f"{file}: ab then, missing now"]


def test_the_command_says_whether_a_page_still_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(monkeypatch)
    page = tmp_path / "page.html"

    assert main(["report", "plan_gate", "--out", str(page)]) == 0
    assert main(["report", "--verify", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub("sha256='....", "sha256='0000", text), encoding="utf-8")
    assert main(["report", "--verify", str(page)]) == 1

    out = capsys.readouterr().out
    assert "is here, unchanged" in out
    assert "files differ from those here:" in out


def test_digests_say_which_file_is_missing(tmp_path: Path, workshop: Workshop) -> None:
    assert set(digests(tmp_path, work_files(workshop)).values()) == {"missing"}


def test_a_course_without_workshops_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report_command.coach, "ROOT", tmp_path)

    with pytest.raises(SystemExit):
        main(["report"])

    assert "there is no workshop here" in capsys.readouterr().err


# On paper


@needs_browser
def test_each_workshop_prints_on_one_page_of_a4(monkeypatch: pytest.MonkeyPatch) -> None:
    workshops = [load_workshop(COURSE, name) for name in workshop_ids(COURSE)]
    monkeypatch.setattr("lab.report.Checks", AsLongAsItGets)
    page = certificate(COURSE, workshops, "Pair 7", NOW)

    with open_browser() as browser:
        tab = browser.new_page()
        tab.set_content(page)
        paper = tab.pdf(format="A4", prefer_css_page_size=True)
        wide = tab.evaluate("document.documentElement.scrollWidth <= innerWidth")

    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == len(workshops)
    assert wide


class AsLongAsItGets:
    """Give each check of a block the title that the card has, without running it."""

    def __init__(self, _: Path, workshop: Workshop) -> None:
        self._workshop = workshop

    def lines(self, block_id: str) -> tuple[Line, ...]:
        suites = [e for e in self._workshop.evidence_of(block_id) if e.kind == "suite"]
        return tuple(
            Line(title, "pass")
            for item in suites
            for title in titles(item.options["file"], item.options.get("tests", ()), item.title)
        )


def titles(file: str, names: Iterable[str], title: str) -> list[str]:
    tree = ast.parse((COURSE / file).read_text(encoding="utf-8"))
    said = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}
    return [ast.get_docstring(said[name]) or name for name in names] or [title]
