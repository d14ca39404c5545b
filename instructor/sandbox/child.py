"""The program inside the sandbox: run one job on a student's files, say what their code said.

It runs in a fork of ``zygote.py``, gets one JSON line (the job) on its connection, and answers with
JSON lines. It holds inputs, never answers.
"""

import base64
import importlib
import json
import os
import signal
import socket
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
LAB = HERE.parents[1] / "lab"
# Our own modules, under private names and not through the student's path.
_OURS: dict[str, Any] = {}
TEXT_CHARACTERS = 2000
# This many cases may use up their whole limit.
PATIENCE = 3
# Limits are CPU time, so that a busy machine changes no verdict; code that only waits gets this
# many times as long by the clock.
WAITING = 3


class Ending(NamedTuple):
    """How a fork ended: no kind and no text where it came to its own end."""

    kind: str
    text: str


DONE = Ending("", "")


class Line:
    """The connection to the grader: one JSON value a line, both ways."""

    def __init__(self, number: int) -> None:
        """Take over an inherited socket."""
        self._file = socket.socket(fileno=number).makefile("rwb")

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()

    def ask(self, message: dict[str, Any]) -> Any:
        """Send one message and wait for its reply."""
        self.send(message)
        return self.receive()

    def receive(self) -> Any:
        """Wait for one message."""
        return json.loads(self._file.readline())


def rows_from(line: Line) -> Iterator[dict[str, Any]]:
    """Ask the grader for one row after the other, so that no more than one is ever in here."""
    limit_cpu_time(0)
    while True:
        row = line.ask({"call": "next row"})["row"]
        if row is None:
            return
        yield row


def run_suites(job: dict[str, Any], line: Line) -> None:
    """Run pytest files, each in a fork of its own, so that none can disturb another.

    This process imports not one line of the student's. A row with ``remote`` runs
    against a gate that is not in here: a stand-in for it asks the grader.
    """
    for row in rows_from(line):
        ending = in_fork(partial(run_one_suite, row, job, line), job["seconds"])
        line.send({"id": row["id"], "ending": ending.text})


def warm_up(suite: Any) -> None:
    """Run an empty suite of our own: pytest loads its plugins once, and every fork has them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").touch()
        suite.run_suite(Path(folder), "test_nothing.py")


def run_one_suite(row: dict[str, Any], job: dict[str, Any], line: Line) -> None:
    """Run one row's tests in this process and send what they said."""
    if row.get("remote"):
        _OURS["stand_in"].install(row["remote"], row["id"], line.ask)
    workspace = row.get("workspace", job["workspace"])
    _OURS["confine"].enter(workspace)
    report = _OURS["suite"].run_suite(
        Path(workspace),
        row["file"],
        row.get("tests", ()),
        row.get("stop_at_failure", False),
        # Should this process not come to its end, the grader knows in which test.
        lambda name: line.send({"id": row["id"], "at": name}),
    )
    line.send({"id": row["id"], "report": report.to_json()})


def in_fork(work: Callable[[], None], seconds: float) -> Ending:
    """Do something in a fork, end it when its time is up, and say how it ended."""
    hang = Ending("hang", f"it was not done after {seconds:g} seconds")
    child = os.fork()
    if not child:
        limit_cpu_time(seconds)
        work()
        os._exit(0)
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < WAITING * seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGPROF:
                return hang
            return Ending("crash", f"it ended Python itself (exit code {code})") if code else DONE
        time.sleep(min(0.001 + passed / 10, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return hang


def limit_cpu_time(seconds: float) -> None:
    """Have this process end with SIGPROF after so many seconds of CPU time; 0 takes that back."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def answer_case(
    case: dict[str, Any], decide: Callable[[dict[str, Any]], dict[str, Any]], line: Line
) -> None:
    """Decide one case and send what came of it."""
    line.send({"id": case["id"], **decide(case)})


def replay_cases(
    line: Line, seconds: float, decide: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Decide each case in a fork and a time limit of its own; what hangs costs only itself.

    After a few that hang the limit shrinks, so that a gate which never ends is soon known. A case
    that comes ``again`` is decided in this process, after all the others that did: a gate that
    remembers is found out. There is no second look where one of the cases did not end well.
    """
    hung = ended = 0
    for case in rows_from(line):
        if case.get("again"):
            if not ended:
                answer_case(case, decide, line)
            continue
        limit = seconds if hung < PATIENCE else seconds / 20
        ending = in_fork(partial(answer_case, case, decide, line), limit)
        if ending != DONE:
            ended += 1
            hung += ending.kind == "hang"
            line.send({"id": case["id"], "verdict": ending.kind, "text": ending.text})


def replay_gate(job: dict[str, Any], line: Line) -> None:
    """Give each input to the student's gate and report what it said."""
    gate = types.SimpleNamespace(**job["gate"])
    replay = _OURS["replay"]
    try:
        module = importlib.import_module(gate.module)
        for name in (gate.load, gate.decide, gate.error):
            getattr(module, name)
    except BaseException as error:  # noqa: BLE001  sys.exit() at import is a finding too
        line.send({"trouble": trouble_of(error, replay.text_of(error), job["workspace"])})
        return
    replay_cases(line, job["seconds"], lambda case: decide_one(case, replay, gate, module))


def trouble_of(error: BaseException, text: str, workspace: str) -> str:
    """Say what an import raised, and in which line of the student's."""
    if isinstance(error, EOFError):
        text = "there is no keyboard here"
    elif isinstance(error, MemoryError):
        text = "it asks for more memory than it may use"
    frames = [(Path(f.filename), f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [(path, line) for path, line in frames if path.is_relative_to(workspace)]
    place = f" ({own[-1][0].relative_to(workspace).as_posix()}, line {own[-1][1]})" if own else ""
    return f"{type(error).__name__}: {text}{place}"


def decide_one(case: dict[str, Any], replay: Any, gate: Any, module: Any) -> dict[str, Any]:
    """Give one input to the student's functions; the text of a crash stays in here."""
    try:
        if "text" in case:
            path = write_text(case["text"])
            decision = replay.load_and_decide(gate, module, path, case["named"])
        else:
            decision = replay.decide(gate, module, case["document"], case["named"])
        seen = json.dumps(decision.seen)[: 10 * TEXT_CHARACTERS]
        return {"verdict": decision.verdict, "text": decision.text[:TEXT_CHARACTERS], "seen": seen}
    except BaseException as error:  # noqa: BLE001  whatever is raised is the answer
        return {"verdict": "crash", "text": type(error).__name__[:100]}


def write_text(text: str) -> Path:
    """Put a raw text into a file of its own, for a loader that takes a path."""
    with tempfile.NamedTemporaryFile("wb", suffix=".json", delete=False) as file:
        file.write(base64.b64decode(text))
    return Path(file.name)


def replay_schema(job: dict[str, Any], line: Line) -> None:
    """Validate each input with the student's schema; only our code runs, on their data."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: a schema that refers to an address is an error, never a download.
    validator = Draft202012Validator(job["schema"], registry=Registry())
    replay_cases(line, job["seconds"], lambda case: validate_one(case, validator))


def validate_one(case: dict[str, Any], validator: Any) -> dict[str, Any]:
    """Validate one input; a schema can break the validator."""
    try:
        errors = [
            f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(case["document"])
        ]
    except Exception as error:  # noqa: BLE001  whatever a student's schema does
        return {"verdict": "crash", "text": type(error).__name__}
    verdict = "reject" if errors else "accept"
    return {"verdict": verdict, "text": "; ".join(errors)[:TEXT_CHARACTERS]}


def read_commits(job: dict[str, Any], line: Line) -> None:
    """Read a repository's history; not one line of the student's code runs."""
    _OURS["commits"].read_commits(job, line.send)


JOBS = {
    "commits": read_commits,
    "suites": run_suites,
    "gate": replay_gate,
    "schema": replay_schema,
}


def preload(load_script: Callable[[Path, str], Any]) -> None:
    """Import our own modules, once for all jobs."""
    places = {"suite": LAB, "replay": LAB, "confine": HERE, "stand_in": HERE, "commits": HERE}
    for name, place in places.items():
        _OURS[name] = load_script(place / f"{name}.py", f"_courseware_{name}")
    warm_up(_OURS["suite"])


def run(connection: int, _: list[Any]) -> None:
    """Read the job, lower the limits, do it, and say that the end was reached."""
    line = Line(connection)
    job = line.receive()
    _OURS["confine"].confine(job["limits"], job["places"])
    _OURS["confine"].enter(job["workspace"])
    if "seconds" in job:  # for what is imported before the first row is asked for
        limit_cpu_time(job["seconds"])
    JOBS[job["kind"]](job, line)
    line.send({"end": True, "threads": threading.active_count() - 1})
