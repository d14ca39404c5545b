"""From a transcript to claims: a value is sourced where it literally stands, and nowhere else.

Whoever proposes the values, a person or a model, does not get to say where they came from. This
looks for each of them in what the user said and in what the tools returned.
"""

import argparse
import json
import sys
from typing import Any

from lab.ledger_transcript import (
    Transcript,
    grounds,
    is_returned,
    is_said,
    resolve_pointer,
    result_values,
    transcript_problem,
    user_messages,
)
from lab.strict_json import NotStrictJson, load_json, structure_problem

__all__ = ["ExtractionError", "extract_claims", "extract_request", "grounds", "resolve_pointer"]

Claim = dict[str, Any]


class ExtractionError(ValueError):
    """No claims can be made of this; the text says what was found in place of what."""


def extract_request(request: Any) -> list[Claim]:
    """Make claims of one file: an object with a ``transcript`` and what is ``wanted`` from it."""
    if type(request) is not dict or request.keys() != {"transcript", "wanted"}:
        raise ExtractionError("a request is an object with transcript and wanted, and nothing else")
    return extract_claims(request["transcript"], request["wanted"])


def extract_claims(transcript: Transcript, wanted: list[dict[str, Any]]) -> list[Claim]:
    """Give one claim for each wanted ``{"name", "value"}``, in their order; other keys are dropped.

    A claim has name, value, tag and source_pointer. Raises ``ExtractionError`` where the transcript
    or a wanted value has the wrong shape.
    """
    problem = transcript_problem(transcript) or wanted_problem(wanted)
    if problem:
        raise ExtractionError(problem)
    return [_claim(transcript, row["name"], row["value"]) for row in wanted]


def wanted_problem(wanted: Any) -> str | None:
    """Say what keeps a value from being a list of wanted names and values, or return None."""
    structure = structure_problem(wanted)
    if structure:
        return f"wanted is not plain JSON: {structure}"
    if type(wanted) is not list:
        return "wanted must be a list of objects with name and value"
    names: set[str] = set()
    for index, row in enumerate(wanted):
        if type(row) is not dict or not {"name", "value"} <= row.keys():
            return f"wanted[{index}] must be an object with name and value"
        if type(row["name"]) is not str or not row["name"]:
            return f"wanted[{index}].name must be a text"
        if row["name"] in names:
            return f"wanted names {row['name']!r} twice"
        names.add(row["name"])
    return None


def _claim(transcript: Transcript, name: str, value: Any) -> Claim:
    """Tag one value: user, retrieved, or assumed where it stands nowhere."""
    ### BEGIN SOLUTION
    tag, pointer = _source(transcript, name, value)
    return {"name": name, "value": value, "tag": tag, "source_pointer": pointer}
    ### STUB
    # # Look among user_messages(transcript) first: is_said(value, message) tells whether the value
    # # stands in one. Then among result_values(transcript), which yields (pointer, found):
    # # is_returned(value, found) tells whether a tool returned it. Else it stays an assumption.
    # return {"name": name, "value": value, "tag": "assumed", "source_pointer": None}
    ### END SOLUTION


### BEGIN SOLUTION
def _source(transcript: Transcript, name: str, value: Any) -> tuple[str, str | None]:
    for number, message in enumerate(user_messages(transcript)):
        if type(value) is not bool and is_said(value, message):
            return "user", f"user_message:{number}"
    found = [
        (_closeness(name, value, pointer, there), pointer)
        for pointer, there in result_values(transcript)
        if is_returned(value, there)
    ]
    close = [row for row in found if type(value) is not bool or row[0][0] == 0]
    return ("retrieved", min(close, key=lambda row: row[0])[1]) if close else ("assumed", None)


def _closeness(name: str, value: Any, pointer: str, there: Any) -> tuple[int, int]:
    """Prefer a field of the same name, then a field that is the value and not only holds it."""
    field = pointer.rpartition(".")[2]
    named = name == field or name.endswith(f"_{field}")
    return int(not named), int(type(value) is not type(there) or value != there)


### STUB
# # Your code here, where you want helpers of your own.
#
#
### END SOLUTION
def main(arguments: list[str] | None = None) -> int:
    """Print the claims of one request as JSON, ready for the claims of a ledger."""
    parser = argparse.ArgumentParser(prog="python -m lab.extract_claims", description=main.__doc__)
    parser.add_argument("file", help="an object with transcript and wanted, as JSON")
    options = parser.parse_args(arguments)
    try:
        claims = extract_request(load_json(options.file))
    except (ExtractionError, NotStrictJson) as error:
        print(f"no claims: {error}", file=sys.stderr)
        return 1
    print(json.dumps(claims, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
