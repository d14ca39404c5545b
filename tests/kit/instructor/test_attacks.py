"""The attack list, in tiers A and B: each is contained, and costs nobody but who tries it.

A row is the body of a gate and what may come of it. All rows of a tier run one after another
through one fork server, each followed by an honest gate, so what one leaves behind would show.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from instructor.sandbox import quota
from instructor.sandbox.forks import server_pids
from instructor.sandbox.process import MIB, ChildRun
from instructor.sandbox.strays import adopt_orphans, running_below
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
        seconds=5,
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
        seconds=5,
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
        seconds=5,
    ),
    "many empty files": Attack(
        DECIDE.format("""for n in range(10 ** 9): open(str(n), 'w').close()"""),
        ending=f"it made more than {quota.MOST_ENTRIES} files and folders",
        seconds=5,
    ),
    "folders in folders": Attack(
        DECIDE.format("""while True:
        try: os.mkdir('d')
        except OSError: pass
        else: os.chdir('d')"""),
        ending=f"it made more than {quota.MOST_ENTRIES} files and folders",
        seconds=5,
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
    return replay(tmp_path / name, body, seconds)
