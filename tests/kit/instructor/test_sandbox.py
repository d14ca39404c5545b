"""The child: whatever it does, it ends, leaves nothing behind, and says no more than it did."""

import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from instructor.evidence.desk import Desk
from instructor.sandbox import Limits, run_child
from instructor.sandbox.forks import server_pids
from instructor.sandbox.process import MIB, ChildRun
from instructor.sandbox.strays import adopt_orphans, running_below

GATE = {"module": "lab.gate", "decide": "decide", "load": "load", "error": "Refused"}
GATE |= {"probe": ""}
CASES = [{"id": name, "document": name, "named": {}} for name in ("one", "two")]
WRITE_TO_ALL = """
import os
for fd in range(3, 20):
    try:
        {}
    except OSError:
        pass
"""
HEAD = "class Refused(ValueError):\n    pass\n\ndef load(path):\n    return None\n\n"


def replay(tmp_path: Path, body: str, seconds: float = 2.0, **limits: Any) -> ChildRun:
    lab = tmp_path / "workspace" / "lab"
    lab.mkdir(parents=True)
    (lab / "__init__.py").write_text("")
    (lab / "gate.py").write_text(HEAD + body)
    job = {"kind": "gate", "workspace": str(lab.parent), "gate": GATE, "seconds": seconds}
    desk = Desk(CASES)
    limit = Limits(**{"wall_seconds": 10, **limits})
    run = run_child(job, tmp_path / "scratch", limit, desk.answer)
    said = desk.gather(run)
    run.messages = [m for m in run.messages if "id" not in m]
    run.messages += [{**said[name], "id": name} for name in said]
    return run


def answers(run: ChildRun) -> dict[str, str]:
    named = {case["id"] for case in CASES}
    return {m["id"]: m["verdict"] for m in run.messages if m.get("id") in named}


def test_a_gate_says_accept_reject_or_crash(tmp_path: Path) -> None:
    refuse = "    if plan == 'one':\n        raise Refused('no')\n"

    run = replay(tmp_path, f"def decide(plan):\n{refuse}    return plan[9]\n")

    assert run.finished
    assert answers(run) == {"one": "reject", "two": "crash"}


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("while True: pass\n", "it was not done after 1 seconds"),
        ("import os\nos._exit(0)\n", "it ended Python itself (exit code 0)"),
        ("import ctypes\nctypes.string_at(0)\n", "it crashed Python (SIGSEGV)"),
        ("import os\nos.kill(os.getpid(), 9)\n", "it was killed at a limit"),
    ],
    ids=["loop", "os._exit", "segfault", "killed"],
)
def test_a_gate_that_does_not_end_its_import_well_decides_nothing(
    tmp_path: Path, body: str, trouble: str
) -> None:
    run = replay(tmp_path, body, seconds=1)

    assert answers(run) == {}
    assert [m["trouble"] for m in run.messages if "trouble" in m] == [trouble]


def test_a_case_that_catches_everything_is_ended_all_the_same(tmp_path: Path) -> None:
    stubborn = "    while True:\n        try:\n            while True: pass\n"

    run = replay(
        tmp_path, f"def decide(plan):\n{stubborn}        except BaseException: pass\n", seconds=0.2
    )

    assert answers(run) == {"one": "hang", "two": "hang"}


def test_a_case_that_hangs_costs_only_itself(tmp_path: Path) -> None:
    hang = "    while plan == 'one':\n        pass\n"

    run = replay(tmp_path, f"def decide(plan):\n{hang}    return plan\n")

    assert run.finished
    assert answers(run) == {"one": "hang", "two": "accept"}


def test_a_case_that_waits_for_a_busy_machine_is_not_taken_for_a_hang(tmp_path: Path) -> None:
    wait = "    threading.Event().wait(2.5)\n"

    run = replay(tmp_path, f"import threading\ndef decide(plan):\n{wait}    return plan\n")

    assert answers(run) == {"one": "accept", "two": "accept"}


def test_a_case_that_waits_for_ever_hangs(tmp_path: Path) -> None:
    wait = "    while plan == 'one':\n        signal.pause()\n"

    run = replay(
        tmp_path, f"import signal\ndef decide(plan):\n{wait}    return plan\n", seconds=0.3
    )

    assert answers(run) == {"one": "hang", "two": "accept"}


def test_a_case_that_ends_python_costs_only_itself(tmp_path: Path) -> None:
    leave = "    if plan == 'one':\n        import os\n        os._exit(1)\n"

    run = replay(tmp_path, f"def decide(plan):\n{leave}    return plan\n")

    assert run.finished
    assert answers(run) == {"one": "crash", "two": "accept"}


def test_a_case_that_ends_python_leaves_nothing_to_the_next_one(tmp_path: Path) -> None:
    leave = "    if plan == 'one':\n        import os\n        os._exit(0)\n    return seen\n"

    run = replay(tmp_path, f"seen = []\ndef decide(plan):\n    seen.append(plan)\n{leave}")

    assert answers(run) == {"one": "crash", "two": "accept"}
    assert [m["seen"] for m in run.messages if "seen" in m] == ['["two"]']


def test_a_flood_of_output_ends_the_child(tmp_path: Path) -> None:
    run = replay(tmp_path, "while True:\n    print('x' * 10_000)\n")

    assert run.ending == "it printed more than 1 MiB"
    assert run.output_bytes < 2 * MIB


def test_a_flood_of_results_ends_the_child(tmp_path: Path) -> None:
    run = replay(tmp_path, WRITE_TO_ALL.format("while True: os.write(fd, b'x' * 65536)"))

    assert run.ending == "it returned more than 4 MiB"


def test_forged_lines_are_not_results(tmp_path: Path) -> None:
    run = replay(tmp_path, WRITE_TO_ALL.format("os.write(fd, b'not json\\n')"))

    assert run.ending == "it sent something that is not a result"


def test_memory_is_limited(tmp_path: Path) -> None:
    body = "def decide(plan):\n    return 'x' * 3_000_000_000\n"

    run = replay(tmp_path, body)

    assert answers(run) == {"one": "crash", "two": "crash"}


def test_the_childs_environment_holds_nothing_of_the_teachers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEACHERS_TOKEN", "secret")
    body = "import os\ndef decide(plan):\n    return sorted(os.environ.items())\n"

    run = replay(tmp_path, body)

    said = next(m["seen"] for m in run.messages if m.get("id") == "one")
    assert "TEACHERS_TOKEN" not in said
    assert str(tmp_path) in said


def test_standard_input_is_empty(tmp_path: Path) -> None:
    run = replay(tmp_path, "input()\n")

    assert any("EOFError" in str(message.get("trouble")) for message in run.messages)


def test_a_submission_without_lab_is_not_judged_on_ours(tmp_path: Path) -> None:
    job = {"kind": "gate", "workspace": str(tmp_path), "seconds": 2.0}
    gate = {"module": "lab.plan_gate", "decide": "gate_plan", "load": "load_plan", "probe": ""}

    run = run_child(
        {**job, "gate": {**gate, "error": "PlanRejected"}}, tmp_path / "scratch", Limits()
    )

    assert "No module named 'lab'" in run.messages[0]["trouble"]


@pytest.mark.usefixtures("limits_only")
def test_a_daemon_that_detaches_itself_is_ended(tmp_path: Path) -> None:
    adopt_orphans()
    mark = tmp_path / "pid"
    body = f"""
import os, signal
ready, say = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    with open({str(mark)!r}, "w") as file:
        file.write(str(os.getpid()))
    os.write(say, b"x")
    signal.pause()
os.read(ready, 1)

def decide(plan):
    return plan
"""
    before = running_below()
    begun = time.monotonic()

    run = replay(tmp_path, body)

    assert answers(run) == {"one": "accept", "two": "accept"}
    assert not psutil.pid_exists(int(mark.read_text()))
    assert running_below() - server_pids() <= before
    assert time.monotonic() - begun < 9


def test_the_grader_itself_keeps_its_limits(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)

    replay(tmp_path, "def decide(plan):\n    return plan\n")

    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert Path.cwd() != tmp_path / "workspace"
