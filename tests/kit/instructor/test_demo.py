"""The main job through the real command: build the sample class, grade it, say where to look.

The golden reports are the whole of what grading says. Renew them with UPDATE_GOLDEN=1 and review
the diff as you would review code.
"""

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from jsonschema import Draft202012Validator

from instructor.answer_key import load_answer_key
from instructor.classroom import load_pairs, load_workshops
from instructor.lint.graded import REFERENCE, UNTOUCHED
from instructor.release import workspace_files
from instructor.report.model import report_schema
from instructor.sandbox.copies import MEMORY
from lab.workshop import workshop_ids
from tests.kit.command import COURSE, Ended, instructor
from tests.kit.instructor.hidden import as_read, secrets, shown_in, texts
from tests.kit.instructor.reports import comparable

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


# One pair of each workshop.
FEW = ("matcher_too_weak", "result_default_filled", "assumption_stuck", "record_stores_first")


NAMED = [part for name in FEW for part in ("--pair", name)]


def test_a_fresh_release_is_red_the_reference_green_and_pairs_are_as_golden_reports_say(
    tmp_path: Path,
) -> None:
    """`instructor check` over all four workshops, with one sample pair of each."""
    done = instructor("check", "--keep", tmp_path / "kept", "--workers", "2", *NAMED)

    assert (done.code, done.err) == (0, ""), done.out
    assert "✗" not in done.out
    said = _reports(tmp_path / "kept" / "out")
    assert set(said) == {UNTOUCHED, REFERENCE, *FEW}
    _check_gradebook(tmp_path / "kept" / "out" / "gradebook.csv", set(said))
    _check_that_nothing_hidden_shows(tmp_path / "kept" / "out")
    _compare({name: said[name] for name in FEW})


def test_the_demo_grades_the_pairs_that_are_named(tmp_path: Path) -> None:
    done = instructor("demo", "--to", tmp_path / "demo", "--workers", "2", *NAMED[:4])

    assert (done.code, done.err) == (0, "")
    said = _reports(tmp_path / "demo" / "report")
    golden = {name: _read(GOLDEN / f"{name}.json") for name in FEW[:2]}
    assert comparable(said) == golden
    _check_board(done)
    _check_that_nothing_stays_behind(tmp_path / "demo")


def test_a_pair_that_is_not_in_the_class_is_said_with_those_that_are(tmp_path: Path) -> None:
    done = instructor("demo", "--to", tmp_path / "demo", "--pair", "nobody")

    assert done.code == 2
    assert "There is no sample pair 'nobody'. Known: stuck_after_block_2" in done.err


def _reports(out: Path) -> dict[str, dict[str, object]]:
    return {path.parent.name: _read(path) for path in sorted(out.glob("*/report.json"))}


def _read(path: Path) -> dict[str, object]:
    data: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator(report_schema()).validate(data)
    return data


def _compare(said: dict[str, dict[str, object]]) -> None:
    for name, report in comparable(said).items():
        path = GOLDEN / f"{name}.json"
        if os.environ.get("UPDATE_GOLDEN"):
            text = json.dumps(report, indent=2, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
        assert report == json.loads(path.read_text(encoding="utf-8")), name
    assert {path.stem for path in GOLDEN.iterdir()} == set(said)


def _check_board(done: Ended) -> None:
    for name in FEW[:2]:
        assert name[:20] in done.out
    assert "2/2" in done.out
    assert "index.html" in done.out


def _check_gradebook(path: Path, names: set[str]) -> None:
    rows = {row["submission"]: row for row in csv.DictReader(io.StringIO(path.read_text("utf-8")))}
    assert set(rows) == names
    for pair in (pair for pair in load_pairs() if pair.name in FEW):
        name = pair.workshops[0]
        outcomes = {block: rows[pair.name][f"{name}.{block}"] for block in pair.outcomes}
        assert outcomes == pair.outcomes


def _check_that_nothing_hidden_shows(report: Path) -> None:
    pages = "".join(
        path.read_text(encoding="utf-8") for path in report.rglob("*.*") if path.is_file()
    )
    workshops = load_workshops(tuple(workshop_ids(COURSE)))
    public = "".join(data.decode() for _, data in workspace_files(workshops, solved=True))
    cases = [case for workshop in workshops for case in load_answer_key(workshop).cases]
    short = {text for case in cases for text in texts(case.document) if len(text) > 8}
    hidden = {text for text in short if text not in public} | secrets(workshops)
    assert len(hidden) > 1_000
    assert len(pages) > 100_000
    assert shown_in(as_read(pages), hidden) == []


def _check_that_nothing_stays_behind(demo: Path) -> None:
    expected = {"class", "report", ".sample-class"}
    assert {path.name for path in demo.iterdir()} == expected
    assert not (demo / "report" / ".work").exists()
    assert list((demo / "class").rglob("__pycache__")) == []


def test_ctrl_c_stops_the_class_and_keeps_what_was_written(tmp_path: Path, workspace: Path) -> None:
    folder = tmp_path / "class"
    shutil.copytree(workspace, folder / "slow")
    (folder / "slow" / "lab" / "plan_gate.py").write_text("while True: pass\n")
    command = [sys.executable, "-m", "instructor", "grade", str(folder), "--seconds", "600"]
    command += ["--out", str(tmp_path / "out"), "--cell-seconds", "600"]
    process = subprocess.Popen(
        command, cwd=COURSE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    brought = tmp_path / "out" / ".work"
    while not any((copies := _copies_of(process.pid, brought)).glob("*/*/workspace/lab")):
        assert process.poll() is None

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)

    assert process.returncode == 3
    assert "stopped; the reports written so far are kept" in said
    assert [p for p in psutil.process_iter(["cmdline"]) if _is_about(p, tmp_path, copies)] == []
    assert not brought.exists()
    assert not copies.exists()


def _copies_of(grader: int, brought: Path) -> Path:
    """Give the folder of a grader's copies: in memory it is the one that it keeps locked."""
    for descriptor in Path(f"/proc/{grader}/fd").glob("*"):
        with contextlib.suppress(OSError):  # it was closed meanwhile
            place = descriptor.readlink()
            if place.parent == MEMORY and place.name.startswith("failing-closed-"):
                return place
    return brought


def _is_about(process: psutil.Process, *folders: Path) -> bool:
    command = " ".join(process.info["cmdline"] or ())
    return any(str(folder) in command for folder in folders)
