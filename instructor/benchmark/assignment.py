"""One small assignment in a notebook, written down for each grader: same task, same checks."""

import json
from typing import Any

TASK = "Write `decide(plan)`: it accepts a plan with an id and a tool, and refuses all others."
RIGHT = """\
def decide(plan):
    schema = {
        "type": "object",
        "required": ["id", "tool"],
        "properties": {"id": {"type": "string"}, "tool": {"enum": ["read", "write"]}},
        "additionalProperties": False,
    }
    return not list(Draft202012Validator(schema).iter_errors(plan))"""
WRONG = RIGHT.replace('"required": ["id", "tool"],', '"required": ["id"],')
START = "from jsonschema import Draft202012Validator"
CHECKS = (
    'assert decide({"id": "a", "tool": "read"}) is True',
    'assert decide({"id": "a"}) is False',
    'assert decide({"id": 1, "tool": "read"}) is False',
    'assert decide({"id": "a", "tool": "delete"}) is False',
    'assert decide({"id": "a", "tool": "read", "more": 1}) is False',
)


def submission(solution: str) -> str:
    """Write the notebook that a student hands in; it is the same for every grader."""
    return _notebook(_cells(solution))


def master(grader: str) -> str:
    """Write the teacher's notebook for a grader."""
    return _notebook(_for_otter()) if grader == "otter-grader" else submission(RIGHT)


def _cells(solution: str) -> list[dict[str, Any]]:
    cells = [
        _cell("markdown", "task", TASK),
        _cell("code", "start", START),
        _cell("code", "decide", solution, solution=True, points=None),
    ]
    checks = [_cell("code", f"check-{n}", c, points=1) for n, c in enumerate(CHECKS, start=1)]
    return [*cells, *checks]


def _for_otter() -> list[dict[str, Any]]:
    return [
        _cell("raw", "config", "# ASSIGNMENT CONFIG\ngenerate: true"),
        _cell("code", "start", START),
        _cell("raw", "question", "# BEGIN QUESTION\nname: q1\npoints: 5"),
        _cell("markdown", "task", TASK),
        _cell("raw", "solution", "# BEGIN SOLUTION"),
        _cell("code", "decide", RIGHT),
        _cell("raw", "solution-end", "# END SOLUTION"),
        _cell("raw", "tests", "# BEGIN TESTS"),
        *(_cell("code", f"check-{n}", check) for n, check in enumerate(CHECKS, start=1)),
        _cell("raw", "tests-end", "# END TESTS"),
        _cell("raw", "question-end", "# END QUESTION"),
    ]


def _cell(
    kind: str, name: str, source: str, *, solution: bool = False, points: int | None = None
) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if solution or points:
        metadata["nbgrader"] = {
            "grade": points is not None,
            "grade_id": name,
            "locked": not solution,
            "schema_version": 3,
            "solution": solution,
            "task": False,
            **({"points": points} if points else {}),
        }
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source, **code}


def _notebook(cells: list[dict[str, Any]]) -> str:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1)
