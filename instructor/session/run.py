"""Run a session: open the port, say the links, tick, and watch the class until stopped."""

import asyncio
import contextlib
import json
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import tornado.httpserver

from instructor import CourseError
from instructor.report.model import write_text
from instructor.session.access import ROOM, TEACHER, Access
from instructor.session.board_view import Numbers
from instructor.session.closed import Site
from instructor.session.room import Room, Watched
from instructor.session.server import application
from lab.clock import ROOM_FILE

TICK_SECONDS = 0.25
MOST_BYTES_OF_A_REQUEST = 10_000
LABELS = {ROOM: "Projector", TEACHER: "Teacher"}


@dataclass(frozen=True)
class Options:
    """Where a session is served; ``folder`` is the class's, for its notebooks to find the clock."""

    port: int
    lan: bool = False
    names: bool = False
    folder: Path | None = None


def serve_until_stopped(
    room: Room, secret: bytes, options: Options, board: Watched | None, say: Callable[[str], None]
) -> None:
    """Serve a session until Ctrl-C or SIGTERM; pressing it twice does not stop the tidying up."""

    async def main() -> None:
        task = asyncio.create_task(serve(room, secret, options, board, say))
        stopping = False

        def stop() -> None:
            nonlocal stopping
            if not stopping:
                stopping = task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())


async def serve(
    room: Room, secret: bytes, options: Options, board: Watched | None, say: Callable[[str], None]
) -> None:
    """Serve a session until cancelled; ``say`` gets a line whenever there is a link to give out."""
    with _bound(options) as bound:
        port = bound.getsockname()[1]
        base = f"http://{_own_address() if options.lan else '127.0.0.1'}:{port}"

        def used(role: str) -> None:
            say(f"{LABELS[role]}: link used. The next one:  {base}{access.link(role)}")

        access = Access(secret, lan=options.lan, used=used)
        site = Site(room, access, Numbers(secret), board, options.names, port)
        server = tornado.httpserver.HTTPServer(
            application(site), max_body_size=MOST_BYTES_OF_A_REQUEST
        )
        server.add_sockets([bound])
        clock = f"{base}/clock/{access.clock_key}.json" if options.lan else f"{base}/clock.json"
        try:
            with _room_file(options.folder, clock, say):
                _say_links(access, base, options, say)
                await _work(room, board, say)
        finally:
            server.stop()
            room.tell("gone")
            await server.close_all_connections()


async def _work(room: Room, board: Watched | None, say: Callable[[str], None]) -> None:
    async with asyncio.TaskGroup() as tasks:
        if board:
            board.subscribe(room.board_changed)
            tasks.create_task(_watch(board, say))
        tasks.create_task(_tick(room))


async def _watch(board: Watched, say: Callable[[str], None]) -> None:
    try:
        await board.run()
    except Exception as error:  # noqa: BLE001  whatever is wrong there, the room needs its clock
        say(f"The pairs are watched no more ({type(error).__name__}: {error}). The clock goes on.")


async def _tick(room: Room) -> None:
    while True:
        room.tick()
        await asyncio.sleep(TICK_SECONDS)


def _say_links(access: Access, base: str, options: Options, say: Callable[[str], None]) -> None:
    if options.lan:
        say("Each link lets one browser in, once; a new one is shown when it was used.")
        say(f"Projector: {base}{access.link(ROOM)}")
    else:
        say(f"Projector: {base}/")
    say(f"Teacher:   {base}{access.link(TEACHER)}")
    if options.lan:
        say(f"Notebooks: LAB_ROOM_URL={base}/clock/{access.clock_key}.json  (the clock alone)")


@contextlib.contextmanager
def _bound(options: Options) -> Iterator[socket.socket]:
    """Bind the port, on this machine alone or on all of its interfaces; free it at the end."""
    both = options.lan and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    address = ("" if options.lan else "127.0.0.1", options.port)
    try:
        bound = socket.create_server(address, family=family, dualstack_ipv6=both, backlog=128)
    except OSError as error:
        raise CourseError(
            f"Port {options.port} cannot be used: {error.strerror}. Name another --port."
        ) from error
    with bound:
        bound.setblocking(False)
        yield bound


@contextlib.contextmanager
def _room_file(folder: Path | None, clock: str, say: Callable[[str], None]) -> Iterator[None]:
    """Tell the notebooks of a class where the clock is, as long as there is one."""
    if folder is None:
        yield
        return
    path = folder / ROOM_FILE
    try:
        write_text(path, json.dumps({"clock": clock}) + "\n")
    except OSError as error:
        say(f"Notebooks will not find the clock ({error.strerror}). Set LAB_ROOM_URL={clock}")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _own_address() -> str:
    """Give this machine's address in its network, as others write it."""
    found = [
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if address.family == socket.AF_INET and not address.address.startswith("127.")
        and psutil.net_if_stats()[name].isup
    ]  # fmt: skip
    return found[0] if found else socket.gethostname()
