"""The pages of a session over HTTP: who asks is checked first, then told, then kept up to date."""

import asyncio
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import tornado.iostream
import tornado.web

from instructor.session.access import LOOPBACK, ROOM, TEACHER
from instructor.session.closed import Closed, Site
from instructor.session.log import read_log
from instructor.session.notes import notes_of
from instructor.session.pace import room_pace, sitting_of
from instructor.session.plot import pace_svg

PAGES = Path(__file__).with_name("pages")
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Enter(Closed):
    """A link: it leaves a cookie, leads to the page, and is dead."""

    def is_open(self) -> bool:
        """Let everybody try; only a fresh link leads on."""
        return True

    def get(self, *path: str) -> None:
        """Exchange the link for a cookie."""
        role = self.site.access.enter(path[0])
        if role is None:
            raise tornado.web.HTTPError(HTTPStatus.FORBIDDEN)
        cookie = self.site.access.cookie(role)
        # Lax: a link that is opened from a mail or a chat must find its cookie right afterwards.
        self.set_cookie(self.site.cookie_name(role), cookie, httponly=True, samesite="Lax")
        self.redirect("/teacher" if role == TEACHER else "/")


class Page(Closed):
    """The projector's page."""

    file = "projector.html"

    def get(self, *_: str) -> None:
        """Send the page, which holds nothing of the session yet."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish((PAGES / self.file).read_bytes())


class TeacherPage(Page):
    """The teacher's second screen."""

    role = TEACHER
    file = "teacher.html"


class Part(Closed):
    """A style sheet, a script or a picture of the pages."""

    def get(self, *path: str) -> None:
        """Send a file that is there by that very name."""
        found = next((file for file in PAGES.iterdir() if file.name == path[0]), None)
        if found is None or found.suffix not in TYPES:
            raise tornado.web.HTTPError(HTTPStatus.NOT_FOUND)
        self.set_header("Content-Type", f"{TYPES[found.suffix]}; charset=utf-8")
        self.finish(found.read_bytes())


class Notes(Closed):
    """The teacher's notes."""

    role = TEACHER

    def get(self, *_: str) -> None:
        """Send the notes of this workshop, section by section."""
        plan = self.site.room.journal.plan
        self.finish(notes_of(plan.workshop, [block.id for block in plan.blocks]))


class PacePicture(Closed):
    """Plan and room of this session so far, as a picture."""

    role = TEACHER

    def get(self, *_: str) -> None:
        """Draw the blocks that came to an end."""
        journal = self.site.room.journal
        sitting = sitting_of(journal.path.name, read_log(journal.path), journal.plan)
        # A picture brings its own colours along, and can load nothing.
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.set_header("Content-Type", "image/svg+xml; charset=utf-8")
        self.finish(pace_svg(room_pace(journal.plan, [sitting])))


class Events(Closed):
    """What happens, as server-sent events: the state, and the board, each as soon as it changes.

    A reader that is slow gets the newest only; nothing piles up.
    """

    def initialize(self, site: Site) -> None:
        """Take what every handler needs, and expect news."""
        super().initialize(site)
        self._news: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: set[str] = set()

    async def get(self, *_: str) -> None:
        """Tell a page everything, then go on until it leaves."""
        self.set_header("Content-Type", "text/event-stream")
        room = self.site.room
        room.listeners.add(self._hear)
        self._hear("state")
        self._hear("board")
        try:
            while (name := await self._news.get()) != "gone":
                self._waiting.discard(name)
                await self._send(name)
        except tornado.iostream.StreamClosedError:
            pass
        finally:
            room.listeners.discard(self._hear)

    def on_connection_close(self) -> None:
        """Stop waiting for news when the page has left."""
        self._hear("gone")

    def _hear(self, name: str) -> None:
        if name not in self._waiting:
            self._waiting.add(name)
            self._news.put_nowait(name)

    async def _send(self, name: str) -> None:
        told = self.site.told(self.role) if name == "state" else self.site.board_for(self.role)
        if told is not None:
            self.write(f"event: {name}\ndata: {json.dumps(told)}\n\n")
            await self.flush()


class TeacherEvents(Events):
    """The same for the teacher: every cue and cut, and the names of pairs."""

    role = TEACHER


class Press(Closed):
    """A key or a button of a page."""

    def get(self, *_: str) -> None:
        """Find nothing: a page that is only looked at changes nothing."""
        raise tornado.web.HTTPError(HTTPStatus.METHOD_NOT_ALLOWED)

    def post(self, *_: str) -> None:
        """Do what was pressed; answer 409 where it makes no sense now."""
        try:
            request = json.loads(self.request.body)
        except (ValueError, RecursionError):
            raise tornado.web.HTTPError(HTTPStatus.BAD_REQUEST) from None
        self.set_status(HTTPStatus.NO_CONTENT if self.do(request) else HTTPStatus.CONFLICT)
        self.finish()

    def do(self, request: object) -> bool:
        """Do what was pressed; False where it makes no sense now."""
        return self.site.room.press(request)


class TeacherPress(Press):
    """The same for the teacher, who also decides whether the room sees names."""

    role = TEACHER

    def do(self, request: object) -> bool:
        """Do what was pressed; False where it makes no sense now."""
        if not isinstance(request, dict) or request.get("do") != "names":
            return super().do(request)
        self.site.names = request.get("shown") is True
        self.site.room.tell("board")
        self.site.room.tell()
        return True


class Clock(Closed):
    """The clock alone, for notebooks: the block, its end, and whether it is paused."""

    def is_open(self) -> bool:
        """Let in whoever has the clock's key, and this machine unless the session is on the LAN."""
        key = self.path_args[0] if self.path_args else ""
        if key:
            return self.site.access.is_clock_key(key)
        return not self.site.access.lan and self.request.remote_ip in LOOPBACK

    def get(self, *_: str) -> None:
        """Send six values, none of which is about anybody."""
        view = self.site.told(ROOM)
        block = {"block": view["block"]["id"], "title": view["block"]["title"]}
        times = {name: view[name] for name in ("workshop", "now", "ends", "left")}
        self.finish({**times, **block, "phase": view["phase"]})


def application(site: Site) -> Any:
    """Build the web application. It logs no request: the paths of links are secrets."""
    names = {"site": site}
    routes = [
        (r"/", Page, names),
        (r"/teacher", TeacherPage, names),
        (r"/enter/([A-Za-z0-9_-]+)", Enter, names),
        (r"/events", Events, names),
        (r"/teacher/events", TeacherEvents, names),
        (r"/press", Press, names),
        (r"/teacher/press", TeacherPress, names),
        (r"/teacher/notes", Notes, names),
        (r"/teacher/pace\.svg", PacePicture, names),
        (r"/clock\.json", Clock, names),
        (r"/clock/([0-9a-f]+)\.json", Clock, names),
        (r"/part/([a-z._-]+)", Part, names),
    ]
    rest: dict[str, Any] = {"default_handler_class": Closed, "default_handler_args": names}
    return tornado.web.Application(routes, log_function=lambda _: None, **rest)
