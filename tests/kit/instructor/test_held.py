"""In tiers A and B a student's code reaches its own copy, and nothing of the teacher's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

from instructor import CourseError
from instructor.in_worker import judge_job
from instructor.sandbox import places, selftest, tiers
from instructor.sandbox.process import ChildRun
from instructor.workers import open_pool
from lab.workshop import Workshop
from tests.kit.command import COURSE, Ended, instructor, python
from tests.kit.instructor.benches import changed, report_on, write
from tests.kit.instructor.test_sandbox import replay

ANSWERS = COURSE / "instructor" / "answers" / "plan_gate" / "cases.json"
TRY = """
def tried(attack):
    try:
        return repr(attack())[:40]
    except OSError as error:
        return type(error).__name__
"""
GATE = f"""
import os, pathlib, socket, subprocess
{TRY}
def decide(plan):
    return {{name: tried(attack) for name, attack in ATTACKS.items()}}
"""


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A file of the teacher's, a neighbour's folder, and a port that listens."""
    (tmp_path / "teachers").write_text("secret")
    (tmp_path / "neighbour").mkdir()
    with create_server(("127.0.0.1", 0)) as server:
        yield {"root": str(tmp_path), "port": server.getsockname()[1], "pid": os.getpid()}


def attacks(outside: dict[str, Any]) -> str:
    """Write the attacks of a gate: each has to end in an ``OSError``."""
    root, port = outside["root"], outside["port"]
    return f"""
ATTACKS = {{
    "read the answers": lambda: open({str(ANSWERS)!r}).read(),
    "read the kit": lambda: open({str(COURSE / "lab" / "plan_gate.py")!r}).read(),
    "read a file of the teacher's": lambda: open({root!r} + "/teachers").read(),
    "read it through a link": lambda: (os.path.lexists("l") or os.symlink({root!r} + "/teachers",
                                       "l"), open("l").read()),
    "read it by a way round": lambda: open("lab/../../teachers").read(),
    "read it through procfs": lambda: open("/proc/self/root" + {root!r} + "/teachers").read(),
    "read the environment of the grader": lambda: open(f"/proc/{{os.getppid()}}/environ").read(),
    "list the teacher's folder": lambda: os.listdir({root!r}),
    "list the home": lambda: os.listdir(os.path.expanduser("~root")),
    "write into a neighbour's work": lambda: open({root!r} + "/neighbour/x", "w"),
    "make a link there": lambda: os.symlink("x", {root!r} + "/neighbour/l"),
    "move a file of the teacher's": lambda: os.rename({root!r} + "/teachers", "t"),
    "link it here": lambda: os.link({root!r} + "/teachers", "t"),
    "delete it": lambda: os.unlink({root!r} + "/teachers"),
    "empty it": lambda: os.truncate({root!r} + "/teachers", 0),
    "connect": lambda: socket.create_connection(("127.0.0.1", {port}), 5),
    "listen": lambda: socket.create_server(("127.0.0.1", 0)),
    "signal the grader": lambda: os.kill({outside["pid"]}, 0),
    "ask for process 1": lambda: os.kill(1, 0),
}}
"""


@pytest.mark.usefixtures("held")
def test_a_gate_reaches_nothing_of_the_teacher_s(outside: dict[str, Any], tmp_path: Path) -> None:
    run = replay(tmp_path, GATE + attacks(outside))

    (said,) = {m["seen"] for m in run.messages if "seen" in m}
    succeeded = {name: what for name, what in json.loads(said).items() if "Error" not in what}
    assert succeeded == {}
    assert run.finished
    assert (tmp_path / "teachers").read_text() == "secret"
    assert list((tmp_path / "neighbour").iterdir()) == []


@pytest.mark.usefixtures("held")
def test_a_gate_starts_no_program(tmp_path: Path) -> None:
    run = replay(tmp_path, "import subprocess\ndef decide(plan):\n    subprocess.run(['true'])\n")

    assert {(m["verdict"], m["text"]) for m in run.messages if "verdict" in m} == {
        ("crash", "PermissionError: [Errno 1] Operation not permitted")
    }


def seen(run: ChildRun) -> set[str]:
    return {m["seen"] for m in run.messages if "seen" in m}


@pytest.mark.usefixtures("held")
def test_a_gate_may_write_into_its_own_copy_and_the_temporary_folder(tmp_path: Path) -> None:
    body = (
        "import os, pathlib, shutil, tempfile, threading\ndef decide(plan):\n"
        "    pathlib.Path('lab/own').write_text('x')\n"
        "    shutil.copy2('lab/own', 'lab/other')\n"
        "    pathlib.Path('lab/touched').touch()\n"
        "    assert pathlib.Path('lab/touched').exists()\n"
        "    thread = threading.Thread(target=os.getpid)\n    thread.start()\n    thread.join()\n"
        "    with tempfile.NamedTemporaryFile('w') as file:\n"
        "        file.write('x')\n    return pathlib.Path('lab/other').read_text()\n"
    )

    assert seen(replay(tmp_path, body)) == {'"x"'}


SUITE = f"""
import json
import pytest
{TRY}
def test_a(): pytest.fail(tried(lambda: open({str(ANSWERS)!r}).read()))
def test_b(): pass
def test_c(): pass
"""
NOTEBOOK = json.dumps({
    "cells": [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [],
               "execution_count": None, "source": f"open({str(ANSWERS)!r}).read()"}],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
})  # fmt: skip
NAME = "notebooks/plan_gate/1_inventory_and_contract.ipynb"


def test_tests_and_notebooks_do_not_reach_the_answers(
    held: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    for name in ("tests.own", "notebook.1"):
        (tmp_path / name).mkdir()
    root = changed(
        reference, tmp_path, write("tests/test_plan_gate.py", SUITE), write(NAME, NOTEBOOK)
    )
    with open_pool(1) as pool:  # a kernel's sockets stay open in the process that talked to it
        reports = [
            report_on(
                root,
                tmp_path / name,
                workshop,
                name,
                lambda job: pool.submit(judge_job, job).result(),
            )
            for name in ("tests.own", "notebook.1")
        ]

    said = [report.all_evidence[0] for report in reports]
    assert [item.outcome for item in said] == ["fail", "fail"]
    reasons = ("PermissionError", "FileNotFoundError")
    assert all(any(reason in item.found for reason in reasons) for item in said), said
    assert {report.sandbox for report in reports} == {held}


@pytest.mark.usefixtures("held")
def test_a_course_that_lies_where_python_does_is_not_out_of_reach(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(selftest, "COURSE_FILE", tmp_path / "file")
    monkeypatch.setattr(places, "_SYSTEM", (*places._SYSTEM, str(tmp_path)))

    trial = selftest.trial.__wrapped__(held)

    assert [result.name for result in trial.results if not result.contained] == ["read the answers"]
    assert not trial.holds


@pytest.mark.usefixtures("limits_only")
def test_where_limits_are_all_that_was_asked_for_code_reads_what_the_teacher_can(
    tmp_path: Path,
) -> None:
    (tmp_path / "teachers").write_text("secret")
    body = f"def decide(plan):\n    return open({str(tmp_path / 'teachers')!r}).read()\n"

    assert seen(replay(tmp_path, body)) == {'"secret"'}
    open_to_it = {r.name for r in selftest.attack_results() if not r.contained}
    assert {"read the answers", "connect by TCP", "start a program"} <= open_to_it


def test_a_rule_that_the_kernel_refuses_ends_the_process_before_any_work() -> None:
    script = (
        "import importlib.util as u\n"
        f"s = u.spec_from_file_location('l', {str(places.HERE / 'landlock.py')!r})\n"
        "l = u.module_from_spec(s); s.loader.exec_module(l)\n"
        "l._CREATE_RULESET = 10_000\n"
        "l.version = lambda: 1\n"
        "l.restrict([], [])\nprint('went on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "LandlockError" in done.stderr


# Has the kernel refuse some system calls to a program and all that it starts.
WITHOUT = """
import ctypes, os, runpy, sys
seccomp = runpy.run_path(sys.argv[1])
lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
names, command = sys.argv[2].split(","), sys.argv[3:]
seccomp["load"](seccomp["_made"](lib, [(names, 38, ())]))
os.environ["PATH"] = "/nowhere" if "clone3" in names else os.environ["PATH"]
os.execv(command[0], command)
"""
LANDLOCK = "landlock_create_ruleset"
NAMESPACES = "unshare,clone3"


def grade_without(refused: str, *more: object) -> Ended:
    """Grade nothing, on a machine that has no such system calls."""
    seccomp = str(places.HERE / "seccomp.py")
    command = [sys.executable, "-m", "instructor", "grade", *more]
    return python("-c", WITHOUT, seccomp, refused, *map(str, command), cwd=COURSE)


@pytest.mark.parametrize(
    ("held", "refused", "holds"),
    [(tiers.A, LANDLOCK, "True False"), (tiers.B, "mount", "False True")],
    indirect=["held"],
)
@pytest.mark.usefixtures("held")
def test_with_one_layer_alone_nothing_is_left_for_the_next(
    refused: str, holds: str, tmp_path: Path
) -> None:
    """Without Landlock a box holds one job; without namespaces Landlock holds it to its copy."""
    command = (sys.executable, "-m", "tests.kit.instructor.two_jobs", str(tmp_path))

    done = python("-c", WITHOUT, str(places.HERE / "seccomp.py"), refused, *command, cwd=COURSE)

    assert (done.code, done.err) == (0, "")
    said, first, second = done.out.splitlines()
    assert (said, second) == (holds, "second {'[]'}")
    # The first did find places to leave something in.
    assert first != "first {'[]'}"


@pytest.mark.skipif(sys.platform != "linux", reason="there is nothing to take away")
def test_with_neither_bubblewrap_nor_landlock_nothing_runs_and_it_says_what_to_install(
    tmp_path: Path, workspace: Path
) -> None:
    arguments = (workspace, "--out", tmp_path / "out")

    done = grade_without(f"{LANDLOCK},{NAMESPACES}", *arguments)

    assert done.code == 2
    assert "can only limit students' code (tier C)" in done.err
    assert "Expected: tier B or better." in done.err
    assert "install the package bubblewrap" in done.err
    assert "--require-tier C" in done.err
    assert not (tmp_path / "out").exists()


def test_a_tier_that_this_machine_has_not_is_refused_before_anything_is_graded(
    tmp_path: Path, workspace: Path
) -> None:
    arguments = (workspace, "--out", tmp_path / "out", "--require-tier", "A")

    done = instructor("grade", *arguments, FAILING_CLOSED_TIER="B")

    assert done.code == 2
    assert "This machine can hold students' code by Landlock and seccomp (tier B)" in done.err
    assert not (tmp_path / "out").exists()


def test_our_own_sample_class_needs_no_more_than_limits(tmp_path: Path) -> None:
    only = ("--to", tmp_path / "demo", "--pair", "assumption_stuck")

    done = instructor("demo", *only, FAILING_CLOSED_TIER="C")

    assert done.code == 0
    assert "tier C" in (tmp_path / "demo/report/index.html").read_text("utf-8")


def test_a_tier_that_nobody_knows_is_refused_with_those_there_are(tmp_path: Path) -> None:
    done = instructor("grade", tmp_path, "--out", tmp_path / "out", "--require-tier", "landlock")

    assert done.code == 2
    assert "There is no tier 'landlock'. Known: A, B, C." in done.err
    assert not (tmp_path / "out").exists()


def test_no_code_runs_in_tier_c_that_nobody_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "best_tier", lambda: tiers.C)
    monkeypatch.setattr(tiers, "_SETTLED", {})

    with pytest.raises(CourseError, match="Nothing of the students' was run"):
        replay(tmp_path, "def decide(plan):\n    return plan\n")
