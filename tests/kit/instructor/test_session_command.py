"""`instructor session` and `instructor sheet`, as they are typed."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from instructor import CourseError
from instructor.__main__ import app
from instructor.sandbox import tiers
from instructor.session.crew import Worker
from instructor.session.log import read_log
from lab.workshop import WorkshopError
from tests.kit.command import COURSE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["session", "no_such"], "there is no workshop"),
        (["session", "plan_gate", "--start", "noon"], "as in 13:00"),
        (["session", "plan_gate", "--class", "{}/no_such"], "is not a folder"),
        (["session", "plan_gate", "--roster", "{}/no_such.csv"], "no_such.csv"),
        (["session", "plan_gate", "--log", "{}"], "cannot be written"),
        (["session", "plan_gate", "--class", "{}", "--require-tier", "D"], "There is no tier 'D'"),
        (["sheet", "no_such"], "there is no workshop"),
        (["sheet", "plan_gate", "--start", "26:00"], "as in 13:00"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_served(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = CliRunner().invoke(app, [argument.format(tmp_path) for argument in arguments])

    assert isinstance(done.exception, CourseError | WorkshopError)
    assert said in str(done.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("who", ["--class", "--roster"])
def test_a_machine_that_does_not_hold_students_code_is_said_before_anything_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """As ``grade`` says it; a session without a board runs nobody's code and needs nothing."""
    monkeypatch.setenv(tiers.LESSER, tiers.C)
    monkeypatch.setattr(tiers, "_SETTLED", {})
    monkeypatch.setattr(tiers, "best_tier", tiers.best_tier.__wrapped__)
    (tmp_path / "roster.csv").write_text("name,source\npair,\n")
    log = tmp_path / "log.jsonl"
    given = tmp_path / "roster.csv" if who == "--roster" else tmp_path
    arguments = ["session", "plan_gate", "--log", str(log), "--start", "13:00"]

    done = CliRunner().invoke(app, [*arguments, who, str(given)])

    assert isinstance(done.exception, CourseError)
    assert "can only limit students' code (tier C)" in str(done.exception)
    assert not log.exists()


def test_the_workers_of_the_board_run_code_in_the_tier_that_was_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "_SETTLED", {"tier": tiers.C})

    async def scene() -> str:
        worker = Worker()
        try:
            return await worker.do(settled, None, 120)
        finally:
            worker.end()

    assert asyncio.run(scene()) == tiers.C


def settled(_: object) -> str:
    return tiers._SETTLED.get("tier", "")


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        log = str(tmp_path / "log.jsonl")
        done = CliRunner().invoke(app, ["session", "plan_gate", "--port", port, "--log", log])

    assert isinstance(done.exception, CourseError)
    assert f"Port {port} cannot be used" in str(done.exception)


def test_a_session_begins_stops_and_goes_on_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    arguments = ["session", "plan_gate", "--port", "0", "--log", str(log), "--class", str(tmp_path)]
    # What is tested here runs nobody's code.
    arguments += ["--require-tier", "C"]
    for words in ("The log begins:", "The log goes on:"):
        with subprocess.Popen(
            [sys.executable, "-m", "instructor", *arguments],
            cwd=COURSE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as process:
            assert process.stdout
            assert process.stderr
            said = [process.stdout.readline() for _ in range(3)]
            assert said[0].startswith(words)
            assert said[1].startswith("Projector: http://127.0.0.1:")
            assert said[2].startswith("Teacher:   http://127.0.0.1:")
            clock = json.loads((tmp_path / ".room.json").read_text())["clock"]
            assert clock == f"{said[1].split()[-1]}clock.json"
            for _ in range(3):  # somebody is in a hurry
                process.send_signal(signal.SIGINT)
            rest, wrong = process.communicate(timeout=60)
        assert (process.returncode, wrong) == (0, "")
        assert rest == "Stopped. The same command goes on where the log ends.\n"
        assert not (tmp_path / ".room.json").exists()
        if words == "The log begins:":
            with log.open("a") as file:
                file.write(json.dumps({"at": "2026-09-05T12:00:00+00:00", "event": "start"}) + "\n")
    assert [event.event for event in read_log(log).events] == ["start"]


def test_a_sheet_is_written_where_it_is_wanted(tmp_path: Path) -> None:
    out = tmp_path / "a" / "sheet.html"

    done = CliRunner().invoke(app, ["sheet", "plan_gate", "--start", "9:00", "--out", str(out)])

    assert (done.exit_code, done.output) == (0, f"Run sheet: {out}\n")
    assert "09:00 to 10:20" in out.read_text(encoding="utf-8")
