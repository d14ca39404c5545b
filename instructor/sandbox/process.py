"""Fork one child, talk to it, and end it with everything that it started."""

import json
import os
import selectors
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from instructor.sandbox.forks import Fork, end_session, fork
from instructor.sandbox.places import places, shown_to
from instructor.sandbox.quota import Quota, watched
from instructor.sandbox.rows import how_it_ended
from instructor.sandbox.strays import end_strays, names_beside, running_below

MIB = 1 << 20
LONGEST_LINE = 4 * MIB

# A message from a child, as parsed JSON.
Message = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """What one child may use. Seconds of wall clock and CPU, bytes of everything else."""

    wall_seconds: float = 20.0
    cpu_seconds: int = 20
    memory_bytes: int = 1024 * MIB
    file_bytes: int = 16 * MIB
    output_bytes: int = 1 * MIB
    result_bytes: int = 32 * MIB
    open_files: int = 256

    def for_child(self) -> dict[str, int]:
        """Give the part that the child sets on itself, by the names of ``setrlimit``."""
        return {
            "CPU": self.cpu_seconds,
            "AS": self.memory_bytes,
            "FSIZE": self.file_bytes,
            "NOFILE": self.open_files,
            "CORE": 0,
        }


@dataclass
class ChildRun:
    """What a child said, and how it ended: ``finished``, or why it did not.

    ``survivors`` names what it had started and left running when it reached its own end,
    ``too_much`` what it put on the disk, where it was ended for that.
    """

    messages: list[Message] = field(default_factory=list)
    ending: str = "finished"
    output_bytes: int = 0
    survivors: tuple[str, ...] = ()
    too_much: str = ""

    @property
    def finished(self) -> bool:
        """Tell whether the child reached its own end within its limits."""
        return self.ending == "finished"


class _Stop(Exception):  # noqa: N818  a signal between two functions here, not an error
    """The child has to end now; the text says why."""


def run_child(
    job: Message,
    scratch: Path,
    limits: Limits,
    answer: Callable[[Message], Message] | None = None,
) -> ChildRun:
    """Run a job of ``child.py`` and collect its messages; ``answer`` replies to its calls.

    It works in its ``workspace`` and in ``scratch``, and in ``more`` folders where it names some;
    those that it ``reads`` stay as they are.

    The child's standard input is empty, its output is counted and thrown away, and when this
    returns no process that it started is alive.
    """
    # The kind of job that has a server of its own.
    server = "parts" if job["kind"] == "parts" else "jobs"
    before = running_below()
    folders = [Path(job["workspace"]), scratch, *map(Path, job.get("more", ()))]
    read = [Path(folder) for folder in job.get("reads", ())]
    held, shown = places(folders, read), shown_to([*folders, *read])
    environment = clean_environment(scratch)
    ours, theirs = socket.socketpair()
    run = ChildRun()
    with ours:
        with theirs:
            process = fork(server, [], environment, theirs.fileno(), shown=shown)
        try:
            request = {**job, "limits": limits.for_child(), "places": held}
            ours.settimeout(limits.wall_seconds)
            ours.sendall(json.dumps(request).encode() + b"\n")
            # In a thread, for an answer may take long.
            with watched(Quota(folders, lambda: process.pid), partial(_end_early, process, run)):
                _listen(process, ours, limits, run, answer)
        except (_Stop, OSError) as stop:
            said = str(stop) if isinstance(stop, _Stop) else "it closed its connection"
            run.ending = run.too_much or said
        finally:
            left = _end(process, before)
    if run.finished:
        threads = any(message.get("threads") for message in run.messages)
        run.survivors = (*left, *(["a thread"] if threads else []))
    return run


def clean_environment(scratch: Path) -> dict[str, str]:
    """Give the environment of a child: nothing of the teacher's, every cache in its own folder."""
    folders = {
        name: str(scratch / name.lower())
        for name in ("HOME", "TMPDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                     "JUPYTER_RUNTIME_DIR", "XDG_CACHE_HOME")
    }  # fmt: skip
    for folder in folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        **folders,
    }


def _listen(  # noqa: C901  one loop over two streams, read in one go
    process: Fork,
    ours: socket.socket,
    limits: Limits,
    run: ChildRun,
    answer: Callable[[Message], Message] | None,
) -> None:
    """Read the child's output and messages until it ends, or raise ``_Stop``."""
    assert process.stdout is not None  # noqa: S101  we listen
    deadline = time.monotonic() + limits.wall_seconds
    pending = b""
    received = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(ours, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(0.2)
            if time.monotonic() > deadline:
                raise _Stop(f"it was not done after {limits.wall_seconds:g} seconds")
            if not ready and process.poll() is not None:
                break  # only something that it started still holds the pipes
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fd)
                elif key.fileobj is ours:
                    received += len(data)
                    _check_size(received, limits.result_bytes, "returned")
                    *lines, pending = (pending + data).split(b"\n")
                    _check_size(len(pending), LONGEST_LINE, "returned")
                    _take(lines, ours, run, answer)
                    if run.messages and "end" in run.messages[-1]:
                        return  # a thread or a child of it may keep the pipes open
                else:
                    run.output_bytes += len(data)
                    _check_size(run.output_bytes, limits.output_bytes, "printed")
            if ours.fileno() not in selector.get_map():
                break
    if not any("end" in message for message in run.messages):
        raise _Stop(_how_it_ended(process))


def _check_size(size: int, limit: int, verb: str) -> None:
    if size > limit:
        raise _Stop(f"it {verb} more than {limit // MIB} MiB")


def _take(
    lines: list[bytes],
    ours: socket.socket,
    run: ChildRun,
    answer: Callable[[Message], Message] | None,
) -> None:
    for line in lines:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Stop("it sent something that is not a result") from error
        if not isinstance(message, dict):
            raise _Stop("it sent something that is not a result")
        if "call" in message and answer is not None:
            ours.sendall(json.dumps(answer(message)).encode() + b"\n")
        else:
            run.messages.append(message)


def _how_it_ended(process: Fork) -> str:
    try:
        code = process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        return "it closed its connection and went on running"
    return how_it_ended(code)


def _end_early(process: Fork, run: ChildRun, problem: str) -> None:
    """End a child from another thread than the one that listens to it, and note why."""
    run.too_much = problem
    end_session(process.pid)


def _end(process: Fork, before: set[int]) -> tuple[str, ...]:
    """End a child with all that it started; name what was alive beside it."""
    names = names_beside({process.pid, *before})
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()
    return tuple(sorted({*names, *end_strays(before)}))
