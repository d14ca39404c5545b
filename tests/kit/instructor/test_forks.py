"""Jobs are forked from preloaded servers: nothing of one reaches the next, and no one is left."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from instructor.sandbox import forks
from tests.kit.command import COURSE
from tests.kit.instructor.test_sandbox import answers, replay

SEEN = "def decide(plan):\n    return {seen}\n"


def seen(tmp_path: Path, expression: str, name: str = "next") -> str:
    """Give what an expression sees in a job, as JSON."""
    (tmp_path / name).mkdir()
    run = replay(tmp_path / name, SEEN.format(seen=expression))
    return {m["id"]: m["seen"] for m in run.messages if "seen" in m}["one"]


@pytest.mark.usefixtures("limits_only")  # where anything more holds it, it cannot
def test_a_job_that_kills_its_server_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    kill = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nsignal.pause()\n"

    run = replay(tmp_path / "first", kill)

    assert not run.finished
    assert seen(tmp_path, "plan") == '"one"'


@pytest.mark.parametrize(
    "spoil",
    ["import json\njson.dumps = json.loads = None", "import sys\nsys.path.insert(0, '/spoilt')",
     "import os\nos.environ['SPOILT'] = '1'", "import builtins\nbuiltins.spoilt = 1"],
    ids=["a module", "the path", "the environment", "the builtins"],
)  # fmt: skip
def test_what_a_job_does_to_its_process_the_next_does_not_meet(spoil: str, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    replay(tmp_path / "first", f"{spoil}\ndef decide(plan):\n    return plan\n")

    sees = (
        "[hasattr(__import__('builtins'), 'spoilt'), 'SPOILT' in __import__('os').environ, "
        "'/spoilt' in __import__('sys').path, __import__('json').loads is None]"
    )
    assert seen(tmp_path, sees) == "[false, false, false, false]"


def test_a_job_gets_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEACHERS_TOKEN", "x")

    names = seen(tmp_path, "sorted(__import__('os').environ)")

    assert "TEACHERS_TOKEN" not in names
    assert "HOME" in names


def test_a_job_has_its_own_connection_open_and_nothing_of_the_grader_s(tmp_path: Path) -> None:
    opened = """[n for n in range(100) if is_open(n)]

def is_open(number):
    import os
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
"""

    said = json.loads(seen(tmp_path, opened))

    assert said[:3] == [0, 1, 2]
    assert len(said) == 4  # and the connection


WAITS = """
import os, signal, sys
from instructor.sandbox.forks import fork, server_pids
child = fork("kernels", [{}, sys.argv[1], sys.argv[1], "-f", "k.json", "--transport=ipc"], {},
             listen=False)
print(child.pid, *server_pids(), flush=True)
signal.pause()
"""


def test_when_the_grader_is_killed_its_servers_and_their_children_end(tmp_path: Path) -> None:
    grader = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(tmp_path)], cwd=COURSE, stdout=subprocess.PIPE, text=True
    )
    assert grader.stdout
    below = [psutil.Process(int(pid)) for pid in grader.stdout.readline().split()]
    assert [process.is_running() for process in below] == [True, True]

    grader.send_signal(signal.SIGKILL)
    grader.wait()
    grader.stdout.close()

    _, alive = psutil.wait_procs(below, timeout=20)
    assert alive == []


def test_a_fork_that_nobody_waited_for_is_ended_before_the_next(tmp_path: Path) -> None:
    arguments = [{}, str(tmp_path), str(tmp_path), "-f", str(tmp_path / "k"), "--transport=ipc"]
    first = forks.fork("kernels", arguments, {}, listen=False)

    second = forks.fork("kernels", arguments, {}, listen=False)

    assert first.poll() == -signal.SIGKILL
    assert second.poll() is None
    second.kill()
    assert second.wait() == -signal.SIGKILL


def test_the_answers_of_a_case_are_the_same_from_every_fork(tmp_path: Path) -> None:
    """A hash of a text differs from process to process, unless its seed is set."""
    body = "def decide(plan):\n    return [hash(plan), list({plan, 'a', 'b', 'c'})]\n"
    said = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        run = replay(tmp_path / name, body)
        assert answers(run) == {"one": "accept", "two": "accept"}
        said.append({m["id"]: m["seen"] for m in run.messages if "seen" in m})

    assert said[0] == said[1]
    assert len(said[0]) == 2
