"""Who may see a session: nobody without a link, no other site's page, and no pair the teacher's."""

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from instructor.session.access import ROOM, TEACHER, Access, read_secret
from instructor.session.server import PAGES
from tests.kit.instructor.rooms import PLAN
from tests.kit.instructor.served import SECRET, FakeBoard, Served, board_of, pair, served

OF_THE_ROOM = ["/", "/events", "/press", "/clock.json", "/clock/0123.json", "/part/core.js"]
OF_THE_TEACHER = ["/teacher", "/teacher/events", "/teacher/notes", "/teacher/pace.svg"]
NOTHING = ["/no/such", "/enter/abc", "/part/../server.py"]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str


def ask(session: Served, path: str, method: str = "GET", body: str = "", **headers: str) -> Answer:
    """Ask as some client would: ``Sec_Fetch_Site`` is the header Sec-Fetch-Site."""
    port = urlsplit(session.link("Teacher")).port
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named = {"Host": f"127.0.0.1:{port}", **named}
    connection = http.client.HTTPConnection("127.0.0.1", port or 0, timeout=30)
    try:
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        endless = answer.headers["Content-Type"] == "text/event-stream"
        told = b"".join(_first_events(session, answer)) if endless else answer.read()
        return Answer(answer.status, answer.headers, told.decode())
    finally:
        connection.close()


def _first_events(session: Served, answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """Read what a page is told first: the state, then the board where there is one."""
    for _ in range(2 if session.board else 1):
        yield from iter(answer.readline, b"\n")


def press(session: Served, path: str = "/press", do: str = "start", **headers: str) -> Answer:
    return ask(session, path, "POST", json.dumps({"do": do, "block": "talk"}), **headers)


def origin(session: Served) -> str:
    return f"http://127.0.0.1:{urlsplit(session.link('Teacher')).port}"


def let_in(session: Served, who: str) -> str:
    """Use somebody's link; give the cookie that it left."""
    answer = ask(session, urlsplit(session.link(who)).path)
    assert answer.status == 302
    return answer.headers["Set-Cookie"].split(";")[0]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("local") / "log.jsonl") as session:
        yield session


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    board = FakeBoard(board_of(pair("pair_7", "pass")))
    path = tmp_path_factory.mktemp("lan") / "log.jsonl"
    with served(path, lan=True, board=board) as session:
        yield session


@pytest.mark.parametrize("path", [*OF_THE_ROOM, *OF_THE_TEACHER, *NOTHING])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_on_the_lan_nothing_is_shown_without_a_link(lan: Served, path: str, method: str) -> None:
    answer = ask(lan, path, method, Origin=origin(lan))

    assert answer.status in {403, 405}
    headers = [f"{name}: {text}" for name, text in answer.headers.items() if name != "Date"]
    for word in ("toy", "small workshop", "talk", "pair", "12:", "Tornado"):
        assert word not in answer.body + "".join(headers)


@pytest.mark.parametrize("cookie", ["", "x", ".", "a.b", "é.ü", f"{'a' * 12}.{'0' * 64}"])
def test_a_cookie_that_was_made_up_opens_nothing(lan: Served, cookie: str) -> None:
    port = urlsplit(lan.link("Teacher")).port
    header = f"room_{port}={cookie}; teacher_{port}={cookie}"

    answer = ask(lan, "/", Cookie=header.encode().decode("latin-1"))

    assert answer.status == 403


def test_a_link_works_once_and_the_terminal_shows_the_next_one(lan: Served) -> None:
    link = lan.link("Projector")
    path = urlsplit(link).path
    head = ask(lan, path, "HEAD")

    first, second = ask(lan, path), ask(lan, path)

    assert head.status == 405  # a program that looks at links does not use them up
    assert (first.status, first.headers["Location"]) == (302, "/")
    for word in ("HttpOnly", "SameSite=Lax"):
        assert word in first.headers["Set-Cookie"]
    assert second.status == 403
    assert lan.link("Projector") != link
    assert ask(lan, "/", Cookie=first.headers["Set-Cookie"].split(";")[0]).status == 200


@pytest.mark.parametrize("path", OF_THE_TEACHER)
def test_a_projector_s_cookie_opens_nothing_of_the_teacher(lan: Served, path: str) -> None:
    cookie = let_in(lan, "Projector")

    assert ask(lan, "/", Cookie=cookie).status == 200
    assert ask(lan, path, Cookie=cookie).status == 403
    renamed = cookie.replace("room_", "teacher_")
    assert ask(lan, path, Cookie=renamed).status == 403
    assert press(lan, "/teacher/press", Cookie=cookie, Origin=origin(lan)).status == 403


@pytest.mark.parametrize("do", ["start", "names"])
def test_nobody_presses_for_the_teacher_without_a_cookie(lan: Served, do: str) -> None:
    for more in ({}, {"Cookie": f"teacher_{urlsplit(origin(lan)).port}=made.up"}):
        answer = press(lan, "/teacher/press", do, Origin=origin(lan), **more)
        assert answer.status == 403
    assert lan.events == []


def test_the_teacher_s_cookie_opens_both(lan: Served) -> None:
    cookie = let_in(lan, "Teacher")

    for path in ["/", *OF_THE_TEACHER]:
        assert ask(lan, path, Cookie=cookie).status == 200


@pytest.mark.parametrize("path", OF_THE_TEACHER)
def test_the_teacher_s_pages_need_their_link_on_this_machine_too(local: Served, path: str) -> None:
    assert ask(local, path).status == 403
    assert ask(local, path, Cookie=let_in(local, "Teacher")).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "[", "127.0.0.1.evil"])
def test_a_name_that_somebody_else_resolves_to_us_is_refused(
    local: Served, lan: Served, host: str
) -> None:
    assert ask(local, "/", Host=host).status in {400, 403}
    assert ask(lan, "/", Host=host, Cookie=let_in(lan, "Teacher")).status in {400, 403}


def test_an_address_of_the_network_is_known_on_the_lan_alone() -> None:
    def knows(host: str, *, lan: bool) -> bool:
        return Access(SECRET, lan=lan, used=lambda _: None).knows_host(host)

    assert knows("192.168.1.5:8710", lan=True)
    assert knows("[fd00::1]:8710", lan=True)
    assert not knows("192.168.1.5:8710", lan=False)
    assert knows("localhost:8710", lan=False)


@pytest.mark.parametrize("sender", ["http://evil.example", "null", "http://127.0.0.1:1", ""])
def test_another_site_s_page_presses_nothing(local: Served, sender: str) -> None:
    answer = press(local, Origin=sender) if sender else press(local)

    assert answer.status == 403
    assert local.events == []


def test_another_site_s_page_reads_nothing(local: Served) -> None:
    for path in ("/events", "/clock.json", "/part/core.js"):
        answer = ask(local, path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")
        assert answer.status == 403


@pytest.mark.parametrize("body", ["", "{", "[" * 9000, "null", '{"do": "no"}'])
def test_what_is_no_request_changes_nothing(local: Served, body: str) -> None:
    answer = ask(local, "/press", "POST", body, Origin=origin(local))

    assert answer.status in {400, 409}
    assert local.events == []


def test_a_request_beyond_all_measure_is_not_read(local: Served) -> None:
    answer = ask(local, "/press", "POST", "x" * 11_000, Origin=origin(local))

    assert answer.status == 400


def test_every_answer_allows_nothing_from_elsewhere(local: Served) -> None:
    for path in ("/", "/part/core.js", "/no/such", "/teacher"):
        headers = ask(local, path).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in headers


def test_the_pages_hold_no_script_no_style_and_no_address_of_their_own() -> None:
    for page in PAGES.iterdir():
        text = page.read_text(encoding="utf-8")
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text
        if page.suffix == ".html":
            assert "style=" not in text
            assert "<style" not in text
            assert "onclick" not in text
    assert (
        "/teacher"
        not in (PAGES / "projector.html").read_text()
        + (PAGES / "projector.js").read_text()
        + (PAGES / "core.js").read_text()
    )


def test_the_clock_alone_is_open_on_this_machine_and_to_its_key_on_the_lan(
    local: Served, lan: Served
) -> None:
    line = next(line for line in lan.said if line.startswith("Notebooks"))
    key = urlsplit(line.split("LAB_ROOM_URL=")[1].split()[0]).path

    assert ask(lan, "/clock.json").status == 403
    for answer in (ask(local, "/clock.json"), ask(lan, key)):
        told = json.loads(answer.body)
        assert sorted(told) == ["block", "ends", "left", "now", "phase", "title", "workshop"]
        assert (told["block"], told["phase"], told["ends"]) == ("talk", "ready", None)
        assert told["left"] == 10 * 60 * 1000
    assert ask(lan, key.replace(".json", "0.json")).status == 403


def test_a_class_folder_that_cannot_be_written_costs_the_notebooks_clock_and_nothing_else(
    tmp_path: Path,
) -> None:
    (tmp_path / ".room.json").mkdir()  # root could write into a folder that is closed

    with served(tmp_path / "log.jsonl", folder=tmp_path) as session:
        assert press(session, Origin=origin(session)).status == 204
        line = next(line for line in session.said if line.startswith("Notebooks"))

    assert line.startswith("Notebooks will not find the clock (")
    assert line.endswith(f"Set LAB_ROOM_URL={session.url}/clock.json")
    assert (tmp_path / ".room.json").is_dir()


def test_a_cookie_outlives_a_restart_on_the_same_log_and_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    before = Access(read_secret(log), lan=True, used=lambda _: None)
    after = Access(read_secret(log), lan=True, used=lambda _: None)
    other = Access(read_secret(tmp_path / "other.jsonl"), lan=True, used=lambda _: None)

    assert after.opens(ROOM, before.cookie(ROOM))
    assert not after.opens(TEACHER, before.cookie(ROOM))
    assert not other.opens(ROOM, before.cookie(ROOM))
    assert (tmp_path / ".log.jsonl.key").stat().st_mode & 0o777 == 0o600


def test_a_board_that_breaks_takes_no_clock_with_it(tmp_path: Path) -> None:
    class Broken(FakeBoard):
        async def run(self) -> None:
            raise OSError("the disk is gone")

    with served(tmp_path / "log.jsonl", board=Broken(board_of())) as session:
        assert press(session, Origin=origin(session)).status == 204
        assert ask(session, "/").status == 200
        assert "the disk is gone" in session.said[-1]
        assert session.said[-1].endswith("The clock goes on.")


def test_names_of_pairs_reach_the_projector_only_when_the_teacher_says_so(lan: Served) -> None:
    teacher, room = let_in(lan, "Teacher"), let_in(lan, "Projector")

    def board(path: str, cookie: str) -> str:
        return ask(lan, path, Cookie=cookie).body

    assert "pair_7" in board("/teacher/events", teacher)
    assert '"note"' in board("/teacher/events", teacher)
    assert '"note"' not in board("/events", room)
    assert "pair_7" not in board("/events", room)
    assert "Pair 1" in board("/events", room)
    body = json.dumps({"do": "names", "shown": True, "block": PLAN.blocks[0].id})
    allowed = ask(lan, "/teacher/press", "POST", body, Cookie=teacher, Origin=origin(lan))
    assert allowed.status == 204
    assert "pair_7" in board("/events", room)
    assert ask(lan, "/press", "POST", body, Cookie=room, Origin=origin(lan)).status == 409
