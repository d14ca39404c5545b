"""Which slips of a gate a pair's tests would not notice: by name, and without the code.

The wrong gates come from the self-study data. Each takes the gate's place while the pair's tests
run, in this process. The grader does the same behind its sandbox, with more of them.
"""

import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.cards import Card, Line, Note
from lab.fresh import forget, fresh
from lab.solutions import load_study
from lab.suite import SuiteReport, run_suite
from lab.workshop import Evidence, Workshop, WorkshopError

ADVICE = "Write a test, or sharpen one, that such a gate would turn red."


def find_slips(root: Path, workshop: Workshop) -> Card | Note:
    """Run a pair's tests on a right gate, then on each wrong one; a line for each slip."""
    evidence = _catching(workshop)
    data = load_study(root, workshop.id)
    if data is None:
        return Note(
            "Found: no wrong gates; this workspace was made for a class. Expected: a workspace for "
            "self-study. Next: hand in, and your teacher's report names the slips that your tests "
            "would not notice."
        )
    file = evidence.options["file"]
    if not (root / file).is_file():
        raise WorkshopError(f"{file} is missing. Get it back: git checkout -- {file}")
    title = workshop.block(evidence.block).title
    with tempfile.TemporaryDirectory() as folder:
        gates = _Gates(root, workshop, data, Path(folder))
        said = _trouble(gates.run(file, data["reference"]))
        if said:
            line = Line("Your tests pass on a gate that is right.", "fail", said, "", _first(file))
            return Card(f"{title}: the slips are not looked at yet.", (line,))
        lines = tuple(_line(g, gates.run(file, g["source"])) for g in data["wrong_gates"])
    noticed = sum(line.outcome == "pass" for line in lines)
    return Card(f"{title}: your tests notice {noticed} of {len(lines)} slips.", lines)


class _Gates:
    """Gates of ours, each in the place of the pair's while its tests run."""

    def __init__(
        self, root: Path, workshop: Workshop, data: Mapping[str, Any], folder: Path
    ) -> None:
        """Lay the files that a right gate reads beside it into ``folder``."""
        self._root = root
        self._gate = workshop.gate
        self._file = folder / Path(workshop.gate.file).name
        for name, text in data["beside"].items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")

    def run(self, file: str, source: str) -> SuiteReport:
        """Run the pair's tests on the gate with this source, up to the first failure."""
        forget()
        module = types.ModuleType(self._gate.module)
        module.__file__ = str(self._file)
        exec(compile(source, str(self._file), "exec"), module.__dict__)  # noqa: S102  our own
        with _in_place(module, self._own()):
            return run_suite(self._root, file, stop_at_failure=True)

    def _own(self) -> types.ModuleType | None:
        """Import the pair's gate, for a name outside of the contract; None where it cannot be."""
        try:
            return fresh(self._gate.module)
        except (Exception, SystemExit):  # noqa: BLE001  a pair's module may raise anything
            return None


@contextmanager
def _in_place(module: types.ModuleType, own: types.ModuleType | None) -> Iterator[None]:
    name = module.__name__
    package, child = sys.modules["lab"], name.removeprefix("lab.")

    def look_up(wanted: str) -> Any:
        if own is None or wanted.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        return getattr(own, wanted)

    module.__getattr__ = look_up  # type: ignore[method-assign]
    sys.modules[name] = module
    setattr(package, child, module)
    try:
        yield
    finally:
        forget()


def _catching(workshop: Workshop) -> Evidence:
    for evidence in workshop.evidence:
        if evidence.kind == "wrong_gates" and evidence.options["layer"] == "core":
            return evidence
    raise WorkshopError(f"{workshop.id} asks for no tests of yours.")


def _first(file: str) -> str:
    return (
        f"Mend that test in {file} first. What is red on a right gate says nothing of a wrong one."
    )


def _line(gate: Mapping[str, str], report: SuiteReport) -> Line:
    if _trouble(report):
        return Line(f"A gate that {gate['slip']}.", "pass")
    found = "Your tests are green on it."
    return Line(f"A gate that {gate['slip']}.", "fail", found, "One of them is red.", ADVICE)


def _trouble(report: SuiteReport) -> str:
    """Say what does not pass; "" when every test does."""
    for test in report.tests:
        if test.outcome != "passed":
            return f"{test.name}: {test.message or test.outcome}"
    if report.trouble or not report.complete or not report.tests:
        return report.trouble or "There is no test in the file."
    return ""
