"""Judge the evidence that a pair can see: one line for each check, as coach and terminal show it.

The grader runs the same tests and judges them in the same way, and more besides.
"""

from pathlib import Path

from lab.cards import Line
from lab.fresh import forget
from lab.suite import SuiteReport, SuiteVerdict, judge, judge_own, run_suite
from lab.workshop import Evidence, Workshop


class Checks:
    """The visible checks of one workshop on one state of its files; each file of them runs once."""

    def __init__(self, root: Path, workshop: Workshop, block_id: str = "") -> None:
        """Take the workspace; with a block, only what it and those it needs ask for is run."""
        self._root = root
        self._workshop = workshop
        self._suites = [item for item in workshop.evidence if item.kind == "suite"]
        if block_id:
            self._suites = _suites_up_to(block_id, workshop)
        self._runs: dict[str, SuiteReport] = {}

    def lines(self, block_id: str) -> tuple[Line, ...]:
        """Give a line for each visible check of a block, in the order in which a pair meets it."""
        evidence = self._workshop.evidence_of(block_id)
        return tuple(line for item in evidence if item.kind == "suite" for line in self._of(item))

    def outcome(self, evidence: Evidence) -> str:
        """Give the outcome of one suite as a whole: pass, fail, or blocked by another block."""
        if self._waits_for(evidence):
            return "blocked"
        return "pass" if self._verdict(evidence).passed else "fail"

    def _of(self, evidence: Evidence) -> list[Line]:
        """Judge a suite test by test, so that each check has a line of its own."""
        if title := self._waits_for(evidence):
            found, advice = f"It builds on “{title}”.", f"Finish “{title}” first."
            return [Line(evidence.title, "blocked", found, "", advice, evidence.id)]
        report = self._report(evidence.options["file"])
        if "tests" not in evidence.options:
            return [_line(evidence, evidence.title, evidence.id, self._verdict(evidence))]
        titles = {test.name: test.title for test in report.tests}
        names = evidence.options["tests"]
        return [_line(evidence, titles.get(n, n), n, judge(report, [n])) for n in names]

    def _waits_for(self, evidence: Evidence) -> str:
        """Give the title of the first block that this needs and that is not reached; "" if none."""
        for needed in evidence.needs:
            suites = [e for e in self._workshop.evidence_of(needed) if e.kind == "suite"]
            if not all(self._verdict(e).passed for e in suites):
                return self._workshop.block(needed).title
        return ""

    def _verdict(self, evidence: Evidence) -> SuiteVerdict:
        """Judge the named tests of a suite, or all of a pair's own."""
        report = self._report(evidence.options["file"])
        if "tests" in evidence.options:
            return judge(report, evidence.options["tests"])
        return judge_own(report, evidence.options["at_least"])

    def _report(self, file: str) -> SuiteReport:
        if file not in self._runs:
            self._runs[file] = self._run(file)
        return self._runs[file]

    def _run(self, file: str) -> SuiteReport:
        """Run the tests of a file that count here; all of them where a pair's own do."""
        forget()
        if not (self._root / file).is_file():
            return SuiteReport(False, (), f"{file} is missing. Get it back: git checkout -- {file}")
        asked = [item.options.get("tests") for item in self._suites if item.options["file"] == file]
        named = [name for names in asked if names for name in names]
        return run_suite(self._root, file, named if all(asked) else ())


def _suites_up_to(block_id: str, workshop: Workshop) -> list[Evidence]:
    """List the suites of a block, and of the blocks that it needs."""
    own = [item for item in workshop.evidence_of(block_id) if item.kind == "suite"]
    needed = dict.fromkeys(block for item in own for block in item.needs)
    return own + [item for block in needed for item in _suites_up_to(block, workshop)]


def _line(evidence: Evidence, title: str, name: str, verdict: SuiteVerdict) -> Line:
    if verdict.passed:
        return Line(title, "pass", name=name)
    expected = "" if verdict.expected == title else verdict.expected
    unreadable = any(sign in verdict.found for sign in ("is not JSON", "cannot be imported"))
    advice = "Mend the place that is named, save the file, and check again."
    chosen = advice if unreadable else evidence.next
    return Line(title, "fail", verdict.found, expected, chosen, name)
