"""Grading over a cluster: what cannot be used is refused, and a worker that dies costs nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from instructor import CourseError, cluster, in_worker
from instructor.cluster import judge_on_cluster
from instructor.in_worker import judge_in_worker, made_with
from instructor.judging import Job, judge_submission
from instructor.kept import Kept
from instructor.report.model import report_from_json
from lab.workshop import Workshop
from tests.kit.instructor.toy_course import build_course, build_toy_class

ADDRESS = "tcp://127.0.0.1:8786"
SCRIPT = Path(__file__).with_name("cluster_to_kill.py")


class Client:
    """A client of a cluster with these workers, whose executor gives these futures."""

    def __init__(self, workers: Any, *futures: Future[Any]) -> None:
        self._workers = workers
        self._futures = list(futures)

    def run(self, _: Any) -> Any:
        if isinstance(self._workers, Exception):
            raise self._workers
        return self._workers

    def nthreads(self) -> dict[str, int]:
        return {"tcp://a": 1}

    def get_executor(self, *, pure: bool) -> "Client":
        assert not pure
        return self

    def submit(self, *_: Any) -> Future[Any]:
        return self._futures.pop()

    def shutdown(self, *, wait: bool) -> None:
        assert not wait


def use(client: Client, patch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connected(_: str) -> Iterator[Client]:
        yield client

    patch.setattr(cluster, "_connected", connected)


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(CourseError, match=r"distributed.*uv sync --extra dask"):
        list(judge_on_cluster([], ADDRESS, ""))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "tcp://"])
def test_an_address_where_nobody_answers_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)

    with pytest.raises(CourseError, match=r"No dask scheduler answers.*start one with"):
        list(judge_on_cluster([], address, ""))


@pytest.mark.parametrize(
    ("workers", "says"),
    [
        ({}, "has no worker. Start one with: dask worker tcp://127.0.0.1:8786 --nthreads 1"),
        (ModuleNotFoundError("no instructor"), "cannot grade: ModuleNotFoundError: no instructor"),
        ({"tcp://a": {**made_with(), "the course": "0"}}, "other files of the course"),
        (
            {"tcp://a": made_with(), "tcp://b": {**made_with(), "pytest": "1.0"}},
            "The worker tcp://b cannot be used: it has pytest 1.0",
        ),
    ],
)
def test_workers_that_would_grade_otherwise_are_refused(
    workers: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(Client(workers), monkeypatch)

    with pytest.raises(CourseError) as refused:
        list(judge_on_cluster([], ADDRESS, ""))

    assert says in str(refused.value)


def test_a_cluster_that_is_lost_says_that_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: Future[Any] = Future()
    lost.set_exception(CancelledError())
    use(Client({"tcp://a": made_with()}, lost), monkeypatch)
    (tmp_path / "work").mkdir()

    with pytest.raises(CourseError, match=r"was lost.*run the same command"):
        list(judge_on_cluster([Job("a", tmp_path / "work", (), tmp_path)], ADDRESS, ""))


@pytest.fixture
def job(workspace: Path, tmp_path: Path, workshop: Workshop) -> Job:
    """A submission with remarks of every origin, judged by what needs no process."""
    (workspace / "lab" / "json.py").write_text("x = 1\n")
    (workspace / "json.py").write_text("x = '\xe9'\n", encoding="latin-1")
    (workspace / "link").symlink_to("README.md")
    (workspace / "lab" / "coach.py").write_text("other = 1\n")
    fixtures = tuple(item for item in workshop.evidence if item.kind == "fixture")
    (tmp_path / "scratch").mkdir()
    keeper = Kept((tmp_path / "kept").resolve(), "")
    shop = replace(workshop, evidence=fixtures)
    return Job("pair", workspace, (shop,), tmp_path / "scratch", kept=keeper)


def test_what_travels_is_judged_as_what_lies_here(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is kept here, and a second time nothing travels."""
    monkeypatch.setattr(in_worker, "_workshop", lambda _: job.workshops[0])
    post = cluster._Post(made_with(), "")

    parcel = post.packed(job)
    assert isinstance(parcel, dict)
    assert "folder" not in parcel
    report = report_from_json(judge_in_worker(parcel)["report"])
    post.keep(job, report)

    assert report == judge_submission(replace(job, kept=None))
    assert {remark.id for remark in report.remarks} == {
        "left-out", "hides-a-module", "not-utf-8", "course-file-changed",
    }  # fmt: skip
    assert post.packed(job) == report
    assert list(job.scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("wanted", "held", "is_kept"),
    [("A", "B", False), ("B", "C", False), ("B", "B", True), ("B", "A", True), ("", "C", True)],
)
def test_a_report_is_kept_where_the_code_was_held_as_was_asked(
    wanted: str, held: str, is_kept: bool, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever tier this machine has: the workers are others."""
    monkeypatch.setattr(in_worker, "_workshop", lambda _: job.workshops[0])
    post = cluster._Post(made_with(), wanted)
    parcel = post.packed(job)
    assert isinstance(parcel, dict)
    report = report_from_json(judge_in_worker({**parcel, "tier": ""})["report"])

    post.keep(job, replace(report, sandbox=held))

    assert isinstance(post.packed(job), dict) == (not is_kept)


def test_a_submission_that_cannot_be_packed_is_an_error_of_its_own(job: Job) -> None:
    job = replace(job, folder=job.scratch / "gone" / "\0")

    said = cluster._Post({}, "").packed(job)

    assert not isinstance(said, dict)
    assert {item.outcome for item in said.all_evidence} == {"error"}


def run(course: Path, folder: Path, out: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "instructor", "grade", str(folder), "--out", str(out), *more]
    environment = {**os.environ, "PYTHONPATH": str(course)}
    return subprocess.Popen(
        command, cwd=course, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def report_of(out: Path, name: str) -> Any:
    report = json.loads((out / name / "report.json").read_text(encoding="utf-8"))
    return {**report, "submission": ""}


def test_a_cluster_whose_worker_is_killed_grades_the_class_as_this_machine_does(
    tmp_path: Path,
) -> None:
    course = build_course(tmp_path / "course")
    folder = build_toy_class(course, tmp_path / "class", "abcde", alike=True)
    with run(course, folder / "a", tmp_path / "here") as here:
        assert here.wait() == 0
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], cwd=course, env={**os.environ, "PYTHONPATH": str(course)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        address, first, _ = running.stdout.readline().split()
        with run(course, folder, tmp_path / "out", "--again", "--dask", address) as grading:
            assert grading.stdout is not None
            assert any(line.startswith("1/5 ") for line in grading.stdout)
            os.kill(int(first), signal.SIGKILL)
            rest, errors = grading.communicate()
        running.communicate()

    assert (grading.returncode, "5/5 " in rest) == (0, True), errors
    wanted = report_of(tmp_path / "here", "a")
    assert [report_of(tmp_path / "out", name) for name in "abcde"] == [wanted] * 5
