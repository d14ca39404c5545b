"""The program inside the sandbox: run one job on a student's files, say what their code said.

It is started as a plain script with ``python -s -P -B``, gets one JSON line (the job) on the socket
whose number is its only argument, and answers with JSON lines. It holds inputs, never answers.
"""

import base64
import builtins
import importlib
import importlib.util
import json
import os
import signal
import socket
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TEXT_CHARACTERS = 2000


class Line:
    """The connection to the grader: one JSON value a line, both ways."""

    def __init__(self, number: int) -> None:
        """Take over an inherited socket; its copy is not inherited any further."""
        self._file = socket.socket(fileno=number).makefile("rwb")

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()

    def receive(self) -> Any:
        """Wait for one message."""
        return json.loads(self._file.readline())


def rows_from(line: Line) -> Iterator[dict[str, Any]]:
    """Ask the grader for one row after the other, so that no more than one is ever in here."""
    while True:
        line.send({"call": "next row"})
        row = line.receive()["row"]
        if row is None:
            return
        yield row


def load_script(path: Path, name: str) -> types.ModuleType:
    """Import one of our own files under a private name, not through the student's path."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101  a file of ours is there
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run_suites(job: dict[str, Any], line: Line) -> None:
    """Run pytest files, each in a fork of its own, so that none can disturb another.

    This process imports pytest once and not one line of the student's. A row with ``remote`` runs
    against a gate that is not in here: a stand-in for it asks the grader.
    """
    suite = load_script(HERE.parents[1] / "lab" / "suite.py", "_courseware_suite")
    for row in rows_from(line):
        child = os.fork()
        if not child:
            run_one_suite(suite, row, job, line)
            os._exit(0)
        ending = wait_for(child, job["seconds"])
        line.send({"id": row["id"], "ending": ending})


def run_one_suite(suite: Any, row: dict[str, Any], job: dict[str, Any], line: Line) -> None:
    """Run one row's tests in this process and send what they said."""
    if row.get("remote"):
        install_remote_gate(row["remote"], row["id"], line)
    report = suite.run_suite(Path(job["workspace"]), row["file"], row.get("tests", ()))
    line.send({"id": row["id"], "report": report.to_json()})


def wait_for(child: int, seconds: float) -> str:
    """Wait for a fork, end it when its time is up, and say how it ended ("" for by itself)."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return "" if code == 0 else f"it ended Python itself (exit code {code})"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"it was not done after {seconds:g} seconds"


def replay_gate(job: dict[str, Any], line: Line) -> None:
    """Give each input to the student's gate and report what it said."""
    gate = job["gate"]
    try:
        module = importlib.import_module(gate["module"])
        decide, load = getattr(module, gate["decide"]), getattr(module, gate["load"])
        refusal = getattr(module, gate["error"])
    except BaseException as error:  # noqa: BLE001  sys.exit() at import is a finding too
        line.send({"trouble": f"{type(error).__name__}: {text_of(error)}"})
        return
    for case in rows_from(line):
        line.send({"id": case["id"], **decide_one(case, decide, load, refusal)})


def decide_one(case: dict[str, Any], decide: Any, load: Any, refusal: Any) -> dict[str, Any]:
    """Call the student's functions on one input."""
    try:
        document = case["document"] if "text" not in case else load(write_text(case["text"]))
        value = decide(document, *case["arguments"])
        return {"verdict": "accept", "text": json.dumps(value)[: 10 * TEXT_CHARACTERS]}
    except BaseException as error:  # noqa: BLE001  whatever is raised is the answer
        if isinstance(refusal, type) and isinstance(error, refusal):
            return {"verdict": "reject", "text": text_of(error)[:TEXT_CHARACTERS]}
        return {"verdict": "crash", "text": type(error).__name__[:100]}


def write_text(text: str) -> str:
    """Put a raw text into a file of its own, for a loader that takes a path."""
    with tempfile.NamedTemporaryFile("wb", suffix=".json", delete=False) as file:
        file.write(base64.b64decode(text))
    return file.name


def replay_schema(job: dict[str, Any], line: Line) -> None:
    """Validate each input with the student's schema; only our code runs, on their data."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: a schema that refers to an address is an error, never a download.
    validator = Draft202012Validator(job["schema"], registry=Registry())
    for case in rows_from(line):
        try:
            errors = [
                f"{list(e.absolute_path)}: {e.message}"
                for e in validator.iter_errors(case["document"])
            ]
        except Exception as error:  # noqa: BLE001  a schema can break the validator
            line.send({"id": case["id"], "verdict": "crash", "text": type(error).__name__})
            continue
        verdict = "reject" if errors else "accept"
        line.send(
            {"id": case["id"], "verdict": verdict, "text": "; ".join(errors)[:TEXT_CHARACTERS]}
        )


def install_remote_gate(remote: dict[str, Any], row: str, line: Line) -> None:
    """Put a stand-in where the student's gate module would be; its functions ask the grader."""
    module = types.ModuleType(remote["module"])
    module.__file__ = "the gate under test"
    refusal = type(remote["error"], (ValueError,), {"__init__": set_problems})
    setattr(module, remote["error"], refusal)
    for name in remote["functions"]:
        setattr(module, name, remote_function(name, remote["load"], refusal, row, line))
    package, _, child = remote["module"].rpartition(".")
    sys.modules[remote["module"]] = module
    setattr(importlib.import_module(package), child, module)


def set_problems(self: Any, *problems: str) -> None:
    """Keep a refusal's problems apart, as the contract says."""
    ValueError.__init__(self, "; ".join(problems))
    self.problems = problems


def remote_function(name: str, load: str, refusal: Any, row: str, line: Line) -> Any:
    """Make one function that sends its arguments out and raises or returns what comes back."""

    def call(*arguments: Any, **named: Any) -> Any:
        test = test_at_work()
        sent = list(arguments)
        if name == load and sent:
            sent[0] = file_argument(sent[0])
        message = {"call": name, "arguments": sent, "named": named, "test": test, "row": row}
        try:
            line.send(message)
        except (TypeError, ValueError, RecursionError) as reason:
            # What is no JSON value cannot cross; a right gate refuses it, so this one does.
            raise refusal(f"a value that is not JSON: {reason}") from reason
        reply = line.receive()
        if "refused" in reply:
            raise refusal(*reply["refused"])
        if "crash" in reply:
            kind = getattr(builtins, reply["crash"], RuntimeError)
            raise (
                kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError
            )(reply["text"])
        return reply["value"]

    call.__name__ = name
    return call


def test_at_work() -> str:
    """Name the test that is running; "" while tests are collected or fixtures are made."""
    current = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[2]
    return current.removesuffix(" (call)") if current.endswith(" (call)") else ""


def file_argument(path: Any) -> dict[str, Any]:
    """Send a file's name and bytes in place of a path that means nothing outside."""
    path = Path(path)
    data = path.read_bytes()[: 2 << 20] if path.is_file() else None
    return {"name": path.name, "data": data if data is None else base64.b64encode(data).decode()}


def text_of(error: BaseException) -> str:
    """Give an exception's text, even where its own code breaks on that."""
    try:
        return str(error)
    except Exception as inner:  # noqa: BLE001  a stranger's exception
        return f"(its text raises {type(inner).__name__})"


JOBS = {
    "suites": run_suites,
    "gate": replay_gate,
    "schema": replay_schema,
}


def main() -> None:
    """Read the job, lower the limits, do it, and say that the end was reached."""
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    line = Line(number)
    job = line.receive()
    confine = load_script(HERE / "confine.py", "_courseware_confine")
    confine.die_with_parent()
    confine.leave_out_slow_formats()
    # Before the student's folder is on the path: no file of theirs can take these places.
    import jsonschema  # noqa: F401
    import pytest  # noqa: F401

    confine.confine(job["limits"])
    confine.enter(job["workspace"])
    sys.argv[:] = ["workspace"]
    JOBS[job["kind"]](job, line)
    line.send({"end": True})


if __name__ == "__main__":
    main()
