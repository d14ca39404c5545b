"""Does this machine hold students' code? Attacks are tried, the way that a student's code would.

``tiers.py`` chooses by it, and ``instructor doctor`` shows it.
"""

import contextlib
import functools
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.sandbox import places, seccomp, tiers
from instructor.sandbox.forks import ForkServerGone, fork, retire
from instructor.sandbox.landlock import version as landlock_version
from instructor.sandbox.process import Limits, clean_environment
from instructor.sandbox.tiers import A

COURSE_FILE = COURSE / "instructor" / "__init__.py"
_SECONDS = 20.0
_MODE = 0o640


@dataclass(frozen=True)
class AttackResult:
    """One attack: what it is called, whether it was contained, and what it came to."""

    name: str
    contained: bool
    said: str


@dataclass(frozen=True)
class Trial:
    """All attacks in one tier; ``trouble`` says why students' work would not run in it at all."""

    results: tuple[AttackResult, ...]
    trouble: str = ""

    @property
    def holds(self) -> bool:
        """Tell whether work runs and no attack succeeds."""
        return not self.trouble and all(result.contained for result in self.results)


def attack_results() -> list[AttackResult]:
    """Try every attack in the tier that this machine has, and say what came of each.

    In tier C that shows what is open. Established once a process.
    """
    return list(trial(tiers.tier()).results)


def contains(tier: str) -> bool:
    """Tell whether every attack is contained in a tier, and students' work runs in it."""
    return trial(tier).holds


def missing(wanted: str) -> list[str]:
    """Say what a machine lacks for a tier, and what to do about each, a sentence or two a piece."""
    lacks = []
    if sys.platform != "linux":
        return ["Only Linux can do that; a virtual machine or a container with it can, too."]
    if wanted == A and not shutil.which("bwrap"):
        lacks.append("bubblewrap is not installed: install the package bubblewrap.")
    if seccomp.make() is None:
        lacks.append("libseccomp is not installed: install the package libseccomp2 or libseccomp.")
    if wanted != A and not landlock_version():
        lacks.append(
            "The kernel has no Landlock (Linux 5.13 or newer, with landlock among its security "
            "modules): install the package bubblewrap, or start a kernel that has it."
        )
    return lacks or ([] if contains(wanted) else [_what_came_through(wanted)])


def _what_came_through(wanted: str) -> str:
    tried = trial(wanted)
    if tried.trouble:
        refused = "Namespaces are refused here, as in many containers. " if wanted == A else ""
        return f"{refused}A trial of it ended so: {tried.trouble}."
    open_still = ", ".join(result.name for result in tried.results if not result.contained)
    return f"In a trial of it, code could still do this: {open_still}."


@functools.cache
def trial(tier: str) -> Trial:
    """Try all attacks in one tier, as code of a job and as code of a notebook."""
    if tier == A and not shutil.which("bwrap"):
        return Trial((), "there is no bubblewrap")
    with tiers.trying(tier), tempfile.TemporaryDirectory() as folder, _targets(folder) as targets:
        try:
            rounds = [_one_round(targets, sockets=sockets) for sockets in (False, True)]
        finally:
            retire("attacks")
        mode = _mode_result(targets["yours"])
    trouble = next((said["trouble"] for said in rounds if said["trouble"]), "")
    if trouble:
        return Trial((), trouble)
    job, notebook = (said["attacks"] for said in rounds)
    results = [_result(name, job[name], notebook[name]) for name in job]
    return Trial((*results, mode))


def _result(name: str, *said: str) -> AttackResult:
    contained = all(said)
    return AttackResult(name, contained, said[0] if contained else "it succeeded")


def _mode_result(yours: Path) -> AttackResult:
    """Look whether a mode was changed; who asks for that is told that it was, in any case."""
    name = "change who may read a file of yours"
    kept = yours.exists() and yours.stat().st_mode & 0o777 == _MODE
    return AttackResult(name, kept, "it was not changed" if kept else "it succeeded")


def _one_round(targets: dict[str, Any], *, sockets: bool) -> dict[str, Any]:
    """Have one fork try everything; an answer that is none is trouble."""
    root = targets["root"]
    ours, theirs = socket.socketpair()
    copies = root / "copies"
    own = copies / "own"
    places_of_it = places.places([own])
    request = {
        **targets,
        "limits": Limits().for_child(), "places": places_of_it, "sockets": sockets, "own": str(own),
    }  # fmt: skip
    with ours:
        try:
            with theirs:
                environment = clean_environment(root / "scratch")
                # Landlock has to hold it to its own copy where a box shows several.
                shown = places.shown_to([copies if landlock_version() else own])
                child = fork("attacks", [], environment, theirs.fileno(), listen=False, shown=shown)
            ours.settimeout(_SECONDS)
            ours.sendall(json.dumps(request, default=str).encode() + b"\n")
            answer = ours.makefile("rb").readline()
            child.kill()
            child.wait()
            said: dict[str, Any] = json.loads(answer)
        except (ForkServerGone, OSError, ValueError) as error:
            return {"trouble": str(error) or "its process does not start", "attacks": {}}
    return said


@contextlib.contextmanager
def _targets(folder: str) -> Iterator[dict[str, Any]]:
    """Make what the attacks are after: files, folders, and programs that listen."""
    root = Path(folder).resolve()
    yours, other = root / "yours", root / "copies" / "other"
    for folder_of_it in (other, other.with_name("own"), root / "scratch"):
        folder_of_it.mkdir(parents=True)
    yours.write_text("x")
    yours.chmod(_MODE)
    (other / "work").write_text("x")
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        udp.bind(("127.0.0.1", 0))
        by_path.bind(str(root / "socket"))
        by_path.listen()
        by_name.bind(f"\0{root.name}" if sys.platform == "linux" else str(root / "socket2"))
        by_name.listen()
        yield {
            "root": root, "yours": yours, "other": other, "course": COURSE_FILE,
            "port": tcp.getsockname()[1], "udp": udp.getsockname()[1], "path": root / "socket",
            "abstract": root.name, "grader": os.getpid(),
        }  # fmt: skip
