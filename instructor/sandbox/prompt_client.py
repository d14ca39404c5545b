"""A kernel client that is ready as soon as its kernel is; everything else is jupyter_client's."""

import asyncio
import contextlib
from queue import Empty
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient

# How long a kernel may take to greet, and to answer before it is asked again, in seconds.
WELCOME_SECONDS = 0.2
PATIENCE_SECONDS = 1.0
# In bytes. A notebook may show 1 MiB in all; a cell that prints without an end sends much more than
# that at once, and should be told so.
LONGEST_MESSAGE = 64 << 20


class PromptClient(AsyncKernelClient):
    """Wait for a kernel's word that it is idle, not for a silence of a fifth of a second."""

    def _context_default(self) -> Any:
        """Take no longer message from a kernel: it is read whole before anybody can count it."""
        context = super()._context_default()
        context.setsockopt(zmq.MAXMSGSIZE, LONGEST_MESSAGE)
        return context

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Ask for the kernel's info until it has answered and said that it is idle.

        Raises ``RuntimeError`` when the kernel dies or does not answer within ``timeout`` seconds.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._is_welcome()
                while not await self._is_ready():
                    if not await self._async_is_alive():
                        raise RuntimeError("Kernel died before replying to kernel_info")
        except TimeoutError as error:
            raise RuntimeError(f"Kernel didn't respond in {timeout} seconds") from error

    async def _is_welcome(self) -> None:
        """Wait for the greeting on the other channel: what a kernel says before it is lost.

        Kernels before ipykernel 7 do not greet.
        """
        with contextlib.suppress(Empty):
            await self.iopub_channel.get_msg(timeout=WELCOME_SECONDS)

    async def _is_ready(self) -> bool:
        """Ask once."""
        asked = self.kernel_info()
        try:
            info = await self._message(self.shell_channel, asked)
            said = ""
            while said != "idle":
                message = await self._message(self.iopub_channel, asked)
                said = message["content"].get("execution_state", "")
        except Empty:
            return False
        self._handle_kernel_info_reply(info)
        return True

    async def _message(self, channel: Any, asked: str) -> dict[str, Any]:
        """Give the next message on a channel that answers a request; raise ``queue.Empty``."""
        while True:
            message: dict[str, Any] = await channel.get_msg(timeout=PATIENCE_SECONDS)
            if message["parent_header"].get("msg_id") == asked:
                return message
