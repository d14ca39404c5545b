"""Kernels that are forked from a preloaded server: a provisioner of jupyter_client.

pyproject.toml registers it, and a kernelspec asks for it by name, so nbclient stays as it is.
"""

import asyncio
import contextlib
import json
import socket
import subprocess
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from instructor.sandbox.forks import fork

# How long a kernel may take until it listens, on a machine that is busy.
START_SECONDS = 60
# How long a killed kernel may take to be gone; a manager goes on looking after that.
END_SECONDS = 1


class ForkProvisioner(LocalProvisioner):
    """A local kernel whose process is a fork; everything else is the local provisioner's."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel. ``cmd`` is what holds it as JSON, its workspace, then ipykernel's own."""
        text, workspace, *own = cmd
        held = json.loads(text)
        arguments = [held, workspace, str(kwargs["cwd"]), *own]
        shown = held["shown"] and tuple(held["shown"])
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = fork(
                    "kernels", arguments, kwargs["env"], theirs.fileno(), listen=False, shown=shown
                )
            await listens(ours)
        self.process = process  # type: ignore[assignment]  # has what is used of a Popen
        self.pid = self.pgid = process.pid
        return self.connection_info

    async def kill(self, restart: bool = False) -> None:
        """End the kernel, and return when it has ended: nobody has to look for it again."""
        await super().kill(restart)
        if self.process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS)


async def listens(connection: socket.socket) -> bool:
    """Wait until a kernel says on its connection that it listens; false where it has ended.

    A client that connects before that tries again only a tenth of a second later.
    """
    connection.setblocking(False)
    with contextlib.suppress(TimeoutError, ConnectionResetError):
        async with asyncio.timeout(START_SECONDS):
            return bool(await asyncio.get_running_loop().sock_recv(connection, 1))
    return False
