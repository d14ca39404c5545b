"""Let a model propose the values; where they came from is looked up here, never believed.

Off unless ``LAB_MODEL_BASE_URL`` is set. Any endpoint with the chat completions form will do::

    LAB_MODEL_BASE_URL=http://localhost:8080/v1 LAB_MODEL_NAME=any LAB_MODEL_API_KEY=... \\
        python -m lab.extract_with_model fixtures/assumption_gate/transcript.json ticket_id

The model sees the transcript and the names. It gives values, and each value goes through
``extract_claims`` like any other. A reply that is not what was asked for is refused as a whole.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.extract_claims import Claim, ExtractionError, extract_claims
from lab.ledger_transcript import Transcript, transcript_problem
from lab.model import Endpoint, ModelError, ask, message_of, parsed
from lab.strict_json import NotStrictJson, load_json

INSTRUCTIONS = (
    "Read the transcript. Answer with JSON only, no prose and no code fence: "
    '{"claims": [{"name": NAME, "value": VALUE}, ...]}, one row for each of the names. '
    "Copy each value exactly as it stands in the transcript. Call no tool."
)


def extract_with_model(transcript: Transcript, names: list[str], endpoint: Endpoint) -> list[Claim]:
    """Ask for the values of some names and ground each; raise ``ExtractionError`` otherwise."""
    problem = transcript_problem(transcript)
    if problem:
        raise ExtractionError(problem)
    messages = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": json.dumps({"names": names, "transcript": transcript})},
    ]
    with _as_extraction():
        reply = ask(endpoint, messages)
    wanted = read_reply(reply)
    return extract_claims(transcript, [row for row in wanted if row["name"] in names])


def read_reply(data: bytes) -> list[dict[str, Any]]:
    """Take the proposed names and values out of a reply, or raise ``ExtractionError``."""
    with _as_extraction():
        message = message_of(data)
        if message.is_cut:
            raise ModelError("the model's text was cut off", "ask for fewer names")
        proposed = parsed(message.text.encode("utf-8", "surrogatepass"), "the model's text")
    if type(proposed) is not dict or proposed.keys() != {"claims"}:
        raise ExtractionError("the model's text must be an object with claims, and nothing else")
    rows = proposed["claims"]
    if type(rows) is not list or not all(
        type(row) is dict and type(row.get("name")) is str and "value" in row for row in rows
    ):
        raise ExtractionError("each of the model's claims must be an object with name and value")
    return [{"name": row["name"], "value": row["value"]} for row in rows]


def _endpoint() -> Endpoint:
    endpoint = Endpoint.from_environment(os.environ)
    if endpoint is None:
        raise ExtractionError(
            "no model is set. Set LAB_MODEL_BASE_URL, or use python -m lab.extract_claims"
        )
    return endpoint


@contextmanager
def _as_extraction() -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        raise ExtractionError(str(error)) from None


def main(arguments: list[str] | None = None) -> int:
    """Print the claims that a model proposes and the transcript grounds, as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.extract_with_model", description=main.__doc__
    )
    parser.add_argument("file", help="a transcript, as JSON")
    parser.add_argument("names", nargs="+", help="what to look for, for example ticket_id")
    options = parser.parse_args(arguments)
    try:
        claims = extract_with_model(load_json(options.file), options.names, _endpoint())
    except (ExtractionError, ModelError, NotStrictJson) as error:
        print(f"no claims: {error}", file=sys.stderr)
        return 1
    print(json.dumps(claims, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
