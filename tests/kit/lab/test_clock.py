"""A block's clock in a notebook: silent without a browser, and never in the way."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lab.cards import Note
from lab.clock import BlockClock, Told, ask, clock_html, follow, of_room, room_url, with_clock
from lab.workshop import Block
from tests.kit.browser import needs_browser, open_browser

BLOCK = Block("talk", "Do talk", 10, "1_first.ipynb", "talk is done")
NOTE = Note("Do talk: 10 minutes (minutes 0 to 10).", "Outcome: talk is done")
LAB = {"JPY_SESSION_NAME": "1_first.ipynb"}
ROOM = {
    "workshop": "toy", "block": "talk", "title": "Do talk", "phase": "running",
    "now": 5_000_000, "ends": 5_090_000, "left": 90_000,
}  # fmt: skip


@contextmanager
def answering(*answers: tuple[int, str]) -> Iterator[str]:
    """Serve answers in turn, the last one for ever; give the address."""
    rest = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = rest.pop(0) if len(rest) > 1 else rest[0]
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/clock.json"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def room(**changes: object) -> dict[str, Any]:
    return {**ROOM, **changes}


def test_without_a_browser_there_is_no_clock_and_no_request(tmp_path: Path) -> None:
    with answering((200, json.dumps(ROOM))) as url:
        shown = with_clock(NOTE, BLOCK, "toy", tmp_path, {"LAB_ROOM_URL": url})

    assert shown is NOTE


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/clock.json",
        "http://127.0.0.1:99999/",
        "http://[/",
        "https://127.0.0.1/",
        "file:///etc/passwd",
        "clock.json",
        "",
    ],
)
def test_an_address_where_no_clock_is_gives_one_s_own(tmp_path: Path, url: str) -> None:
    assert ask(url) is None
    shown = with_clock(NOTE, BLOCK, "toy", tmp_path, {**LAB, "LAB_ROOM_URL": url})

    assert isinstance(shown, BlockClock)
    assert "Your own clock:" in shown._repr_html_()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (403, json.dumps(ROOM)),
        (302, json.dumps(ROOM)),
        (200, ""),
        (200, "[]"),
        (200, "[" * 3000),
        (200, json.dumps(room(ends="soon"))),
        (200, json.dumps(room(ends=10**15))),
        (200, json.dumps(room(now=True))),
        (200, json.dumps(room(title=["x"]))),
        (200, json.dumps({**ROOM, "more": "x" * 5000})),
    ],
)
def test_what_is_no_clock_s_answer_is_no_clock(status: int, body: str) -> None:
    with answering((status, body)) as url:
        assert ask(url) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"clock": ', "\0"])
def test_a_file_that_names_no_room_names_none(tmp_path: Path, text: str) -> None:
    (tmp_path / ".room.json").write_text(text)

    assert room_url(tmp_path / "pair", {}) is None


def test_the_room_is_found_beside_the_workspace_or_in_the_environment(tmp_path: Path) -> None:
    assert room_url(tmp_path / "pair", {}) is None
    (tmp_path / ".room.json").write_text('{"clock": "http://127.0.0.1:8710/clock.json"}')

    assert room_url(tmp_path / "pair", {}) == "http://127.0.0.1:8710/clock.json"
    assert room_url(tmp_path / "pair", {"LAB_ROOM_URL": "http://x/"}) == "http://x/"


@pytest.mark.parametrize(
    ("told", "words", "ends"),
    [
        (room(), "The room:", 1090.0),
        (room(ends=4_970_000, left=-30_000), "The room:", 970.0),
        (room(block="build", title="Do build"), "The room is at “Do build”:", 1090.0),
        (room(phase="paused", ends=None), "The room: paused, 1:30 left.", None),
        (room(phase="paused", ends=None, left=-5000), "The room: paused, -0:05 left.", None),
        (room(phase="ready", ends=None), "The room: not started yet, 1:30 left.", None),
        (room(phase="ended", ends=None), "The room's session is over.", None),
    ],
)
def test_the_room_s_clock_is_told_by_this_machine_s(
    told: dict[str, Any], words: str, ends: float | None
) -> None:
    assert of_room(told, "talk", now=1000.0) == Told(words, ends)


def test_the_clock_of_another_workshop_is_not_followed(tmp_path: Path) -> None:
    with answering((200, json.dumps(ROOM))) as url:
        environ = {**LAB, "LAB_ROOM_URL": url}
        own = with_clock(NOTE, BLOCK, "other", tmp_path, environ)
        rooms = with_clock(NOTE, BLOCK, "toy", tmp_path, environ)

    assert isinstance(own, BlockClock)
    assert isinstance(rooms, BlockClock)
    assert own.follow is None
    assert own.told.words == "Your own clock:"
    assert rooms.follow is not None
    assert rooms.told.words == "The room:"


def test_one_s_own_clock_does_not_start_again_when_the_cell_is_run_again(tmp_path: Path) -> None:
    first = with_clock(NOTE, BLOCK, "toy", tmp_path, LAB)
    second = with_clock(NOTE, BLOCK, "toy", tmp_path, LAB)

    assert isinstance(first, BlockClock)
    assert isinstance(second, BlockClock)
    assert first.told == second.told
    assert str(first) == str(NOTE)


def test_what_is_new_is_shown_once_until_the_session_is_over() -> None:
    paused, ended = room(phase="paused", ends=None), room(phase="ended", ends=None)
    rows = [ROOM, ROOM, paused, paused, ended, ROOM]
    shown: list[Told] = []
    with answering(*[(200, json.dumps(row)) for row in rows]) as url:
        follow(url, "talk", of_room(ROOM, "talk", time.time()), shown.append, lambda: True)

    assert [told.text for told in shown] == [
        "The room: paused, 1:30 left.",
        "The room's session is over.",
    ]


def test_a_room_that_is_gone_is_left_after_a_while() -> None:
    looks: list[int] = []

    def wait() -> bool:
        looks.append(1)
        return True

    follow("http://127.0.0.1:1/", "talk", Told("The room:", 1.0), lambda _: None, wait)

    assert len(looks) == 20


def test_a_cell_that_was_run_again_is_followed_no_longer() -> None:
    follow("http://127.0.0.1:1/", "talk", Told("The room:", 1.0), lambda _: None, lambda: False)


def test_what_a_room_says_is_text() -> None:
    script = "<script>alert(1)</script>"
    told = of_room(room(title=script, block="</b>"), "talk", time.time())

    shown = clock_html(told)

    assert script not in shown
    assert "&lt;script&gt;" in shown


@needs_browser
def test_a_page_counts_to_the_end_and_shows_it_as_text_where_no_script_runs() -> None:
    end = datetime(2026, 9, 5, 12, 0, tzinfo=UTC)
    shown = clock_html(Told("The room:", end.timestamp()))
    with open_browser() as browser:
        page = browser.new_context().new_page()
        page.clock.set_fixed_time(end - timedelta(seconds=90))
        page.set_content(shown)
        page.get_by_text("1:30 left").wait_for()
        page.clock.set_fixed_time(end + timedelta(seconds=61))
        page.get_by_text("1:01 over").wait_for()

        quiet = browser.new_context(java_script_enabled=False).new_page()
        quiet.set_content(shown)
        text = quiet.locator("body div").inner_text()
    assert text == "The room: " + end.astimezone().strftime("until %H:%M")
