"""A fork server: imports what every job needs, once, then forks a child for each job.

It is started as ``zygote.py SOCKET KIND`` and never runs a line of a student's code or holds an
answer; its children do the jobs. One job runs at a time. On the socket it says its own process id
when it is ready. Then it gets a JSON line with two descriptors (where the child's output goes, and
its connection or /dev/null), says the child's process id, and then how the child ended. A handle
comes with each id: in a box the grader knows the process by another one.
"""

import contextlib
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LAB = HERE.parents[1] / "lab"
LONGEST_REQUEST = 1 << 16
# What most tests do, so that pytest has done it once.
WARM_UP = """
import pytest

@pytest.fixture
def given():
    return {"a": [1]}

@pytest.mark.parametrize("value", [1, 2])
def test_passing(given, value, tmp_path, monkeypatch):
    with pytest.raises(KeyError, match="b"):
        given["b"]

def test_failing():
    assert [1] == [2], "no"
"""


def load_script(path: Path, name: str) -> types.ModuleType:
    """Import one of our own files under a private name, not through the student's path."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101  a file of ours is there
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def preload(kind: str) -> Any:
    """Import what the jobs of a kind need, and give the function that does one in a child."""
    for part in ("landlock", "seccomp"):
        load_script(HERE / f"{part}.py", f"_courseware_{part}")
    confine = load_script(HERE / "confine.py", "_courseware_confine")
    confine.prepare()
    confine.leave_out_slow_formats()
    if kind != "attacks":
        import_libraries()
    name = {"jobs": "child", "kernels": "kernel", "parts": "parts", "attacks": "attacks"}[kind]
    module = load_script(HERE / f"{name}.py", f"_courseware_{name}")
    module.preload(load_script)
    return module.run


def import_libraries() -> None:
    """Import what students' work needs."""
    import jsonschema
    import pytest  # noqa: F401

    # The first use of a validator reads the specifications; every fork would do it anew.
    jsonschema.Draft202012Validator.check_schema({"type": "object"})
    # The first run of pytest loads its plugins; every fork has them then.
    suite = load_script(LAB / "suite.py", "_courseware_suite")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_warm.py").write_text(WARM_UP, encoding="utf-8")
        suite.run_suite(Path(folder), "test_warm.py")


def announce(control: socket.socket, pid: int) -> None:
    """Say a process's id, with a handle on it where the system has such handles."""
    line = b"%d\n" % pid
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        control.sendall(line)
        return
    socket.send_fds(control, [line], [handle])
    os.close(handle)


def serve(control: socket.socket, run: Any) -> None:
    """Fork a child for each request, until the grader hangs up."""
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            data, descriptors, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 2)
        except ConnectionResetError:  # the grader has ended without reading how a child did
            return
        if not data:
            return
        child = os.fork()
        if not child:
            close_all_but(descriptors)
            become(json.loads(data), descriptors, run)
        for descriptor in descriptors:
            os.close(descriptor)
        announce(control, child)
        status = wait_for(child, control, wake)
        if status is None:
            return
        control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def wait_for(child: int, control: socket.socket, wake: int) -> int | None:
    """Wait until a child has ended; end it and give None when the grader hangs up before."""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        ready, _, _ = select.select([control.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 1000)
        if control.fileno() in ready and not control.recv(1, socket.MSG_PEEK):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            return None


def close_all_but(kept: list[int]) -> None:
    """Close every descriptor but the standard ones and these."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    low = 3
    for number in sorted(kept):
        os.closerange(low, number)
        low = number + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def become(request: dict[str, Any], descriptors: list[int], run: Any) -> None:
    """Make this fork the job's process, do the job, and end without any cleanup of the server's."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        output, connection = descriptors
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for number in (nothing, output):
            os.close(number)
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None
        sys.modules["_courseware_confine"].die_with_parent()
        run(connection, request["arguments"])
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:  # noqa: BLE001  whatever happens, this fork must not go on as a server
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Preload, then serve; with ``compile`` for a socket, only preload."""
    if sys.argv[1] == "compile":
        preload(sys.argv[2])
        return
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    # Ctrl-C goes to every process of a terminal; the grader decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run = preload(sys.argv[2])
    # What was just imported is compiled once for all servers, what students wrote never.
    sys.dont_write_bytecode = True
    sys.argv[:] = ["workspace"]
    gc.collect()
    gc.freeze()
    sys.modules["_courseware_confine"].collect_seldom()
    announce(control, os.getpid())
    serve(control, run)


if __name__ == "__main__":
    main()
