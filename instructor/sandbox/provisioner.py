"""Kernels that are forked from a preloaded server: a provisioner of jupyter_client.

pyproject.toml registers it, and a kernelspec asks for it by name, so nbclient stays as it is.
"""

import json
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from instructor.sandbox.forks import fork


class ForkProvisioner(LocalProvisioner):
    """A local kernel whose process is a fork; everything else is the local provisioner's."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel. ``cmd`` is what holds it as JSON, its workspace, then ipykernel's own."""
        text, workspace, *own = cmd
        held = json.loads(text)
        arguments = [held, workspace, str(kwargs["cwd"]), *own]
        shown = held["shown"] and tuple(held["shown"])
        process = fork("kernels", arguments, kwargs["env"], listen=False, shown=shown)
        self.process = process  # type: ignore[assignment]  # has what is used of a Popen
        self.pid = self.pgid = process.pid
        return self.connection_info
