"""Decide all cases of a submission in one process: how a plain autograder would replay them.

It runs in a copy of the submission; the request comes as JSON on standard input, and the answers go
to standard output, a JSON object for each subject.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def main() -> None:
    """Read the request, decide, answer."""
    sys.path[0] = os.getcwd()  # noqa: PTH109  what pytest and a notebook have there
    request = json.load(sys.stdin)
    answers = []
    for subject in request["subjects"]:
        schema = subject["schema"]
        if schema is None:
            answers.append(by_gate(request, subject["rows"]))
        else:
            answers.append(by_schema(schema, subject["rows"]))
    json.dump(answers, sys.stdout)


def by_gate(request: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Decide each row with the submission's gate, there and back."""
    import importlib

    from lab.replay import decide, load_and_decide

    gate: Any = SimpleNamespace(**request["gate"])
    module = importlib.import_module(gate.module)
    answers = {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "case.json"
        orders = (rows, rows[::-1], rows)
        for mark, order in zip(("", *request["again"]), orders, strict=True):
            for row in order:
                if row["text"] is None:
                    said = decide(gate, module, row["document"], row["named"])
                else:
                    path.write_bytes(row["text"].encode())
                    said = load_and_decide(gate, module, path, row["named"])
                seen = json.dumps(said.seen)
                answers[row["id"] + mark] = {
                    "verdict": said.verdict, "text": said.text, "seen": seen
                }  # fmt: skip
    return answers


def by_schema(schema: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Decide each row with the submission's schema."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(schema)
    answers = {}
    for row in rows:
        found = validator.iter_errors(row["document"])
        errors = [f"{list(error.absolute_path)}: {error.message}" for error in found]
        verdict = "reject" if errors else "accept"
        answers[row["id"]] = {"verdict": verdict, "text": "; ".join(errors)}
    return answers


if __name__ == "__main__":
    main()
