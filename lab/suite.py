"""Run one pytest file and report what each test said.

The coach runs it in the notebook's own process, the grader in a child process; both get the same
report and judge it the same way. pytest's exit code is never looked at: it is 0 after
``os._exit(0)``, a hostile ``conftest.py`` or a skip. A test counts when it is reported as passed.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

MESSAGE_CHARACTERS = 600
# How a shortened text goes on, before the number of characters that are gone.
CUT = "… ("
NO_KEYBOARD = "there is no keyboard here"
# Plugins that nobody needs here; leaving them out saves start-up time on every check.
UNUSED_PLUGINS = (
    "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "pastebin",
    "setuponly", "setupplan", "stepwise", "terminal",
    # These two collect garbage around every run, which costs more than the tests do.
    "unraisableexception", "threadexception",
)  # fmt: skip


@dataclass(frozen=True)
class TestReport:
    """What one test said: its name, ``passed`` or another word of pytest's, and why."""

    __test__ = False

    name: str
    outcome: str
    title: str
    message: str


@dataclass(frozen=True)
class SuiteReport:
    """What a run said: complete only if pytest reached its own end."""

    complete: bool
    tests: tuple[TestReport, ...]
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the report as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SuiteReport":
        """Read what ``to_json`` gave; raise ``KeyError`` or ``TypeError`` for another shape."""
        tests = tuple(TestReport(**{k: str(v) for k, v in test.items()}) for test in data["tests"])
        return cls(data["complete"] is True, tests, str(data["trouble"]))


@dataclass(frozen=True)
class SuiteVerdict:
    """The judgement on a set of tests: what was found and expected in the first that failed."""

    passed: bool
    found: str
    expected: str


def run_suite(
    root: Path,
    file: str,
    names: Collection[str] = (),
    stop_at_failure: bool = False,
    on_test: Callable[[str], None] | None = None,
    plugin: Callable[["Recorder"], object] | None = None,
) -> SuiteReport:
    """Run the tests of one file, given relative to ``root``, in this process; all without names.

    ``on_test`` is told the name of each test that begins; ``plugin`` makes one more plugin of
    pytest's from what records the run.
    """
    recorder = Recorder(root, on_test, frozenset(names))
    stop = ["--maxfail=1"] if stop_at_failure else []
    _forget_file(str(root / file))
    with no_settings():
        pytest.main(
            [str(root / file), *stop, *arguments(root)],
            plugins=[recorder, *([plugin(recorder)] if plugin else [])],
        )
    return recorder.report()


def arguments(root: Path) -> list[str]:
    """Give pytest's arguments for a run below ``root`` that reads no settings of anybody's."""
    return [
        "-c", os.devnull, "--rootdir", str(root), "--confcutdir", str(root),
        "--noconftest", "--import-mode=importlib", "--assert=plain", "--capture=sys",
        *(part for name in UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
    ]  # fmt: skip


def judge(report: SuiteReport, names: Iterable[str]) -> SuiteVerdict:
    """Pass only when each of the named tests is reported, once, as passed."""
    by_name: dict[str, list[TestReport]] = {}
    for test in report.tests:
        by_name.setdefault(test.name.split("[")[0], []).append(test)
    expected = list(names)
    for name in expected:
        tests = by_name.get(name, [])
        bad = next((test for test in tests if test.outcome != "passed"), None)
        if bad:
            found = bad.message or f"{name} is {bad.outcome}, not passed"
            return SuiteVerdict(False, found, bad.title)
        if not tests:
            found = report.trouble or f"{name} did not run"
            return SuiteVerdict(False, found, f"{name} runs and passes")
    if not report.complete or not expected:
        return SuiteVerdict(False, report.trouble or "the tests did not run to the end", "all run")
    number = len(expected)
    return SuiteVerdict(True, f"{number} of {number} checks pass", "")


def judge_own(report: SuiteReport, at_least: int) -> SuiteVerdict:
    """Judge a pair's own tests: every one passes, and there are enough of them."""
    names = list(dict.fromkeys(test.name.split("[")[0] for test in report.tests))
    if names and len(names) < at_least:
        missing = f"{len(names)} tests run."
        return SuiteVerdict(False, missing, f"At least {at_least} tests run, and all pass.")
    return judge(report, names)


def _forget_file(path: str) -> None:
    """Drop the module of a test file: pytest would not import a file again that was edited."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == path:
            del sys.modules[name]


class Recorder:
    """A pytest plugin that keeps one report per test."""

    def __init__(
        self, root: Path, on_test: Callable[[str], None] | None, names: Collection[str]
    ) -> None:
        """Record runs below ``root`` of the tests with these names, or of all without any."""
        self._root = root.resolve()
        self._names = names
        self._on_test = on_test
        self._complete = False
        self.begin()

    def begin(self) -> None:
        """Forget what was said so far."""
        self._tests: dict[str, TestReport] = {}
        self._trouble = ""

    def move(self, root: Path) -> None:
        """Record runs below another folder."""
        self._root = root.resolve()

    def give_up(self, trouble: str) -> None:
        """Note what keeps the tests from being collected, unless that is known already."""
        self._trouble = self._trouble or cut(trouble)

    @property
    def failed(self) -> bool:
        """Tell whether a test failed."""
        return any(test.outcome == "failed" for test in self._tests.values())

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what nobody asked for; a name that is not there costs only itself."""
        if self._names:
            items[:] = [i for i in items if _test_name(i).split("[")[0] in self._names]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say that a test begins."""
        if self._on_test:
            self._on_test(nodeid.partition("::")[2])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Keep what a test said."""
        report = yield
        name = _test_name(item)
        if report.when == "call" or report.outcome != "passed":
            message = describe(call.excinfo, self._root) if call.excinfo else ""
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            title = (getattr(getattr(item, "obj", None), "__doc__", None) or name).split("\n\n")[0]
            self._tests[name] = TestReport(name, outcome, " ".join(title.split()), message)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        """Keep what kept a file from being read."""
        report = yield
        if report.failed and not self._trouble:
            call = getattr(report, "call", None)
            lines = [
                line[1:].strip() for line in report.longreprtext.splitlines() if line[:2] == "E "
            ]
            raised = describe(call.excinfo, self._root) if call and call.excinfo else ""
            self._trouble = cut(lines[-1] if lines else raised or f"{collector.name} fails")
        return report

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Note whether pytest came to its own end."""
        self._complete = int(exitstatus) in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if int(exitstatus) == pytest.ExitCode.INTERRUPTED and not self._trouble:
            self._trouble = "the run was interrupted"

    def report(self, complete: bool = False) -> SuiteReport:
        """Give what was said so far; ``complete`` is said by whoever saw the end without pytest."""
        done = complete or self._complete
        return SuiteReport(done, tuple(self._tests.values()), self._trouble)


def describe(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> str:
    """Say in one line what was raised, and where in the pair's own files."""
    error = excinfo.value
    text = _text_of(error)
    if isinstance(error, pytest.fail.Exception):
        return cut(text)
    if isinstance(error, AssertionError) and text:
        return cut(text)
    place = _place(excinfo, root)
    return cut(f"{type(error).__name__}: {text}" + (f" ({place})" if place else ""))


def cut(text: str, limit: int = MESSAGE_CHARACTERS) -> str:
    """Shorten a text to ``limit`` characters, keeping its beginning and saying what is gone."""
    gone = len(text) - limit
    return text if gone <= 0 else f"{text[:limit]}{CUT}{gone} more characters)"


def uncut(text: str) -> str:
    """Give what ``cut`` left of a text, without what it says is gone."""
    return text.partition(CUT)[0]


def _test_name(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[2]


def _text_of(error: BaseException) -> str:
    try:
        text = str(error)
        if isinstance(error, MemoryError):
            return text or "it asks for more memory than it may use"
        return NO_KEYBOARD if text.startswith("pytest: reading from stdin") else text
    except Exception as inner:  # noqa: BLE001  an exception of a stranger's may not print itself
        return f"(its text raises {type(inner).__name__})"


def _place(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> str:
    for entry in reversed(excinfo.traceback):
        path = Path(entry.path).resolve()
        if path.is_relative_to(root):
            return f"{path.relative_to(root).as_posix()}, line {entry.lineno + 1}"
    return ""


@contextmanager
def no_settings() -> Iterator[None]:
    """Keep pytest from reading the environment's settings and plugins."""
    values = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
