"""Let a model propose the values; where they came from is looked up here, never believed.

Off unless ``LAB_MODEL_BASE_URL`` is set. Any endpoint with the chat completions form will do::

    LAB_MODEL_BASE_URL=http://localhost:8080/v1 LAB_MODEL_NAME=any LAB_MODEL_API_KEY=... \\
        python -m lab.extract_with_model fixtures/assumption_gate/transcript.json ticket_id

The model sees the transcript and the names. It gives values, and each value goes through
``extract_claims`` like any other. A reply that is not what was asked for is refused as a whole.
"""

import argparse
import http.client
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.extract_claims import Claim, ExtractionError, extract_claims
from lab.ledger_transcript import Transcript, transcript_problem
from lab.strict_json import MAX_BYTES, NotStrictJson, load_json, parse_json, structure_problem

INSTRUCTIONS = (
    "Read the transcript. Answer with JSON only, no prose and no code fence: "
    '{"claims": [{"name": NAME, "value": VALUE}, ...]}, one row for each of the names. '
    "Copy each value exactly as it stands in the transcript. Call no tool."
)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is; ``timeout_seconds`` holds for each wait on the network."""

    url: str
    model: str
    key: str = ""
    timeout_seconds: float = 30.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Endpoint":
        """Read the three variables; raise ``ExtractionError`` where no model is set."""
        base = environment.get("LAB_MODEL_BASE_URL", "").rstrip("/")
        if not base:
            raise ExtractionError(
                "no model is set. Set LAB_MODEL_BASE_URL, or use python -m lab.extract_claims"
            )
        if not base.startswith(("http://", "https://")):
            raise ExtractionError("LAB_MODEL_BASE_URL must begin with http:// or https://")
        name = environment.get("LAB_MODEL_NAME", "default")
        return cls(f"{base}/chat/completions", name, environment.get("LAB_MODEL_API_KEY", ""))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to somewhere that nobody named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none, so that it ends as an HTTP error."""


def extract_with_model(transcript: Transcript, names: list[str], endpoint: Endpoint) -> list[Claim]:
    """Ask for the values of some names and ground each; raise ``ExtractionError`` otherwise."""
    problem = transcript_problem(transcript)
    if problem:
        raise ExtractionError(problem)
    asked = {
        "model": endpoint.model,
        "temperature": 0,
        "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": json.dumps({"names": names, "transcript": transcript})},
        ],
    }
    wanted = read_reply(_post(endpoint, asked))
    return extract_claims(transcript, [row for row in wanted if row["name"] in names])


def read_reply(data: bytes) -> list[dict[str, Any]]:
    """Take the proposed names and values out of a reply, or raise ``ExtractionError``."""
    message = _message(_json(data, "the reply"))
    if message.get("tool_calls") or message.get("function_call"):
        raise ExtractionError("the model asked for a tool call; it may only propose values")
    content = message.get("content")
    if type(content) is not str:
        raise ExtractionError("the model's message has no text; expected JSON as its content")
    proposed = _json(content.encode("utf-8", "replace"), "the model's text")
    if type(proposed) is not dict or proposed.keys() != {"claims"}:
        raise ExtractionError("the model's text must be an object with claims, and nothing else")
    rows = proposed["claims"]
    if type(rows) is not list or not all(
        type(row) is dict and type(row.get("name")) is str and "value" in row for row in rows
    ):
        raise ExtractionError("each of the model's claims must be an object with name and value")
    return [{"name": row["name"], "value": row["value"]} for row in rows]


def _message(reply: Any) -> dict[str, Any]:
    """Find the one message of a reply whose model came to its own end."""
    choices = reply.get("choices") if type(reply) is dict else None
    choice = choices[0] if type(choices) is list and choices else None
    message = choice.get("message") if type(choice) is dict else None
    if type(choice) is not dict or type(message) is not dict:
        raise ExtractionError("the reply has no choices[0].message")
    if choice.get("finish_reason") == "length":
        raise ExtractionError("the model's text was cut off; ask for fewer names")
    return message


def _json(data: bytes, what: str) -> Any:
    try:
        value = parse_json(data)
    except NotStrictJson as error:
        raise ExtractionError(f"{what} is not strict JSON: {error}") from error
    structure = structure_problem(value)
    if structure:
        raise ExtractionError(f"{what} cannot be used: {structure}")
    return value


def _post(endpoint: Endpoint, asked: dict[str, Any]) -> bytes:
    headers = {"Content-Type": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        request = urllib.request.Request(  # noqa: S310  the scheme is checked where it is read
            endpoint.url, json.dumps(asked).encode(), headers, method="POST"
        )
        with opener.open(request, timeout=endpoint.timeout_seconds) as reply:
            data: bytes = reply.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
        advice = "wait, then ask again" if status == 429 else "look at the endpoint's log"
        raise ExtractionError(f"the model answers with HTTP {status}: {advice}") from error
    except TimeoutError as error:
        limit = f"{endpoint.timeout_seconds:g} seconds"
        raise ExtractionError(f"the model gave no answer within {limit}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ExtractionError(f"the model cannot be reached, or broke off: {error}") from error
    return data


def main(arguments: list[str] | None = None) -> int:
    """Print the claims that a model proposes and the transcript grounds, as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.extract_with_model", description=main.__doc__
    )
    parser.add_argument("file", help="a transcript, as JSON")
    parser.add_argument("names", nargs="+", help="what to look for, for example ticket_id")
    options = parser.parse_args(arguments)
    try:
        endpoint = Endpoint.from_environment(os.environ)
        claims = extract_with_model(load_json(options.file), options.names, endpoint)
    except (ExtractionError, NotStrictJson) as error:
        print(f"no claims: {error}", file=sys.stderr)
        return 1
    print(json.dumps(claims, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
