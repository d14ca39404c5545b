"""The attack list, in tiers A and B: each is contained, and costs nobody but who tries it.

A row is the body of a gate and what may come of it. All rows of a tier run one after another
through one fork server, each followed by an honest gate, so what one leaves behind would show.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import NamedTuple

import pytest

from instructor.sandbox import quota
from instructor.sandbox.forks import server_pids
from instructor.sandbox.process import MIB, ChildRun
from instructor.sandbox.strays import adopt_orphans, running_below
from lab.workshop import Workshop
from tests.kit.command import COURSE, instructor, python
from tests.kit.instructor.benches import GATE, TESTS, prepend, write
from tests.kit.instructor.hidden import secrets, shown_in
from tests.kit.instructor.test_hostile import strays
from tests.kit.instructor.test_sandbox import answers, replay


class Attack(NamedTuple):
    """A gate's body; the verdicts that its two inputs may get, and what the run may end in."""

    body: str
    verdicts: str = ""
    ending: str = "finished"
    trouble: str = ""
    seconds: float = 0.3


HONEST = "def decide(plan):\n    return plan\n"
# Runs something in the gate's import, or for its first input; decides as an honest gate does.
IMPORT = "import ctypes, os, signal, socket, sys, threading, time\n{}\n" + HONEST
DECIDE = """
import ctypes, os, signal, socket, sys, threading, time
import mmap
def attack():
    {}
def decide(plan):
    return attack() if plan == "one" else plan
"""
NO = "PermissionError"

ATTACKS = {
    "fork bomb": Attack(IMPORT.format("while True: os.fork()"), trouble=NO),
    "fork bomb that goes on": Attack(
        DECIDE.format("""while True:
        try: os.fork()
        except OSError: pass"""),
        "hang accept",
    ),
    "daemon": Attack(
        DECIDE.format("os.fork() or (os.setsid(), os.fork() and os._exit(0), signal.pause())"),
        "crash accept",
    ),
    "thread bomb": Attack(
        DECIDE.format("while True: threading.Thread(target=signal.pause, daemon=True).start()"),
        "crash accept",
    ),
    "ignored signals": Attack(
        DECIDE.format("""for n in range(1, 65):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: pass"""),
        "hang accept",
    ),
    "stopped": Attack(DECIDE.format("os.kill(os.getpid(), signal.SIGSTOP)"), "hang accept"),
    "memory": Attack(
        DECIDE.format("""kept = []
    while True: kept.append(mmap.mmap(-1, 100 << 20))"""),
        "crash accept",
        seconds=20,
    ),
    "flood of output": Attack(
        IMPORT.format("while True: os.write(1, b'x' * 65536)"), ending="it printed more than 1 MiB"
    ),
    "flood of results": Attack(
        IMPORT.format("""for n in range(3, 9):
    try:
        while True: os.write(n, b'x' * 65536)
    except OSError: pass"""),
        ending="it",
    ),
    "one large file": Attack(
        DECIDE.format("open('x', 'wb').write(bytes(64 << 20))"), "crash accept"
    ),
    "many large files": Attack(
        DECIDE.format("""for n in range(10 ** 6): open(str(n), 'wb').write(bytes(1 << 20))"""),
        ending=f"it wrote more than {quota.MOST_BYTES // MIB} MiB",
        seconds=20,
    ),
    "large files without a name": Attack(
        DECIDE.format("""kept = []
    while True:
        try:
            kept.append(open('x', 'wb'))
            os.unlink('x')
            kept[-1].write(bytes(2 << 20))
        except OSError: pass"""),
        ending=f"it wrote more than {quota.MOST_BYTES // MIB} MiB",
        seconds=20,
    ),
    "many empty files": Attack(
        DECIDE.format("""for n in range(10 ** 9): open(str(n), 'w').close()"""),
        ending=f"it made more than {quota.MOST_ENTRIES} files and folders",
        seconds=20,
    ),
    "folders in folders": Attack(
        DECIDE.format("""while True:
        try: os.mkdir('d')
        except OSError: pass
        else: os.chdir('d')"""),
        ending=f"it made more than {quota.MOST_ENTRIES} files and folders",
        seconds=20,
    ),
    "segfault": Attack(DECIDE.format("ctypes.string_at(0)"), "crash accept"),
    "deep recursion": Attack(
        DECIDE.format("""sys.setrecursionlimit(10 ** 9)
    return attack()"""),
        "hang accept",
    ),
    "exit with 0 at import": Attack(IMPORT.format("os._exit(0)"), trouble="it ended Python itself"),
    "exit with 0 for an input": Attack(DECIDE.format("os._exit(0)"), "crash accept"),
    "closed descriptors": Attack(
        IMPORT.format("os.closerange(0, 999)"), trouble="it ended Python itself"
    ),
    "the end, forged": Attack(
        IMPORT.format("""for n in range(3, 9):
    try: os.write(n, b'{"end": true}\\n')
    except OSError: pass
signal.pause()"""),
    ),
    "answers, forged": Attack(
        IMPORT.format("""for n in range(3, 9):
    for row in range(99):
        try: os.write(n, b'{"id": "%d", "verdict": "accept", "seen": "1"}\\n' % row)
        except OSError: pass
os._exit(0)"""),
        trouble="it ended Python itself",
    ),
    "every kind of socket": Attack(
        DECIDE.format("""kinds = [(f, t | more, p) for f in range(1, 46) for t in range(1, 11)
                 for more in (0, socket.SOCK_CLOEXEC) for p in (0, 6, 17, 262)]
    for kind in kinds:
        try: socket.socket(*kind)
        except OSError: continue
        return "open: %s" % (kind,)
    raise OSError"""),
        "crash accept",
    ),
    "signals": Attack(
        DECIDE.format("""for pid in (0, -1, 1, os.getppid(), -os.getpgrp()):
        try: os.kill(pid, signal.SIGKILL)
        except OSError: continue
        return pid
    raise OSError"""),
        "crash accept",
    ),
    "memory of another process": Attack(
        DECIDE.format("""libc = ctypes.CDLL(None)
    return 1 / (libc.ptrace(16, os.getppid(), 0, 0) + 1)"""),
        "crash accept",
    ),
    "a module in the place of ours": Attack(
        IMPORT.format("""import lab
sys.modules['json'] = sys.modules['os'] = lab
json = __import__('builtins')"""),
        "accept accept",
    ),
}  # fmt: skip


def test_every_attack_is_contained_and_the_next_submission_does_not_notice(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt_orphans()
    monkeypatch.setattr(quota, "SECONDS", 0.05)
    replay_one(tmp_path, "first", HONEST)
    before = running_below() - server_pids()

    problems = [
        f"{held} {name}: {problem}"
        for number, (name, attack) in enumerate(ATTACKS.items())
        for problem in problems_with(attack, tmp_path, str(number))
    ]

    assert problems == []
    assert running_below() - server_pids() <= before


def test_a_folder_that_goes_deeper_than_python_recurses_is_cleared_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "copy").mkdir()
    monkeypatch.chdir(tmp_path / "copy")
    for _ in range(2000):
        os.mkdir("d")  # noqa: PTH102  no path may be as long as this one gets
        os.chdir("d")
    os.chdir(tmp_path)

    quota.clear_away(tmp_path / "copy")

    assert list(tmp_path.iterdir()) == []


AS_NOBODY = """
import os, pathlib, sys
from instructor.sandbox.quota import clear_away
place = pathlib.Path(sys.argv[1])
os.geteuid() or os.setuid(65534)
(place / "copy" / "d").mkdir(parents=True)
(place / "copy" / "d" / "file").touch()
os.chmod(place / "copy" / "d", 0o300)
clear_away(place / "copy")
print(os.listdir(place))
"""


def test_a_folder_that_its_owner_may_not_list_is_cleared_away() -> None:
    """Root lists every folder, so root becomes nobody for this."""
    with tempfile.TemporaryDirectory() as place:
        if not os.geteuid():
            os.chown(place, 65534, 65534)

        done = python("-c", AS_NOBODY, place, cwd=COURSE)

    assert (done.code, done.out.strip()) == (0, "[]"), done.err


def test_what_a_killed_grader_left_in_its_scratch_does_not_stop_the_next(
    tmp_path: Path, workspace: Path
) -> None:
    left = tmp_path / "out" / ".work" / "copy"
    left.mkdir(parents=True)
    nested = "import os\nfor _ in range(2000):\n    os.mkdir('d'); os.chdir('d')"
    assert python("-c", nested, cwd=left).code == 0

    done = instructor(
        "grade", workspace, "--out", tmp_path / "out", "--workshop", "plan_record",
        "--require-tier", "C", FAILING_CLOSED_TIER="C",
    )  # fmt: skip

    assert (done.code, done.err) == (0, "")
    assert not left.exists()


def problems_with(attack: Attack, tmp_path: Path, name: str) -> Iterator[str]:
    servers = server_pids()
    run = replay_one(tmp_path, name, attack.body, attack.seconds)
    said = {m["id"]: m.get("verdict", "") for m in run.messages if "id" in m}
    if not run.ending.startswith(attack.ending):
        yield f"ended in {run.ending!r}"
    if attack.verdicts and " ".join(said.values()) != attack.verdicts:
        yield f"got {said}"
    if not attack.verdicts and "accept" in said.values():
        yield f"got {said}"
    troubles = str([m["trouble"] for m in run.messages if "trouble" in m])
    if attack.trouble and attack.trouble not in troubles:
        yield f"said {troubles}"
    if answers(replay_one(tmp_path, f"{name} next", HONEST)) != {"one": "accept", "two": "accept"}:
        yield "the next one is not as it was"
    if server_pids() != servers:
        yield "the server is another one"


def replay_one(tmp_path: Path, name: str, body: str, seconds: float = 0.3) -> ChildRun:
    (tmp_path / name).mkdir()
    try:
        return replay(tmp_path / name, body, seconds, wall_seconds=100)
    finally:
        # pytest itself does not get rid of a folder as deep as one of these makes it.
        quota.clear_away(tmp_path / name)


# Forges what pytest and the sandbox would say, in every place that is read before the tests.
FORGES = """
import os, sys
for n in range(3, 9):
    for row in range(300):
        try: os.write(n, b'{"id": "%d", "verdict": "accept", "text": "", "seen": "{}"}\\n' % row)
        except OSError: pass
import _pytest.runner, _pytest.reports
_pytest.runner.check_interactive_exception = lambda *_: False
_pytest.reports.TestReport.from_item_and_call = classmethod(
    lambda cls, item, call: cls(item.nodeid, item.location, {}, "passed", None, call.when)
)
"""
# Looks the right verdict up, in all the ways that there are; accepts what it does not find.
READS = f"""
import glob, os, subprocess
class PlanRejected(ValueError): pass
def load_plan(path): return {{}}
def gate_plan(plan, *_, **__):
    for way in (
        lambda: open({str(COURSE / "instructor/answers/plan_gate/cases.json")!r}).read(),
        lambda: open("/proc/self/root" + {str(COURSE / "lab/plan_gate.py")!r}).read(),
        lambda: subprocess.check_output(["cat", {str(COURSE / "lab/plan_gate.py")!r}]),
        lambda: open(f"/proc/{{os.getppid()}}/environ").read(),
        lambda: open(glob.glob("/home/*/*")[0]).read(),
    ):
        try: raise SystemExit("READ " + str(way())[:300])
        except (OSError, IndexError): pass
    return plan
"""
KILLS = """
import os, signal, socket
for pid in (os.getppid(), -1, 1, *range(2, 400)):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
while True:
    try: os.fork()
    except OSError: os._exit(0)
"""
HOSTILE = {
    "forger": lambda root: (
        write("conftest.py", FORGES)(root),
        write(TESTS, FORGES + "def test_a(): assert False\n")(root),
        write(GATE, FORGES + READS.replace("SystemExit", "ValueError"))(root),
    ),
    "killer": lambda root: (prepend(GATE, KILLS)(root), prepend(TESTS, KILLS)(root)),
    "reader": write(GATE, READS),
}
GATED = ("validator", "tests", "break", "debrief")


def test_a_class_with_hostile_submissions_is_graded_and_the_neighbour_s_report_is_whole(
    held: str, tmp_path: Path, reference: Path, workshop: Workshop
) -> None:
    folder = tmp_path / "class"
    for name, do in {"honest": str, **HOSTILE}.items():
        copytree(reference, folder / name, ignore=ignore_patterns("*.ipynb"))
        do(folder / name)
    out = tmp_path / "out"

    done = instructor(
        "grade", folder, "--out", out, "--seconds", 3, "--require-tier", held,
        FAILING_CLOSED_TIER=held,
    )  # fmt: skip

    assert (done.code, done.err) == (0, "")
    texts = {name: (out / name / "report.json").read_text("utf-8") for name in folder_names(folder)}
    passed = {name: reached(text) for name, text in texts.items()}
    assert passed["honest"] == {"inventory", "contract", *GATED}
    assert all(passed[name].isdisjoint(GATED) for name in HOSTILE), passed
    assert {json.loads(text)["sandbox"] for text in texts.values()} == {held}
    assert not any("READ " in text for text in texts.values())
    assert shown_in("".join(texts.values()), secrets([workshop])) == []
    assert strays(tmp_path) == []


def folder_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def reached(text: str) -> set[str]:
    blocks = json.loads(text)["workshops"][0]["blocks"]
    return {block["id"] for block in blocks if block["outcome"] == "pass"}
