"""A kernel's start: nobody waits longer than it takes, and nobody waits for one that has ended."""

import asyncio
import socket
from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest

from instructor.sandbox import provisioner
from instructor.sandbox.prompt_client import PromptClient
from tests.kit.command import COURSE, python

# Seconds; nothing here takes any, so that only a client that waits for silence meets it.
LIMIT = 5
WELCOME = {"msg_type": "iopub_welcome", "parent_header": {}, "content": {}}


RUN_ONE_CELL = """
import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from instructor.sandbox.prompt_client import PromptClient
from tests.kit.command import COURSE, python

asked = []
ask = PromptClient._is_ready
PromptClient._is_ready = lambda self: asked.append(1) or ask(self)
manager = AsyncKernelManager(kernel_name="python3")
manager.client_factory = PromptClient
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("6 * 7")])
NotebookClient(notebook, km=manager, timeout=60).execute()
print(notebook.cells[0].outputs[0].data, bool(asked))
"""


class Channel:
    """A channel on which messages have come, and that is silent afterwards."""

    def __init__(self, *messages: Any) -> None:
        self._messages = iter(messages)

    async def get_msg(self, timeout: float) -> Any:
        assert timeout > 0
        message = next(self._messages, None)
        if message is None:
            raise Empty
        return message


class Client(PromptClient):
    """A client of a kernel that says what a test wants; its requests are numbered."""

    asked = 0
    alive = True

    def __init__(self, shell: Channel, iopub: Channel) -> None:
        super().__init__()
        self._shell_channel: Any = shell
        self._iopub_channel: Any = iopub

    def kernel_info(self) -> str:
        self.asked += 1
        return str(self.asked)

    async def _async_is_alive(self) -> bool:
        return self.alive


def reply(to: str) -> dict[str, Any]:
    content = {"protocol_version": "5.3", "status": "ok"}
    return {"msg_type": "kernel_info_reply", "parent_header": {"msg_id": to}, "content": content}


def status(to: str, state: str) -> dict[str, Any]:
    return {"parent_header": {"msg_id": to}, "content": {"execution_state": state}}


def test_a_kernel_that_has_ended_is_said_at_once() -> None:
    client = Client(Channel(), Channel(WELCOME))
    client.alive = False

    with pytest.raises(RuntimeError, match="died"):
        asyncio.run(client.wait_for_ready(LIMIT))
    assert client.asked == 1


def test_a_kernel_that_never_answers_costs_its_limit() -> None:
    class Silent(Channel):
        async def get_msg(self, timeout: float) -> Any:  # noqa: ARG002  it waits longer than that
            await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match=r"didn't respond in 0\.01 seconds"):
        asyncio.run(asyncio.wait_for(Client(Silent(), Silent()).wait_for_ready(0.01), LIMIT))


def test_a_kernel_that_greets_is_asked_once() -> None:
    client = Client(Channel(reply("1")), Channel(WELCOME, status("1", "busy"), status("1", "idle")))

    asyncio.run(client.wait_for_ready(LIMIT))

    assert client.asked == 1


def test_what_was_said_to_somebody_else_is_no_answer() -> None:
    shell = Channel(reply("0"), reply("1"))
    client = Client(shell, Channel(WELCOME, status("0", "idle"), status("1", "idle")))

    asyncio.run(client.wait_for_ready(LIMIT))

    assert client.asked == 1


def test_a_word_that_was_lost_is_asked_for_again() -> None:
    """Where a kernel does not greet, it may have said that it is idle before anybody listens."""
    shell = Channel(reply("1"), reply("2"))
    client = Client(shell, Channel(None, None, status("2", "idle")))

    asyncio.run(client.wait_for_ready(LIMIT))

    assert client.asked == 2


def test_a_notebook_is_run_by_this_client_and_not_by_one_that_waits_for_silence() -> None:
    """In a process of its own: nbclient leaves its sockets to be collected."""
    done = python("-c", RUN_ONE_CELL, cwd=COURSE)

    assert done.code == 0, done.err
    assert done.out == "{'text/plain': '42'} True\n"


@pytest.fixture
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_kernel_that_ends_before_it_listens_is_not_waited_for(
    connected: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = connected
    theirs.close()

    assert asyncio.run(provisioner.listens(ours)) is False


def test_a_kernel_that_listens_says_so(connected: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = connected
    theirs.sendall(b"\n")

    assert asyncio.run(provisioner.listens(ours)) is True


def test_a_kernel_that_does_neither_is_left_to_who_asks_it(
    connected: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provisioner, "START_SECONDS", 0.01)

    assert asyncio.run(provisioner.listens(connected[0])) is False
