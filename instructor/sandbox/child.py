"""The program inside the sandbox: run one job on a student's files, say what their code said.

It runs in a fork of ``zygote.py``, gets one JSON line (the job) on its connection, and answers with
JSON lines. It holds inputs, never answers.
"""

import base64
import importlib
import json
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LAB = HERE.parents[1] / "lab"
# Our own modules, under private names and not through the student's path.
_OURS: dict[str, Any] = {}
TEXT_CHARACTERS = 2000


def run_suites(job: dict[str, Any], line: Any) -> None:
    """Run pytest files, each in a fork of its own, so that none can disturb another.

    A row with ``remote`` runs against a gate that is not in here: a stand-in for it asks the
    grader.
    """
    _OURS["rows"].serve_each(line, job["seconds"], partial(run_one_suite, job, line))


def run_rounds(job: dict[str, Any], line: Any) -> None:
    """Run the tests of one file once for each row, each against another gate of the grader's."""
    _OURS["rows"].serve_together(line, job["seconds"], partial(_serve_rounds, job, line))


def _serve_rounds(job: dict[str, Any], line: Any, rows: Iterator[dict[str, Any]]) -> None:
    crossing = _OURS["stand_in"].install(job["remote"], "", line.ask)
    _OURS["suite"].run_suite(
        Path(job["workspace"]),
        job["file"],
        plugin=lambda recorder: _OURS["rounds"].Rounds(rows, recorder, crossing.begin, line.send),
    )


def run_one_suite(job: dict[str, Any], line: Any, row: dict[str, Any]) -> None:
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


def replay_gate(job: dict[str, Any], line: Any) -> None:
    """Give each input to the student's gate and report what it said."""
    serve = partial(_serve_gate, types.SimpleNamespace(**job["gate"]), job["workspace"], line)
    _OURS["rows"].serve_together(line, job["seconds"], serve)


def _serve_gate(gate: Any, workspace: str, line: Any, rows: Iterator[dict[str, Any]]) -> None:
    replay = _OURS["replay"]
    try:
        module = importlib.import_module(gate.module)
        for name in (gate.load, gate.decide, gate.error):
            getattr(module, name)
    except BaseException as error:  # noqa: BLE001  sys.exit() at import is a finding too
        line.send({"trouble": trouble_of(error, replay.text_of(error), workspace)})
        return
    for case in rows:
        line.send({"id": case["id"], **decide_one(case, replay, gate, module)})


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


def replay_schema(job: dict[str, Any], line: Any) -> None:
    """Validate each input with the student's schema; only our code runs, on their data."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: a schema that refers to an address is an error, never a download.
    validator = Draft202012Validator(job["schema"], registry=Registry())

    def serve(rows: Iterator[dict[str, Any]]) -> None:
        for case in rows:
            line.send({"id": case["id"], **validate_one(case, validator)})

    _OURS["rows"].serve_together(line, job["seconds"], serve)


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


def read_commits(job: dict[str, Any], line: Any) -> None:
    """Read a repository's history; not one line of the student's code runs."""
    _OURS["commits"].read_commits(job, line.send)


JOBS = {
    "commits": read_commits,
    "rounds": run_rounds,
    "suites": run_suites,
    "gate": replay_gate,
    "schema": replay_schema,
}


def preload(load_script: Callable[[Path, str], Any]) -> None:
    """Import our own modules, once for all jobs."""
    _OURS.update({name: sys.modules[f"_courseware_{name}"] for name in ("confine", "suite")})
    for name in ("rows", "rounds", "stand_in", "commits", "replay"):
        place = LAB if name == "replay" else HERE
        _OURS[name] = load_script(place / f"{name}.py", f"_courseware_{name}")


def run(connection: int, _: list[Any]) -> None:
    """Read the job, lower the limits, do it, and say that the end was reached."""
    line = _OURS["rows"].Line(connection)
    job = line.receive()
    _OURS["confine"].confine(job["limits"], job["places"])
    _OURS["confine"].enter(job["workspace"])
    JOBS[job["kind"]](job, line)
    line.send({"end": True})
