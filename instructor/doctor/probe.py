"""Look at one Python from the inside: packages, modules, a kernel, JupyterLab. Standard library.

It is started as ``probe.py WHAT [NAME …]`` by the Python in question, in the folder in question,
and prints one JSON object as its last line; ``trouble`` in it says what went wrong.
"""

import contextlib
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 90
LOOK_AGAIN_SECONDS = 0.1


def packages(names: list[str]) -> dict[str, Any]:
    """Give the version of Python and of each package, None where one is not installed."""
    versions: dict[str, str | None] = {}
    for name in names:
        versions[name] = None
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {"python": platform.python_version(), "versions": versions}


def modules(names: list[str]) -> dict[str, Any]:
    """Import each module from the current folder; give what could not be, and why."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    broken = {}
    for name in names:
        try:
            module = importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001  whatever a module does is the answer
            broken[name] = f"{type(error).__name__}: {error}"
        else:
            if not str(module.__file__).startswith(here):
                broken[name] = f"another one is found first, {module.__file__}"
    return {"broken": broken}


def kernel(_: list[str]) -> dict[str, Any]:
    """Start the kernel that notebooks use and have it calculate."""
    from jupyter_client.manager import start_new_kernel

    began = time.monotonic()
    manager, client = start_new_kernel(startup_timeout=SECONDS, kernel_name="python3")
    try:
        said: list[str] = []
        client.execute_interactive(
            "print(6 * 7)",
            timeout=SECONDS,
            output_hook=lambda message: said.append(message["content"].get("text", "")),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if "".join(said).strip() != "42":
        return {"trouble": f"asked for 6 * 7, the kernel said {''.join(said)!r}"}
    return {"seconds": time.monotonic() - began}


def lab(_: list[str]) -> dict[str, Any]:
    """Start JupyterLab on a free port, ask it for its page, and end it."""
    began = time.monotonic()
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.port=0", *root]
    with tempfile.TemporaryDirectory() as place, (Path(place) / "log").open("w+") as log:
        # Its record of running servers goes to a place of our own, where we find its address.
        environment = {**os.environ, "JUPYTER_RUNTIME_DIR": place}
        with subprocess.Popen(  # noqa: S603  this Python itself
            command, env=environment, stdout=log, stderr=log
        ) as server:
            try:
                for _look in looks(server):
                    if address := address_in(Path(place)):
                        urllib.request.urlopen(address, timeout=SECONDS).read()  # noqa: S310
                        return {"seconds": time.monotonic() - began}
            finally:
                server.terminate()
        log.seek(0)
        last = [line for line in log.read().splitlines() if line.strip()][-1:]
        return {"trouble": last[0].strip() if last else "it said nothing"}


def looks(server: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Yield now and then while a server runs and its time is not up."""
    end = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < end:
        yield
        time.sleep(LOOK_AGAIN_SECONDS)


def address_in(place: Path) -> str:
    """Give the address of JupyterLab's page from the record of a running server; "" for none."""
    for record in place.glob("jpserver-*.json"):
        with contextlib.suppress(ValueError):  # half written
            data = json.loads(record.read_text(encoding="utf-8"))
            return f"{data['url']}lab?token={data['token']}"
    return ""


def main() -> None:
    """Look, and print what was found."""
    sys.path.pop(0)  # the folder of this file
    what = {"packages": packages, "modules": modules, "kernel": kernel, "lab": lab}[sys.argv[1]]
    try:
        answer = what(sys.argv[2:])
    except Exception as error:  # noqa: BLE001  it is what was asked for
        answer = {"trouble": f"{type(error).__name__}: {error}"}
    print()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
