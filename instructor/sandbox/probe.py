"""Try what Landlock is to prevent, and print "held" when nothing of it succeeds.

It is started as ``probe.py REQUEST`` (JSON) by ``places.tier``. Standard library only.
"""

import contextlib
import json
import os
import runpy
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def main() -> None:
    """Give up everything but the places named, then try each attack."""
    request = json.loads(sys.argv[1])
    landlock = runpy.run_path(str(Path(__file__).with_name("landlock.py")))
    try:
        landlock["restrict"](**request["places"])
    except OSError as error:
        print("not held:", error)
        return
    succeeded = [name for name, attack in attacks(request) if _succeeds(attack)]
    works = _succeeds(lambda: inside(request))
    print(f"not held: {succeeded}" if succeeded or not works else "held")


def attacks(request: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what must fail, by name."""
    yield "read", lambda: Path(request["read"]).read_text()
    yield "read the course", lambda: Path(request["course"]).read_text()
    yield "write", lambda: Path(request["write"]).write_text("y")
    yield "delete", lambda: Path(request["write"]).unlink()
    yield "connect", lambda: socket.create_connection(("127.0.0.1", request["port"]), 5)
    yield "signal", lambda: os.kill(os.getppid(), 0)


def inside(request: dict[str, Any]) -> None:
    """Do what must still work: write and read in the own folder."""
    with tempfile.TemporaryDirectory(dir=request["places"]["writable"][-1]) as folder:
        (Path(folder) / "file").write_text("x")


def _succeeds(attack: Callable[[], object]) -> bool:
    with contextlib.suppress(OSError):
        attack()
        return True
    return False


if __name__ == "__main__":
    main()
