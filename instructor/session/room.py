"""A session while it runs: what somebody presses goes to the log, and listeners hear of it."""

import contextlib
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol

from instructor.session.clock import state_at
from instructor.session.journal import Journal
from instructor.session.log import Event
from instructor.session.state import State
from instructor.session.view import signature

# A page hears of the time this often also where nothing happens.
HEARTBEAT_SECONDS = 5
# A difference between two clocks that is no rounding: the machine slept, or its clock was set.
JUMP = timedelta(seconds=1)
SIMPLE = ("start", "pause", "resume", "next", "back", "end")
MINUTES = {"more": 1, "less": -1}


class Watched(Protocol):
    """What a session needs of the live board; ``instructor.session.board`` offers it."""

    async def run(self) -> None:
        """Watch until cancelled."""

    def snapshot(self) -> dict[str, Any]:
        """Give the board as plain JSON values."""

    def subscribe(self, callback: Callable[[dict[str, Any]], object]) -> None:
        """Have each change told: a ``pair`` as in the snapshot, and what it ``reached``."""


class Room:
    """The journal of a session, the time, and everybody who wants to know."""

    def __init__(
        self,
        journal: Journal,
        now: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take a journal that is open, and two clocks: of the day, and one that is never set."""
        self.journal = journal
        self.now = now
        self.listeners: set[Callable[[str], None]] = set()
        self._monotonic = monotonic
        self._board_is_new = True
        self._told: tuple[object, ...] = ()
        self._told_at = (now(), monotonic())
        self._reached = {(e.pair, e.block) for e in journal.events if e.event == "outcome"}

    def state(self) -> State:
        """Give the state at this moment."""
        return state_at(self.journal.plan, self.journal.events, self.now())

    def press(self, request: object) -> bool:
        """Do what a page asks for, if it makes sense now; False where it does not.

        A request names the block that its page showed, so that of two people who press next at
        once only one is heard.
        """
        event = event_of(request, self.state(), self.now())
        if event is None or not self._changes(event):
            return False
        self.journal.append(event)
        self.tell()
        return True

    def board_changed(self, change: dict[str, Any]) -> None:
        """Write down which blocks a pair has reached for the first time, unless all is over.

        The pages hear of it at the next tick: of sixty pairs who save at once, they hear once.
        """
        self._board_is_new = True
        pair = change["pair"]["name"]
        for block in change["reached"] if self.state().phase != "ended" else ():
            if (pair, block) not in self._reached:
                event = Event(self.now(), "outcome", block, pair=pair, outcome="pass")
                # A full disk costs a line of the log, not the board.
                with contextlib.suppress(OSError):
                    self.journal.append(event)
                    self._reached.add((pair, block))

    def tick(self) -> None:
        """Tell the listeners of a change, of a jump in time, and of the time every so often."""
        if self._board_is_new:
            self._board_is_new = False
            self.tell("board")
        told, counted = self._told_at
        passed = self._monotonic() - counted
        jumped = abs(self.now() - told - timedelta(seconds=passed)) > JUMP
        if jumped or passed >= HEARTBEAT_SECONDS or signature(self.state()) != self._told:
            self.tell()

    def tell(self, what: str = "state") -> None:
        """Call every listener: the ``state`` or the ``board`` is new."""
        if what == "state":
            self._told = signature(self.state())
            self._told_at = (self.now(), self._monotonic())
        for listener in list(self.listeners):
            listener(what)

    def _changes(self, event: Event) -> bool:
        plan, events = self.journal.plan, self.journal.events
        before = state_at(plan, events, event.at)
        return state_at(plan, [*events, event], event.at) != before


def event_of(request: object, state: State, now: datetime) -> Event | None:
    """Make an event of what a page sent, which may be anything; None where it is no request."""
    if not isinstance(request, dict):
        return None
    name, block = request.get("do"), request.get("block")
    if not isinstance(name, str) or block != state.plan.blocks[state.block].id:
        return None
    if name in SIMPLE:
        return Event(now, name, block=block if name in {"next", "back"} else None)
    if name in MINUTES:
        return Event(now, "minutes", block=block, minutes=MINUTES[name])
    return _about_cut(name, request.get("cut"), state, now)


def _about_cut(name: str, cut: object, state: State, now: datetime) -> Event | None:
    if type(cut) is not int or not 0 <= cut < len(state.plan.cuts):
        return None
    if name == "cut":
        item = state.plan.cuts[cut]
        return Event(now, "cut", cut=cut, block=item.block, minutes=item.minutes)
    return Event(now, name, cut=cut) if name in {"restore", "decline"} else None
