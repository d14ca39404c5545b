"""Run the tests of a file part by part, in a pytest session that is already set up.

Setting pytest up takes longer than most tests do, so the fork server of this kind does it once,
and every job is a fork of that. A part that runs apart does so in a fork of its own, so none can
disturb it, and says which files of the workspace it has read. The others of a file run together,
which is quicker, and tells less well what each has read.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import _prepareconfig

HERE = Path(__file__).resolve().parent
# Our own modules, under private names and not through the student's path.
_OURS: dict[str, Any] = {}


class Prepared:
    """A pytest session that is set up and has collected nothing."""

    def __init__(self, suite: Any, folder: Path) -> None:
        """Set it up as ``suite.run_suite`` does."""
        self.recorder = suite.Recorder(folder, None, ())
        self._broken = False
        with suite.no_settings():
            config = _prepareconfig(suite.arguments(folder), [self.recorder])
            config._do_configure()
            self.session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=self.session)

    def collect(self, root: Path, file: str) -> None:
        """Collect the tests of a file in a workspace; what is wrong with it is recorded."""
        config = self.session.config
        # All that a session knows of where it is.
        config._rootpath = self.session.path = root
        config.pluginmanager._confcutdir = root
        self.recorder.move(root)
        try:
            self.session.perform_collect([str(root / file)])
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
            self.recorder.give_up(f"{type(error).__name__}: {error}")
        # As pytest does: nothing runs where something could not be collected.
        self._broken = bool(self.session.testsfailed)

    def run(self, names: list[str]) -> Any:
        """Run the tests of these names, or all; give the report."""
        every = [] if self._broken else self.session.items
        items = [item for item in every if not names or _name(item) in names]
        complete = bool(items)
        if complete:
            self.recorder.begin()
        try:
            for item, following in zip(items, [*items[1:], None], strict=False):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except (pytest.exit.Exception, KeyboardInterrupt):
            complete = False
            self.recorder.give_up("the run was interrupted")
        return self.recorder.report(complete=complete)


def _name(item: pytest.Item) -> str:
    """Give a test's name without its parameters."""
    return item.nodeid.partition("::")[2].split("[")[0]


class Reads:
    """Which files of a workspace this process opens, and which folders it lists."""

    def __init__(self, root: Path) -> None:
        """Listen from now on; a process cannot stop that."""
        self._root = f"{root}/"
        self._paths: set[str] = set()
        sys.addaudithook(self._hear)

    def take(self) -> set[str]:
        """Give the paths since the last time, relative to the workspace; a folder's ends in "/"."""
        taken, self._paths = self._paths, set()
        return {path.removeprefix(self._root) or "./" for path in taken}

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in {"open", "os.listdir", "os.scandir"} and arguments:
            path = arguments[0]
            path = os.fspath(path) if isinstance(path, os.PathLike) else path
            if isinstance(path, str):
                whole = os.path.normpath(os.path.join(self._root, path))  # noqa: PTH118
                if whole.startswith(self._root) or f"{whole}/" == self._root:
                    self._paths.add(whole if event == "open" else f"{whole}/")


def run_file(
    prepared: Prepared, job: dict[str, Any], file: str, parts: list[dict[str, Any]], line: Any
) -> None:
    """Import one file and run parts of it, one after another."""
    root = Path(job["workspace"])
    reads = Reads(root)
    prepared.collect(root, file)
    run_and_say(prepared, parts, (reads, reads.take()), line)


def run_and_say(
    prepared: Prepared, parts: list[dict[str, Any]], heard: tuple[Reads, set[str]], line: Any
) -> None:
    """Run parts in this process; say of each what its tests said, and what it has read.

    Code is imported once, so what one part has imported counts for all that come after it.
    """
    reads, common = heard
    for part in parts:
        report = prepared.run(part["tests"])
        own = reads.take()
        line.send({"id": part["id"], "report": report.to_json(), "reads": sorted(own | common)})
        common |= {path for path in own if path.endswith((".py", ".pyc", "/"))}


def preload(load_script: Callable[[Path, str], Any]) -> None:
    """Import our own modules and set pytest up, once for all jobs."""
    _OURS.update({name: sys.modules[f"_courseware_{name}"] for name in ("confine", "suite")})
    _OURS["rows"] = load_script(HERE / "rows.py", "_courseware_rows")
    folder = Path(tempfile.mkdtemp())
    _OURS["prepared"] = Prepared(_OURS["suite"], folder)
    folder.rmdir()


def run(connection: int, _: list[Any]) -> None:
    """Read the job, lower the limits, run its files one after another, and say so at the end."""
    line = _OURS["rows"].Line(connection)
    job = line.receive()
    _OURS["confine"].confine(job["limits"], job["places"])
    _OURS["confine"].enter(job["workspace"])
    for row in job["files"]:
        # A fork that has imported a student's file forks no more, so each of these imports it.
        apart = [[part] for part in row["parts"] if part["apart"]]
        together = [part for part in row["parts"] if not part["apart"]]
        for parts in [*apart, *([together] if together else [])]:
            seconds = job["seconds"] * (1 + len(parts))
            work = partial(run_file, _OURS["prepared"], job, row["file"], parts, line)
            _OURS["rows"].in_fork(work, seconds)
    line.send({"end": True, "threads": 0})
