"""Who may ask a session's server, and what every answer says to the browser."""

from collections.abc import Awaitable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import tornado.web

from instructor.session.access import ROOM, TEACHER, Access, same_origin
from instructor.session.board_view import Numbers, board_view
from instructor.session.room import Room, Watched
from instructor.session.view import teacher_view, view_of

CLOSED = "This page opens with the link that the teacher's terminal shows; a link works once.\n"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass
class Site:
    """What every handler needs. ``names`` says whether the projector shows the names of pairs."""

    room: Room
    access: Access
    numbers: Numbers
    board: Watched | None = None
    names: bool = False
    port: int = 0

    def cookie_name(self, role: str) -> str:
        """Name a role's cookie; cookies know no ports, so the port is in the name."""
        return f"{role}_{self.port}"

    def told(self, role: str) -> dict[str, Any]:
        """Give the state as that role may see it."""
        view = teacher_view if role == TEACHER else view_of
        told = view(self.room.state(), self.room.now())
        told |= {"names": self.names, "watched": self.board is not None}
        if role == TEACHER and self.board:
            told["note"] = self.board.snapshot()["note"]
        return told

    def board_for(self, role: str) -> dict[str, Any] | None:
        """Give the board as that role may see it."""
        if self.board is None:
            return None
        names = role == TEACHER or self.names
        return board_view(self.board.snapshot(), self.numbers, names=names)


class Closed(tornado.web.RequestHandler):
    """Whatever has no other handler: who may not see anything does not learn what there is."""

    role = ROOM

    def initialize(self, site: Site) -> None:
        """Take what every handler needs."""
        self.site = site

    def set_default_headers(self) -> None:
        """Allow nothing from elsewhere, and say nothing of what runs here."""
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        """Refuse a request that is not ours, or that may not see this."""
        if not self._is_ours() or not self.is_open():
            raise tornado.web.HTTPError(HTTPStatus.FORBIDDEN)

    def is_open(self) -> bool:
        """Tell whether whoever asks may see this."""
        access = self.site.access
        if self.role == ROOM and not access.lan:
            return True
        roles = (TEACHER,) if self.role == TEACHER else (ROOM, TEACHER)
        cookies = [(role, self.get_cookie(self.site.cookie_name(role)) or "") for role in roles]
        return any(access.opens(role, cookie) for role, cookie in cookies)

    def _is_ours(self) -> bool:
        """Tell whether a request names this machine, and no other site's page sent it."""
        request = self.request
        if not self.site.access.knows_host(request.host):
            return False
        if request.method not in {"GET", "HEAD"}:
            return same_origin(request.headers.get("Origin"), request.host)
        followed = request.headers.get("Sec-Fetch-Mode") == "navigate"
        return followed or request.headers.get("Sec-Fetch-Site", "none") in {"none", "same-origin"}

    def get(self, *_: str) -> Awaitable[None] | None:
        """Find nothing."""
        raise tornado.web.HTTPError(HTTPStatus.NOT_FOUND)

    def write_error(self, status_code: int, **_: Any) -> None:
        """Say in plain text what to do."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(CLOSED if status_code == HTTPStatus.FORBIDDEN else "There is nothing here.\n")
