"""A block's clock in a notebook: the room's, where a session is running, else one of your own.

Where nobody looks, as when a notebook is run from top to bottom, there is no clock and no request:
only the text. In JupyterLab the page counts down to an absolute end. A saved notebook that is not
trusted shows that end as text.
"""

import html
import itertools
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab.cards import Note
from lab.workshop import Block

ROOM_VARIABLE = "LAB_ROOM_URL"
ROOM_FILE = ".room.json"
ANSWER_SECONDS = 0.5
MOST_BYTES = 4_000
LOOK_SECONDS = 3.0
# After so many looks without an answer the room's clock is taken for gone.
MOST_SILENCES = 20
# JupyterLab sets this for the kernels of its notebooks, and nothing else does.
BROWSER_VARIABLE = "JPY_SESSION_NAME"

_own_starts: dict[tuple[str, str], float] = {}
_turns = itertools.count(1)
_followed: dict[tuple[str, str], int] = {}


@dataclass(frozen=True)
class Told:
    """What a clock says: words, and the time (seconds since 1970) to which a page counts."""

    words: str
    ends: float | None = None

    @property
    def text(self) -> str:
        """Give it without counting."""
        return f"{self.words} {_until(self.ends)}" if self.ends else self.words


@dataclass(frozen=True)
class BlockClock:
    """A block with its minutes, its outcome and a clock that counts."""

    note: Note
    told: Told
    follow: Callable[[Callable[[Told], None]], None] | None = None

    def __str__(self) -> str:
        """Give the block as text, as it is where nothing counts."""
        return str(self.note)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html(self.told)

    def html(self, told: Told) -> str:
        """Give the block with a clock that says this."""
        return f"{self.note._repr_html_()}{clock_html(told)}"

    def _ipython_display_(self) -> None:
        """Show it, and show it anew whenever the room's clock says something else."""
        from IPython.display import display

        def bundle(told: Told) -> dict[str, str]:
            return {"text/plain": str(self), "text/html": self.html(told)}

        handle: Any = display(bundle(self.told), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        if self.follow is None:
            return

        def show(told: Told) -> None:
            handle.update(bundle(told), raw=True)

        threading.Thread(target=self.follow, args=(show,), daemon=True).start()


def with_clock(
    note: Note, block: Block, workshop: str, root: Path, environ: Mapping[str, str] = os.environ
) -> Note | BlockClock:
    """Add a clock to a block's note where a browser shows it; else give the note as it is."""
    if BROWSER_VARIABLE not in environ:
        return note
    url = room_url(root, environ)
    room = ask(url) if url else None
    if url and room and room["workshop"] == workshop:
        told = of_room(room, block.id, time.time())
        return BlockClock(note, told, _follower(url, (workshop, block.id), told))
    began = _own_starts.setdefault((workshop, block.id), time.time())
    return BlockClock(note, Told("Your own clock:", began + 60 * block.minutes))


def room_url(root: Path, environ: Mapping[str, str]) -> str | None:
    """Find the address of the room's clock: in the environment, else beside the workspace."""
    if environ.get(ROOM_VARIABLE):
        return environ[ROOM_VARIABLE]
    try:
        found = json.loads((root.parent / ROOM_FILE).read_bytes()[:MOST_BYTES])
        return str(found["clock"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def ask(url: str) -> dict[str, Any] | None:
    """Ask the room's clock; None where nothing answers in half a second, or not with a clock."""
    # Imported here, since a check in a terminal needs none of it.
    from http.client import HTTPConnection, HTTPException

    connection = None
    try:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            return None
        connection = HTTPConnection(parts.hostname, parts.port, timeout=ANSWER_SECONDS)
        connection.request("GET", parts.path or "/")
        answer = connection.getresponse()
        row = json.loads(answer.read(MOST_BYTES)) if answer.status == 200 else None
        return row if _is_clock(row) else None
    except (OSError, ValueError, HTTPException, RecursionError):
        return None
    finally:
        if connection:
            connection.close()


def of_room(room: dict[str, Any], block_id: str, now: float) -> Told:
    """Say what the room's clock says, as seen from one block's notebook."""
    place = "The room:" if room["block"] == block_id else f"The room is at “{room['title']}”:"
    if room["phase"] == "ended":
        return Told("The room's session is over.")
    if room["ends"] is None:
        state = "not started yet" if room["phase"] == "ready" else "paused"
        return Told(f"{place} {state}, {_minutes(room['left'] / 1000)} left.")
    # Both times are the room's, so it does not matter if this machine's clock is another.
    return Told(place, now + (room["ends"] - room["now"]) / 1000)


def clock_html(told: Told) -> str:
    """Write a clock as HTML: its text, and a script that counts where scripts may run."""
    if told.ends is None:
        return f"<div>{html.escape(told.words)}</div>"
    name = f"lab-clock-{secrets.token_hex(6)}"
    shown = f"<b id='{name}'>{html.escape(_until(told.ends))}</b>"
    script = _SCRIPT.replace("NAME", name).replace("ENDS", str(round(told.ends * 1000)))
    return f"<div>{html.escape(told.words)} {shown}</div><script>{script}</script>"


# It looks for its place in the page, since that may come later, and ends when it is gone.
_SCRIPT = """
(() => {
  let missed = 0;
  const count = () => {
    const place = document.getElementById("NAME");
    missed = place ? 0 : missed + 1;
    if (missed > 30) clearInterval(timer);
    if (!place) return;
    const left = Math.ceil((ENDS - Date.now()) / 1000);
    const seconds = Math.abs(left);
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    place.textContent = left < 0 ? `${text} over` : `${text} left`;
  };
  const timer = setInterval(count, 500);
  count();
})();
"""


def follow(
    url: str, block_id: str, told: Told, show: Callable[[Told], None], wait: Callable[[], bool]
) -> None:
    """Look at the room's clock now and then and show what is new, until it ends or is gone.

    ``wait`` waits for the next look, and says whether there is to be one.
    """
    silences = 0
    while silences < MOST_SILENCES and wait():
        room = ask(url)
        silences = 0 if room else silences + 1
        if room is None:
            continue
        new = of_room(room, block_id, time.time())
        if _differs(new, told):
            told = new
            show(told)
        if room["phase"] == "ended":
            return


def _follower(
    url: str, key: tuple[str, str], told: Told
) -> Callable[[Callable[[Told], None]], None]:
    """Make what follows the room for one cell; when the cell is run again, the new one does."""
    turn = _followed[key] = next(_turns)

    def wait() -> bool:
        time.sleep(LOOK_SECONDS)
        return _followed[key] == turn

    return lambda show: follow(url, key[1], told, show, wait)


def _differs(new: Told, old: Told) -> bool:
    """Tell two clocks apart; a second's difference is the way of the answer."""
    if new.ends is None or old.ends is None:
        return new != old
    return new.words != old.words or abs(new.ends - old.ends) > 1


def _is_clock(row: object) -> bool:
    if not isinstance(row, dict):
        return False
    numbers = [row.get("now"), row.get("left"), row.get("ends") or 0]
    words = [row.get(name) for name in ("workshop", "block", "title", "phase")]
    return all(type(number) is int and abs(number) < 10**14 for number in numbers) and all(
        isinstance(word, str) for word in words
    )


def _until(ends: float | None) -> str:
    return time.strftime("until %H:%M", time.localtime(ends))


def _minutes(seconds: float) -> str:
    whole = int(abs(seconds))
    return f"{'-' if seconds < 0 else ''}{whole // 60}:{whole % 60:02}"
