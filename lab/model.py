"""One question to a model: any endpoint of the chat completions form, and nothing else.

Off unless ``LAB_MODEL_BASE_URL`` is set; ``LAB_MODEL_NAME`` names the model, ``LAB_MODEL_API_KEY``
is sent where there is one. What comes back is a stranger's text, so it is bounded, and the raw
bytes are kept apart from what anyone makes of them. The key is in no message.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lab.strict_json import MAX_BYTES, NotStrictJson, parse_json, structure_problem
from lab.suite import cut

INSTALL = "uv sync --extra model, or pip install -e '.[model]'"
ASK_AGAIN = "ask again, or another model"
_ADVICE = {
    401: "look at LAB_MODEL_API_KEY",
    403: "look at LAB_MODEL_API_KEY",
    404: "look at LAB_MODEL_BASE_URL and LAB_MODEL_NAME",
}


class ModelError(ValueError):
    """A model gave no answer that is one; ``partial`` is what came of it."""

    def __init__(self, found: str, next_: str, expected: str = "", partial: bytes = b"") -> None:
        """Take what was found, what to do next, and what was expected."""
        self.found, self.next = found, next_
        self.expected = expected or "one message of text, in the form of chat completions"
        self.partial = partial
        super().__init__(f"Found: {found}. Expected: {self.expected}. Next: {next_}.")


@dataclass(frozen=True)
class Endpoint:
    """Where the model is; ``timeout_seconds`` holds for each wait, ``total_seconds`` for all."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    total_seconds: float = 120.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Endpoint | None":
        """Read the three variables; None where no model is set. Raises ``ModelError``."""
        base = environment.get("LAB_MODEL_BASE_URL", "").rstrip("/")
        if not base:
            return None
        if not base.startswith(("http://", "https://")):
            raise ModelError(
                "LAB_MODEL_BASE_URL does not begin with http:// or https://",
                "set it again",
                "an address, for example http://localhost:8080/v1",
            )
        key = environment.get("LAB_MODEL_API_KEY", "")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ModelError(
                "LAB_MODEL_API_KEY holds a blank, a line break or a letter that no key has",
                "set it again, without what came along when it was copied",
                "a key",
            )
        return cls(base, environment.get("LAB_MODEL_NAME") or "default", key)


@dataclass(frozen=True)
class Message:
    """What a model said: its text, and whether its own length limit cut it off."""

    text: str
    is_cut: bool


def ask(endpoint: Endpoint, messages: list[dict[str, str]]) -> bytes:
    """Ask once and give the raw body of the reply, at most ``MAX_BYTES`` and one byte of it.

    Nothing is asked again by itself: who pays for a call decides on it. Raises ``ModelError``.
    """
    try:
        import httpx
        import openai
    except ImportError as error:
        raise ModelError("the package openai is not installed", INSTALL, "it is") from error
    body = bytearray()
    deadline = time.monotonic() + endpoint.total_seconds
    with (
        _in_words(endpoint, body),
        # A redirect would carry the key to somewhere that nobody named.
        openai.DefaultHttpxClient(follow_redirects=False) as http,
        openai.OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",
            timeout=httpx.Timeout(endpoint.timeout_seconds),
            max_retries=0,
            http_client=http,
        ) as client,
        client.chat.completions.with_streaming_response.create(
            model=endpoint.model,
            messages=messages,  # type: ignore[arg-type]
            temperature=0,
            extra_headers=_headers(endpoint),
        ) as reply,
    ):
        _collect(reply.iter_bytes(), body, deadline)
    return bytes(body)


def message_of(reply: bytes) -> Message:
    """Find the one message of a reply; raise ``ModelError`` where there is no text in it."""
    # Half a character in the text is the text's own matter: whoever uses it will see.
    data = parsed(reply, "the reply", whole=False)
    choices = data.get("choices") if type(data) is dict else None
    choice = choices[0] if type(choices) is list and choices else None
    message = choice.get("message") if type(choice) is dict else None
    if type(choice) is not dict or type(message) is not dict:
        raise ModelError("the reply has no choices[0].message", ASK_AGAIN)
    if message.get("tool_calls") or message.get("function_call"):
        raise ModelError("the model asked for a tool call; it may only write text", ASK_AGAIN)
    text = message.get("content")
    if type(text) is not str:
        raise ModelError("the model's message has no text", ASK_AGAIN)
    return Message(text, choice.get("finish_reason") == "length")


def parsed(data: bytes, what: str, *, whole: bool = True) -> Any:
    """Read strict JSON that a stranger wrote; raise ``ModelError`` naming what it was.

    Where the ``whole`` of it will be used, it is also looked through for what breaks later.
    """
    try:
        value = parse_json(data)
    except NotStrictJson as error:
        raise ModelError(f"{what} is not strict JSON: {error}", ASK_AGAIN) from error
    structure = structure_problem(value) if whole else None
    if structure:
        raise ModelError(f"{what} cannot be used: {structure}", ASK_AGAIN)
    return value


def _headers(endpoint: Endpoint) -> dict[str, Any]:
    """Leave out what the package would take from the environment for its own maker's service."""
    import openai

    omit: dict[str, Any] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    return omit if endpoint.key else {**omit, "Authorization": openai.Omit()}


def _collect(chunks: Iterator[bytes], body: bytearray, deadline: float) -> None:
    """Take a reply in pieces, so that one that is endless, or drips, ends all the same."""
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BYTES:
            del body[MAX_BYTES + 1 :]
            return
        if time.monotonic() > deadline:
            raise TimeoutError


@contextmanager
def _in_words(endpoint: Endpoint, body: bytearray) -> Iterator[None]:
    """Say what went wrong on the way in a sentence without the key."""
    import httpx
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise _refusal(error.status_code, error.response.headers) from None
    except (openai.APITimeoutError, httpx.TimeoutException, TimeoutError):
        limit = f"{endpoint.timeout_seconds:g} seconds"
        if body:
            limit = f"{endpoint.total_seconds:g} seconds: its answer began, and has no end"
        found = f"the model gave no answer within {limit}"
        raise ModelError(found, ASK_AGAIN, partial=bytes(body)) from None
    except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        found = f"the model cannot be reached, or broke off: {_reason(error, endpoint.key)}"
        advice = "look at LAB_MODEL_BASE_URL and at the endpoint, then ask again"
        # No chain: an exception below may hold the request, and with it the key.
        raise ModelError(found, advice, partial=bytes(body)) from None


def _reason(error: Exception, key: str) -> str:
    reason = " ".join(str(error.__cause__ or error).split())
    return cut(reason.replace(key, "…") if key else reason, 300)


def _refusal(status: int, headers: Mapping[str, str]) -> ModelError:
    found = f"the model answers with HTTP {status}"
    if 300 <= status < 400:
        advice = "set LAB_MODEL_BASE_URL to where the model really is"
        return ModelError(f"{found}, a redirect, which is not followed with your key", advice)
    advice = _ADVICE.get(status, "look at the endpoint's log, or ask again later")
    if status == 429:
        seconds = headers.get("retry-after", "")
        known = seconds.isascii() and seconds.isdigit() and len(seconds) < 6
        advice = f"wait {seconds} seconds, then ask again" if known else "wait, then ask again"
    return ModelError(found, advice)
