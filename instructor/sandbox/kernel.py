"""A Jupyter kernel that limits itself first. It runs in a fork of ``zygote.py``."""

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

NOT_RUN = "A shell line is not run when a notebook is graded: no program is started there."
# What a shell gives for a command that it must not run.
COMMAND_NOT_RUN = 126
LISTENS = b"\n"
FLUSH_SECONDS = 0.05
_OURS: dict[str, Any] = {}
# What a kernel imports when it starts, and what the notebooks' own code imports.
_IMPORTED_LATER = (
    "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.logger",
    "IPython.core.oinspect", "IPython.extensions.storemagic", "ipykernel.debugger",
    "tornado.platform.asyncio", "encodings.unicode_escape", "encodings.utf_8_sig", "secrets",
    "tomllib",
)  # fmt: skip


def preload(_: Callable[[Path, str], Any]) -> None:
    """Import what a kernel needs, once for all kernels; a fork is safe from one thread only."""
    _OURS["confine"] = sys.modules["_courseware_confine"]
    # A debugger that nobody attaches to, and that takes most of a kernel's start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    import ipykernel.iostream
    import ipykernel.kernelapp
    import ipykernel.zmqshell

    for name in _IMPORTED_LATER:
        importlib.import_module(name)

    # What is printed goes out more often, so that no message of it gets too long.
    ipykernel.iostream.OutStream.flush_interval = FLUSH_SECONDS
    _OURS["kernelapp"] = ipykernel.kernelapp
    shell = ipykernel.zmqshell.ZMQInteractiveShell
    _OURS["getoutput"] = shell.getoutput
    shell.system = system_without_terminal
    shell.getoutput = output_of  # type: ignore[method-assign]
    if threading.active_count() != 1:
        raise RuntimeError("importing ipykernel has started a thread; kernels cannot be forked")


def system_without_terminal(shell: Any, command: str) -> None:
    """Run a cell's shell line through pipes, or say that a process that is held starts none."""
    if _OURS["sealed"]:
        print(NOT_RUN)
        shell.user_ns["_exit_code"] = COMMAND_NOT_RUN
        return
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


def output_of(shell: Any, command: str, split: bool = True, depth: int = 0) -> Any:
    """Give what a shell line prints, as IPython does; nothing where none is run."""
    if not _OURS["sealed"]:
        return _OURS["getoutput"](shell, command, split, depth)
    print(NOT_RUN)
    from IPython.utils.text import LSString, SList

    return SList() if split else LSString("")


def run(connection: int, arguments: list[Any]) -> None:
    """Lower the limits, enter the workspace, and become an ordinary ipykernel.

    ``arguments`` are the limits and places, the workspace, the folder to start in, and
    ipykernel's own. A byte on the connection says that the kernel listens.
    """
    held, workspace, folder, *own = arguments
    _OURS["confine"].confine(held["limits"], held["places"], sockets=True)
    _OURS["confine"].enter(workspace)
    os.chdir(folder)
    _OURS["sealed"] = _OURS["confine"].seal()
    app = _OURS["kernelapp"].IPKernelApp.instance()
    app.initialize(own)
    os.write(connection, LISTENS)
    os.close(connection)
    app.start()
