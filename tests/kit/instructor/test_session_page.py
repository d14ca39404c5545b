"""The pages of a session in a real browser, by a clock that the test sets."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from instructor.session.clock import state_at, whole_minutes
from instructor.session.plan import plan_of
from instructor.session.view import view_of
from lab.workshop import Workshop
from tests.kit.browser import needs_browser, open_browser
from tests.kit.instructor.served import FakeBoard, Served, board_of, pair, served

pytestmark = needs_browser
# Long enough for a machine that does much else; nothing waits for it to pass.
expect.set_options(timeout=30_000)
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as started:
        yield started


@dataclass
class Screen:
    """A page that somebody looks at, and what went wrong in it."""

    page: Page
    wrong: list[str]

    def shows(self, time: str) -> None:
        expect(self.page.locator("#time")).to_have_text(time)

    def says(self, name: str, text: str) -> None:
        expect(self.page.locator(f"#{name}")).to_have_text(text)

    def presses(self, key: str) -> None:
        self.page.keyboard.press(key)


@dataclass
class Audience:
    """Everybody who looks at a session: their clocks go with the server's."""

    session: Served
    browser: Browser
    screens: list[Screen]
    contexts: list[BrowserContext]

    def sees(self, link: str | None = None, *, width: int = 1280, scheme: str = "light") -> Screen:
        """Open another browser: on the projector's page, or with a link."""
        size = {"width": width, "height": 720 if width > 500 else 844}
        context = self.browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        self.contexts.append(context)
        screen = Screen(context.new_page(), [])
        screen.page.on("pageerror", lambda error: screen.wrong.append(str(error)))
        screen.page.on("dialog", lambda dialog: screen.wrong.append(dialog.message))
        screen.page.on(
            "console", lambda said: screen.wrong.append(said.text) if said.type == "error" else None
        )
        screen.page.clock.set_fixed_time(self.session.dial())
        screen.page.goto(link or self.session.url)
        expect(screen.page.locator("#go")).to_be_enabled()
        self.screens.append(screen)
        return screen

    def at(self, text: str) -> None:
        """Let time pass, for the server and for every browser."""
        self.session.dial.at(text)
        for screen in self.screens:
            screen.page.clock.set_fixed_time(self.session.dial())

    def leave(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def room(browser: Browser, tmp_path: Path) -> Iterator[Audience]:
    """The small plan, served; at the end nothing may have gone wrong in any browser."""
    board = FakeBoard(board_of())
    with served(tmp_path / "log.jsonl", board=board) as session:
        audience = Audience(session, browser, [], [])
        yield audience
        audience.leave()
        assert [screen.wrong for screen in audience.screens if screen.wrong] == []


def test_a_session_starts_pauses_and_goes_on_by_keys_alone(room: Audience) -> None:
    screen = room.sees()
    screen.shows("10:00")
    screen.says("title", "Do talk")
    screen.says("outcome", "talk is done")
    screen.says("next", "Do build, 20 minutes")

    screen.presses("Space")
    screen.says("go", "Pause")
    room.at("3:30")
    screen.shows("6:30")
    screen.presses("Space")
    screen.says("go", "Go on")
    room.at("5")
    screen.shows("6:30")
    screen.presses("Space")
    screen.says("go", "Pause")
    screen.presses("+")
    screen.shows("7:30")
    screen.presses("-")
    screen.shows("6:30")
    screen.presses("ArrowRight")
    screen.says("title", "Do build")
    screen.presses("b")
    screen.says("title", "Do talk")
    screen.presses("n")
    screen.says("title", "Do build")

    assert room.session.events == (
        ["start", "pause", "resume", "minutes", "minutes", "next", "back", "next"]
    )


def test_a_room_that_runs_over_sees_it_in_words_and_is_offered_a_cut(room: Audience) -> None:
    screen = room.sees()
    screen.presses("Space")
    screen.says("go", "Pause")
    room.at("9:59")
    screen.shows("0:01")
    room.at("13:05")

    screen.shows("+3:05")
    expect(screen.page.locator("#unit")).to_have_text("over this block's minutes")
    expect(screen.page.locator("#status-text")).to_contain_text("3 minutes over")
    screen.says("status-sign", "▲")
    expect(screen.page.locator("#proposal-text")).to_contain_text("The station")
    screen.presses("d")
    expect(screen.page.locator("#proposal-text")).to_contain_text("Comparing with the neighbours")
    expect(screen.page.locator("#proposal-text")).to_contain_text("Frees 6 minutes")
    screen.page.get_by_role("button", name="Accept").click()
    expect(screen.page.locator("#proposal")).to_be_hidden()
    expect(screen.page.locator("#status-text")).to_contain_text("2 minutes in hand")
    assert room.session.events == ["start", "decline", "cut"]
    assert "What must stay" not in screen.page.content()


def test_a_cue_appears_at_its_minute_and_is_announced_once(room: Audience) -> None:
    screen = room.sees()
    screen.presses("Space")
    screen.says("cue-text", "Begin with one question.")
    screen.page.evaluate(
        """() => {
          const live = document.getElementById("live");
          window.heard = [];
          new MutationObserver(() => window.heard.push(live.textContent))
            .observe(live, { childList: true, characterData: true, subtree: true });
        }"""
    )
    room.at("7:59")
    screen.shows("2:01")
    # The clock goes by itself; what is announced comes from the server a moment later.
    screen.says("live", "5 minutes left")
    screen.says("cue-text", "Begin with one question.")
    room.at("8")

    screen.says("cue-text", "Two minutes to write it down.")
    room.at("8:20")
    screen.shows("1:40")
    room.at("9")
    screen.shows("1:00")
    expect(screen.page.locator("#live")).to_have_text("1 minute left")
    heard = screen.page.evaluate("window.heard")
    # Five minutes left and the cue came with one look at the clock; the seconds are never said.
    assert heard == ["5 minutes left", "Two minutes to write it down.", "1 minute left"]


def test_a_reload_loses_nothing(room: Audience) -> None:
    screen = room.sees()
    screen.presses("Space")
    screen.says("go", "Pause")
    room.at("4")
    screen.presses("n")
    screen.says("title", "Do build")
    room.at("6")

    screen.page.reload()

    screen.shows("18:00")
    screen.says("title", "Do build")
    expect(screen.page.locator("#status-text")).to_contain_text("6 minutes in hand")


def test_two_browsers_show_the_same_and_one_next_is_one_next(room: Audience) -> None:
    left, right = room.sees(), room.sees(width=390)
    left.presses("Space")
    right.says("go", "Pause")
    room.at("9")
    for screen in (left, right):
        screen.shows("1:00")
    body = json.dumps({"do": "next", "block": "talk"})
    post = "body => fetch('/press', { method: 'POST', body }).then((answer) => answer.status)"
    statuses = [screen.page.evaluate(post, body) for screen in (left, right)]

    assert sorted(statuses) == [204, 409]
    for screen in (left, right):
        screen.says("title", "Do build")
        screen.shows("20:00")
    assert room.session.events == ["start", "next"]
    # A browser's console names what was answered with a conflict, and nothing else went wrong.
    assert [said for screen in (left, right) for said in screen.wrong if "409" not in said] == []
    assert left.wrong == []
    right.wrong.clear()


def test_a_server_that_is_started_again_goes_on_where_it_was(
    browser: Browser, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    with served(log) as session:
        first = Audience(session, browser, [], [])
        screen = first.sees()
        screen.presses("Space")
        screen.says("go", "Pause")
        first.leave()

    with served(log, at="7") as session:
        again = Audience(session, browser, [], [])
        again.sees().shows("3:00")
        again.leave()


def test_a_page_whose_server_is_gone_counts_on_and_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    with served(tmp_path / "log.jsonl") as session:
        audience = Audience(session, browser, [], [])
        screen = audience.sees()
        screen.presses("Space")
        screen.says("go", "Pause")
    audience.at("2")

    screen.shows("8:00")
    expect(screen.page.locator("#offline")).to_contain_text("Not connected")
    audience.leave()


def test_eighty_minutes_on_the_page_are_eighty_minutes_of_the_clock(
    browser: Browser, tmp_path: Path, workshop: Workshop
) -> None:
    """A whole session, minute by minute: late in its first block, a cut, and on plan at the end."""
    plan = plan_of(workshop)
    cues = set()
    with served(tmp_path / "log.jsonl", plan=plan) as session:
        audience = Audience(session, browser, [], [])
        screen = audience.sees()
        screen.presses("Space")
        screen.says("go", "Pause")
        for minute in range(81):
            audience.at(f"{minute}:30")
            told = view_of(session.room.state(), session.dial())
            left = abs(told["left"]) // 1000
            sign = "+" if told["left"] < 0 else ""
            screen.shows(f"{sign}{left // 60}:{left % 60:02}")
            expect(screen.page.locator("#status-text")).to_contain_text(told["over_text"])
            if told["cue"]:
                screen.says("cue-text", told["cue"]["say"])
                cues.add(told["cue"]["say"])
            if told["proposal"]:
                screen.presses("a")
                expect(screen.page.locator("#status-text")).not_to_have_text("")
            if told["left"] <= -30_000:
                title = screen.page.locator("#title").text_content()
                screen.presses("n")
                expect(screen.page.locator("#title")).not_to_have_text(str(title))
        assert screen.wrong == []
        audience.leave()
        state = state_at(plan, session.room.journal.events, session.dial())
    assert len(cues) == sum(len(block.cues) for block in plan.blocks)
    assert whole_minutes(state.over) <= 1
    assert {plan.cuts[taken.cut].block for taken in state.taken} & set(plan.keep) == set()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
@pytest.mark.parametrize("who", ["projector", "teacher"])
def test_axe_finds_nothing_serious(room: Audience, who: str, scheme: str, width: int) -> None:
    latest = {"check": "gate", "found": "a", "expected": "b", "next": "c"}
    rows = [pair(f"pair_{n}", "pass", "fail", "blocked", latest=latest) for n in range(30)]
    assert isinstance(room.session.board, FakeBoard)
    room.session.board.show(board_of(*rows, note="The class cannot be looked over."))
    link = room.session.link("Teacher") if who == "teacher" else None
    screen = room.sees(link, scheme=scheme, width=width)
    screen.page.get_by_role("button", name="Start").click()
    screen.says("go", "Pause")
    room.at("12")
    screen.shows("+2:00")
    found = [_serious(screen.page)]
    if who == "teacher":
        screen.page.get_by_role("button", name="pair_3", exact=True).click()
        expect(screen.page.locator("#latest")).to_be_visible()
        found.append(_serious(screen.page))
    if who == "projector":
        screen.presses("l")
        expect(screen.page.locator("#board")).to_be_visible()
        found.append(_serious(screen.page))
        screen.presses("?")
        expect(screen.page.locator("#keys")).to_be_visible()
        found.append(_serious(screen.page))
        screen.presses("?")
        screen.page.get_by_role("button", name="Pair 3", exact=True).click()
        expect(screen.page.locator("#latest")).to_be_visible()
        found.append(_serious(screen.page))

    assert [rows for rows in found if rows] == []


def test_axe_finds_what_is_wrong(room: Audience) -> None:
    """The check itself can fail: a button without a name."""
    screen = room.sees()
    screen.page.evaluate("() => document.body.append(document.createElement('button'))")

    assert [row["id"] for row in _serious(screen.page)] == ["button-name"]


def _serious(page: Page) -> list[dict[str, object]]:
    # A band that is fading in has less contrast than it will have.
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((one) => one.finished))")
    violations = Axe().run(page).response["violations"]
    return [
        {"id": row["id"], "nodes": [node["html"] for node in row["nodes"][:3]]}
        for row in violations
        if row["impact"] in {"serious", "critical"}
    ]


def test_what_a_pair_wrote_is_shown_as_text_and_never_run(room: Audience) -> None:
    latest = {"check": HOSTILE, "found": HOSTILE, "expected": HOSTILE, "next": HOSTILE}
    assert isinstance(room.session.board, FakeBoard)
    room.session.board.show(board_of(pair(HOSTILE, "fail", latest=latest)))
    teacher = room.sees(room.session.link("Teacher"))

    teacher.page.get_by_label("The projector shows names").check()
    screen = room.sees()
    screen.presses("l")
    expect(screen.page.locator("#board tbody th").first).to_have_text(HOSTILE)

    for shown in (teacher, screen):
        shown.page.get_by_role("button", name="img src").click()
        expect(shown.page.locator("#latest-name")).to_have_text(HOSTILE)
        for part in range(4):
            expect(shown.page.locator("#latest dd").nth(part)).to_have_text(HOSTILE)
        assert shown.page.locator("img:not(#pace-picture), body script").count() == 0


def test_the_teacher_alone_reads_what_keeps_the_class_from_being_looked_over(
    room: Audience,
) -> None:
    screen, teacher = room.sees(), room.sees(room.session.link("Teacher"))
    teacher.says("board-note", "")
    assert isinstance(room.session.board, FakeBoard)

    room.session.board.show(board_of(note="roster.csv is empty."))
    room.at("0:05")

    teacher.says("board-note", "roster.csv is empty.")
    room.session.board.show(board_of())
    room.at("0:10")
    teacher.says("board-note", "")
    assert "roster.csv" not in screen.page.content()


def test_sixty_rows_that_change_all_session_leave_nothing_behind_in_the_page(
    room: Audience,
) -> None:
    """No element, no handler and no listener more after eighty minutes than at their beginning."""
    board = room.session.board
    assert isinstance(board, FakeBoard)

    def show(changes: int) -> None:
        said = {"check": "gate", "found": f"change {changes}", "expected": "", "next": "Mend it."}
        rows = [
            pair(f"pair_{n:02}", "pass" if n < changes else "fail", "fail", "blocked", latest=said)
            for n in range(60)
        ]
        board.show(board_of(*rows))
        room.at(f"{changes * 80 // 60}:{changes * 80 % 60:02}")

    show(0)
    screen, teacher = room.sees(), room.sees(room.session.link("Teacher"))
    screen.presses("l")
    counts = []
    for changes in range(1, 61):
        show(changes)
        for shown in (screen, teacher):
            expect(shown.page.locator("#board-key")).to_contain_text(f"Do talk {changes}/60")
        if changes in {1, 60}:
            counts.append([_counts(shown.page) for shown in (screen, teacher)])

    assert len(room.session.room.listeners) == 2
    screen.page.reload()
    expect(screen.page.locator("#board-key")).to_contain_text("Do talk 60/60")
    assert len(room.session.room.listeners) == 2
    for before, after in zip(*counts, strict=True):
        assert after["elements"] == before["elements"]
        # What a page has thrown away is still counted until it is collected: some tens, not all.
        assert after["nodes"] < before["nodes"] + 500
        assert after["jsEventListeners"] < before["jsEventListeners"] + 30


def _counts(page: Page) -> dict[str, int]:
    """Count what a page holds, also what it has taken out and still keeps."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.enable")
    devtools.send("HeapProfiler.collectGarbage")
    held = devtools.send("Memory.getDOMCounters")
    devtools.detach()
    return {**held, "elements": page.locator("*").count()}


def test_the_board_follows_a_save_and_hides_names_until_the_teacher_shows_them(
    room: Audience,
) -> None:
    screen, teacher = room.sees(), room.sees(room.session.link("Teacher"))
    latest = {"check": "", "found": "pair_7/lab/gate.py: no refusal", "expected": "", "next": ""}
    assert isinstance(room.session.board, FakeBoard)
    room.session.board.show(board_of(pair("pair_7", "fail", latest=latest)))
    screen.presses("l")
    expect(screen.page.locator("#board td").first).to_have_text("✗not yet")

    room.session.board.show(board_of(pair("pair_7", "pass", latest=latest)))

    expect(screen.page.locator("#board td").first).to_have_text("✓reached")
    screen.page.get_by_role("button", name="Pair 1", exact=True).click()
    expect(screen.page.locator("#latest dd")).to_have_text("Pair 1/lab/gate.py: no refusal")
    assert "pair_7" not in screen.page.content()
    screen.page.get_by_role("button", name="Close").click()
    teacher.page.get_by_label("The projector shows names").check()
    expect(screen.page.locator("#board tbody th").first).to_have_text("pair_7")


def test_the_teacher_takes_and_takes_back_a_cut_and_ends_the_session(room: Audience) -> None:
    screen, teacher = room.sees(), room.sees(room.session.link("Teacher"), width=390)
    teacher.page.get_by_role("button", name="Start").click()
    teacher.page.get_by_role("button", name="Cut: Do close").click()
    expect(screen.page.locator("#status-text")).to_contain_text("6 minutes in hand")
    teacher.page.get_by_role("button", name="Take back: Do close").click()
    expect(screen.page.locator("#status-text")).to_contain_text("On plan")
    expect(teacher.page.get_by_role("button", name="Cut: Do build")).to_have_count(0)
    teacher.page.get_by_role("button", name="End the session").click()

    expect(screen.page.locator("#unit")).to_contain_text("The session is over")
    assert room.session.events == ["start", "cut", "restore", "end"]


def test_the_teacher_sees_how_plan_and_room_part_once_a_block_has_ended(room: Audience) -> None:
    teacher = room.sees(room.session.link("Teacher"))
    teacher.page.get_by_role("button", name="Start").click()
    teacher.says("go", "Pause")
    room.at("13:00")
    teacher.page.get_by_role("button", name="Next", exact=True).click()
    expect(teacher.page.locator("#title")).to_have_text("Do build")

    with teacher.page.expect_response("**/teacher/pace.svg*") as drawn:
        teacher.page.get_by_text("Plan and room so far").click()

    assert "13 in the median of 1 session" in drawn.value.text()
    width = "document.getElementById('pace-picture').naturalWidth > 100"
    teacher.page.wait_for_function(width)


def test_a_click_leaves_the_space_key_to_the_clock(room: Audience) -> None:
    screen = room.sees()
    screen.page.get_by_role("button", name="Start").click()
    screen.says("go", "Pause")
    screen.page.get_by_role("button", name="Next", exact=True).click()
    screen.says("title", "Do build")

    screen.presses("Space")

    screen.says("go", "Go on")
    screen.says("title", "Do build")


def test_keys_can_be_switched_off(room: Audience) -> None:
    screen = room.sees()
    screen.presses("?")
    screen.page.get_by_label("These keys work on this page").uncheck()
    screen.presses("?")
    expect(screen.page.locator("#keys")).to_be_hidden()

    screen.presses("Space")
    screen.page.get_by_role("button", name="Start").focus()
    screen.presses("Enter")

    screen.says("go", "Pause")
    assert room.session.events == ["start"]


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_lies_over_something_else_or_beside_the_screen(room: Audience, width: int) -> None:
    screen = room.sees(width=width)
    screen.presses("Space")
    screen.says("go", "Pause")
    room.at("119:59")
    screen.shows("+109:59")

    boxes = screen.page.evaluate(
        """() => ["time", "outcome", "cue", "proposal", "bar"].map((id) => {
          const box = document.getElementById(id).getBoundingClientRect();
          return [box.left, box.top, box.right, box.bottom]; })"""
    )
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0, place
        assert right <= width, place
        for other in boxes[place + 1 :]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart, (place, boxes)
    if width == 1280:
        assert screen.page.evaluate("document.documentElement.scrollHeight") <= 720
