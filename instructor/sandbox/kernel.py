"""A Jupyter kernel that limits itself first. It runs in a fork of ``zygote.py``."""

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_OURS: dict[str, Any] = {}


def preload(load_script: Callable[[Path, str], Any]) -> None:
    """Import what a kernel needs, once for all kernels; a fork is safe from one thread only."""
    path = Path(__file__).with_name("confine.py")
    _OURS["confine"] = load_script(path, "_courseware_confine")
    import ipykernel.kernelapp
    import ipykernel.zmqshell

    _OURS["kernelapp"] = ipykernel.kernelapp
    ipykernel.zmqshell.ZMQInteractiveShell.system = system_without_terminal
    if threading.active_count() != 1:
        raise RuntimeError("importing ipykernel has started a thread; kernels cannot be forked")


def system_without_terminal(shell: Any, command: str) -> None:
    """Run a cell's shell line through pipes: a process that is held opens no terminal."""
    done = subprocess.run(  # noqa: S602  it is the student's own line, in the student's own process
        shell.var_expand(command, depth=1),
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(done.stdout, end="")
    shell.user_ns["_exit_code"] = done.returncode


def run(connection: int, arguments: list[Any]) -> None:
    """Lower the limits, enter the workspace, and become an ordinary ipykernel.

    ``arguments`` are the limits and places, the workspace, the folder to start in, and
    ipykernel's own.
    """
    os.close(connection)
    held, workspace, folder, *own = arguments
    _OURS["confine"].confine(held["limits"], held["places"])
    _OURS["confine"].enter(workspace)
    os.chdir(folder)
    _OURS["kernelapp"].IPKernelApp.launch_instance(argv=own)
