"""What strangers' data may cost the grader's own process, in time and in memory."""

import sys
import threading
import time
from pathlib import Path

import pytest
from nbformat.notebooknode import from_dict

from instructor.evidence import Bench, Finding, fixtures, notebook_run
from instructor.evidence.desk import Rows
from instructor.evidence.notebook_run import Trace
from instructor.judging import judge_one, plain
from instructor.sandbox import prompt_client
from instructor.sandbox.allowance import LOOK_SECONDS, Allowance, TookTooLong
from instructor.sandbox.process import MIB
from instructor.workers import WORKER_MEMORY, open_pool
from lab.workshop import Workshop
from tests.kit.instructor.benches import bench_with, findings
from tests.kit.instructor.test_notebooks import NOTEBOOK, code, text_of


def busy() -> None:
    while True:
        sum(range(100))


def stubborn() -> None:
    try:
        busy()
    except TookTooLong:
        busy()


@pytest.mark.parametrize("work", [busy, stubborn])
def test_work_is_stopped_when_the_allowance_is_spent(work: object) -> None:
    assert callable(work)
    allowance = Allowance(0.1)
    began = time.monotonic()

    with pytest.raises(TookTooLong, match=r"longer than 0\.1 seconds"), allowance.spending():
        work()

    assert time.monotonic() - began < 30
    with pytest.raises(TookTooLong), allowance.spending():
        pytest.fail("nothing is left to spend")


def test_an_allowance_is_spent_in_pieces_and_what_comes_after_is_not_stopped() -> None:
    allowance = Allowance(60)
    for _ in range(1000):
        with allowance.spending():
            pass
    assert 0 < allowance._left < 60
    over = Allowance(0.05)
    with pytest.raises(TookTooLong), over.spending():
        busy()
    # Longer than the watchdog takes to look again.
    end = time.monotonic() + 3 * LOOK_SECONDS
    while time.monotonic() < end:
        sum(range(100))


def test_an_allowance_holds_in_another_thread_too() -> None:
    said: list[str] = []

    def work() -> None:
        try:
            with Allowance(0.1).spending():
                busy()
        except TookTooLong as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert said == ["it keeps a right gate busy for longer than 0.1 seconds"]


def test_a_fixture_that_keeps_a_gate_busy_is_a_fail_with_its_reason(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = bench_with(workshop, tmp_path, {})
    bench.allowance = Allowance(0.2)
    monkeypatch.setattr(fixtures, "decide", lambda *_: busy())
    evidence = next(item for item in workshop.evidence if item.id == "tests.assumed")

    for _ in range(2):
        found = judge_one(evidence, bench)
        assert found.outcome == "fail"
        assert "busy for longer than 0.2 seconds" in found.found


def memory_of_a_worker() -> tuple[int, bool]:
    import resource

    try:
        bytearray(WORKER_MEMORY)
    except MemoryError:
        return resource.getrlimit(resource.RLIMIT_AS)[0], True
    return resource.getrlimit(resource.RLIMIT_AS)[0], False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds to such a limit")
def test_a_worker_cannot_take_all_memory() -> None:
    with open_pool(1) as pool:
        assert pool.submit(memory_of_a_worker).result() == (WORKER_MEMORY, True)


def test_the_cells_of_a_notebook_share_a_time(tmp_path: Path, workshop: Workshop) -> None:
    bench = bench_with(workshop, tmp_path, {})
    bench.cell_seconds = 1.0
    now = iter([10.0, 10.0, 29.0, 29.5, 40.0])
    trace = Trace(lambda: next(now))
    trace.begin(from_dict({"cell_type": "code", "source": "1"}), 0)

    left = [(trace.seconds_left(bench), trace.is_late) for _ in range(4)]

    assert left == [(1.0, False), (1.0, False), (0.5, True), (0.01, True)]


def test_a_notebook_has_a_time_for_the_whole(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook_run, "NOTEBOOK_CELLS", 0.5)
    waits = text_of(code("1"), code("import threading\nthreading.Event().wait()"))
    bench = bench_with(workshop, tmp_path, {NOTEBOOK: waits})

    found = judge_notebook(bench)

    assert found.outcome == "fail"
    assert "was not done when all had taken 2 seconds (1 of 2 cells ran)" in found.found


def test_a_kernels_message_that_is_too_long_is_not_read(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be told that it sends too much, had it been read."""
    monkeypatch.setattr(prompt_client, "LONGEST_MESSAGE", 2 * MIB)
    text = text_of(code(f"print('x' * {3 * MIB})"))

    found = judge_notebook(bench_with(workshop, tmp_path, {NOTEBOOK: text}))

    assert found.outcome == "fail"
    assert "was not done after 4 seconds" in found.found


def judge_notebook(bench: Bench) -> Finding:
    evidence = bench.workshop.evidence
    return judge_one(next(i for i in evidence if i.options.get("file") == NOTEBOOK), bench)


@pytest.mark.parametrize(
    "answer",
    [
        {"verdict": ["accept"]},
        {"verdict": {"accept": 1}},
        {"verdict": None},
        {"verdict": "accept", "seen": ["x"], "text": [[]]},
    ],
)
def test_whatever_the_sandbox_answers_is_judged(
    answer: dict[str, object],
    tmp_path: Path,
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = bench_with(workshop, tmp_path, {})
    every = [f"{c.id}{mark}" for c in bench.answers.cases for mark in ("", " again", " and again")]
    monkeypatch.setattr(Bench, "run_rows", lambda *_, **__: Rows(dict.fromkeys(every, answer)))

    found = {item.found: item.outcome for item in findings(bench, "cases").values()}
    assert {outcome for text, outcome in found.items() if text.startswith("Your")} == {"fail"}


def test_marks_that_turn_text_around_are_taken_out() -> None:
    turned = "safe\u202etxt.exe \u2066a\u2069 zero\u200bwidth \ufeff"
    assert plain(turned) == "safe txt.exe a zero width"
    assert plain("سلام שלום 👩‍💻") == "سلام שלום 👩‍💻"
