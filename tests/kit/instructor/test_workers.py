"""Submissions through any executor: none is lost, and no more are in hand than have to be."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from instructor import CourseError, in_worker, workers
from instructor.in_worker import Parcel, judge_in_worker, pack
from instructor.intake.landing import Remark
from instructor.judging import Job, judge_submission
from instructor.kept import Kept
from instructor.progress import Estimate, in_words, shown
from instructor.report.model import report_from_json
from instructor.sandbox.strays import running_below
from instructor.workers import Line, judge_all
from lab.workshop import Workshop
from tests.kit.instructor.reports import report


class Hand(Executor):
    """An executor that does nothing by itself: ``answer`` says what becomes of each parcel."""

    def __init__(self, answer: Callable[[Parcel], Parcel | Exception]) -> None:
        self._answer = answer
        self.names: list[str] = []

    def submit(self, _: Any, /, parcel: Parcel, **__: Any) -> Future[Any]:  # type: ignore[override]
        self.names.append(parcel["name"])
        future: Future[Any] = Future()
        answer = self._answer(parcel)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future


def passed(parcel: Parcel) -> Parcel:
    return {"report": report(parcel["name"]).to_json()}


def jobs(place: Path, *names: str) -> list[Job]:
    """Jobs on a folder with nothing in it, for no workshop: the quickest there are."""
    (place / "work").mkdir(exist_ok=True)
    return [Job(name, place / "work", (), place) for name in names]


def test_a_worker_that_dies_costs_only_the_submission_that_it_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    """Whatever was in hand is judged alone, and the class goes on with many at once."""
    opened: list[tuple[int, Hand]] = []

    @contextmanager
    def open_pool(number: int) -> Iterator[Executor]:
        broken = BrokenExecutor("gone")
        hand = Hand(lambda parcel: broken if parcel["name"] == "c" else passed(parcel))
        opened.append((number, hand))
        yield hand

    monkeypatch.setattr(workers, "open_pool", open_pool)
    class_ = [replace(job, workshops=(workshop,)) for job in jobs(tmp_path, *"abcdefgh")]

    found = {job.name: said for job, said in judge_all(class_, 2)}

    assert sorted(found) == list("abcdefgh")
    errors = {name for name, said in found.items() if said.all_evidence}
    assert errors == {"c"}
    assert {item.outcome for item in found["c"].all_evidence} == {"error"}
    assert "took the grader's own process down" in found["c"].all_evidence[0].found
    assert opened[-1][0] == 2
    assert all(len(hand.names) == 1 for number, hand in opened if number == 1)


def test_a_pool_that_breaks_before_it_takes_anything_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks = deque([True, False, False])

    @contextmanager
    def open_pool(_: int) -> Iterator[Executor]:
        broken = breaks.popleft()
        yield Hand(lambda parcel: BrokenExecutor("gone") if broken else passed(parcel))

    monkeypatch.setattr(workers, "open_pool", open_pool)

    assert [job.name for job, _ in judge_all(jobs(tmp_path, "a"), 1)] == ["a"]


def test_an_executor_that_fails_on_one_submission_goes_on_with_the_others(
    tmp_path: Path, workshop: Workshop
) -> None:
    hand = Hand(lambda parcel: OSError("no wire") if parcel["name"] == "b" else passed(parcel))
    line = [replace(job, workshops=(workshop,)) for job in jobs(tmp_path, *"abc")]

    found = {job.name: said for job, said in Line(line, hand, lambda: 1)}

    assert "OSError: no wire" in found["b"].all_evidence[0].found
    assert [found["a"], found["c"]] == [report("a"), report("c")]


def test_a_worker_that_refuses_ends_the_class(tmp_path: Path) -> None:
    hand = Hand(lambda _: {"refused": "It has another course."})

    with pytest.raises(CourseError, match="It has another course"):
        list(Line(jobs(tmp_path, "a"), hand, lambda: 1))


def test_no_more_is_packed_than_has_to_be_in_hand(tmp_path: Path) -> None:
    packed: list[str] = []
    told = 0

    def counted(job: Job) -> Parcel:
        packed.append(job.name)
        assert len(packed) - told <= 3
        return pack(job)

    line = Line(jobs(tmp_path, *"abcdefgh"), Hand(passed), lambda: 3, counted)
    for _ in line:
        told += 1

    assert packed == list("abcdefgh")
    assert (told, len(line.left), len(line.in_hand)) == (8, 0, 0)


def test_a_report_that_is_known_is_not_sent(tmp_path: Path) -> None:
    hand = Hand(passed)
    known = {"a": report("a"), "c": report("c")}
    none = replace(jobs(tmp_path, "d")[0], folder=None)
    line = Line(
        [*jobs(tmp_path, *"abc"), none], hand, lambda: 1, lambda j: known.get(j.name) or pack(j)
    )

    assert sorted(job.name for job, _ in line) == list("abcd")
    assert hand.names == ["b"]


def test_a_parcel_is_plain_data_and_comes_out_as_the_job_that_it_was(
    tmp_path: Path, workshop: Workshop
) -> None:
    job = Job(
        "zoë", tmp_path, (workshop,), tmp_path / "s", 3.0, 4.0,
        remarks=(Remark("a", "b", "c"),), kept=Kept(tmp_path / "kept", "x", read_old=False),
    )  # fmt: skip

    came = in_worker._unpacked(json.loads(json.dumps(pack(job))), tmp_path / "s")

    assert [shop.id for shop in came.workshops] == [workshop.id]
    assert replace(came, workshops=job.workshops) == job


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        ({"the course": "0"}, "it has other files of the course; check out the same version"),
        ({"pytest": "0.1"}, "and this machine has 0.1; install the same there"),
        ({"no such package": "1"}, "it has no such package no version"),
    ],
)
def test_a_worker_with_another_course_or_package_refuses(
    versions: dict[str, str], says: str, tmp_path: Path
) -> None:
    (job,) = jobs(tmp_path, "a")

    answer = judge_in_worker({**pack(job), "versions": {**in_worker.made_with(), **versions}})

    assert says in answer["refused"]
    assert "report" in judge_in_worker({**pack(job), "versions": in_worker.made_with()})


def test_a_worker_below_the_tier_that_is_asked_for_refuses(tmp_path: Path) -> None:
    (job,) = jobs(tmp_path, "a")

    assert "There is no tier 'x'" in judge_in_worker({**pack(job), "tier": "x"})["refused"]


def test_threads_judge_as_processes_do(workspace: Path, tmp_path: Path, workshop: Workshop) -> None:
    """One at a time, with nothing left running but what the next one uses again."""
    quick = Path("lab/plan_gate.py")
    (workspace / quick).unlink()
    (tmp_path / "scratch").mkdir()
    shop = replace(workshop, evidence=tuple(e for e in workshop.evidence if e.kind == "fixture"))
    job = Job("pair", workspace, (shop,), tmp_path / "scratch")
    parcels = [{**pack(job), "name": name} for name in "ab"]
    in_worker._workshop.cache_clear()

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(in_worker, "_workshop", lambda _: shop)
        before = running_below()
        answers = list(pool.map(judge_in_worker, parcels))
        after = running_below()

    wanted = judge_submission(job)
    assert [report_from_json(answer["report"]) for answer in answers] == [
        replace(wanted, submission=name) for name in "ab"
    ]
    assert after == before
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_class_larger_than_a_pool_judges_goes_on_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool that replaces its workers itself stops for good after some submissions."""
    monkeypatch.setattr(workers, "SUBMISSIONS_A_WORKER", 40)
    names = [str(number) for number in range(45)]

    found = [job.name for job, _ in judge_all(jobs(tmp_path, *names), 1)]

    assert sorted(found) == sorted(names)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "less than a minute left"),
        (29, "less than a minute left"),
        (31, "about 1 min left"),
        (5369, "about 89 min left"),
        (7259, "about 2 h 1 min left"),
    ],
)
def test_time_is_said_as_a_person_would(seconds: float, said: str) -> None:
    assert in_words(seconds) == said


def test_the_estimate_goes_by_the_last_few_and_not_by_what_came_at_once() -> None:
    now = 0.0
    estimate = Estimate(lambda: now)
    said = []
    for done in range(1, 201):
        now += 0.0 if done <= 100 else 30.0
        said.append(estimate.left(done, 200))

    assert said[:2] == ["", ""]
    assert said[50] == "less than a minute left"
    assert said[149] == "about 25 min left"
    assert said[-1] == ""


def test_without_a_terminal_each_submission_has_a_line() -> None:
    console = Console(file=StringIO(), force_terminal=False)

    with shown(console) as progress:
        for done, name in enumerate("abcd", start=1):
            progress(report(f"[{name}]\x1b[31m"), done, 4)

    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines == ["1/4 [a]", "2/4 [b]", "3/4 [c] (less than a minute left)", "4/4 [d]"]


def test_on_a_terminal_a_bar_says_how_long_the_rest_may_take() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=80)

    with shown(console) as progress:
        for done in range(1, 5):
            progress(report("a"), done, 5)

    assert "less than a minute left" in console.file.getvalue()  # type: ignore[attr-defined]
