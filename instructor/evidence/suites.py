"""Evidence ``suite``: pytest tests that must all be reported as passed.

``tests`` names them, in our copy of the suite; with ``at_least`` the file is the pair's own, and
that many tests of any name must pass, and every test that is there.
"""

from collections.abc import Callable

from instructor.evidence.bench import Bench, Finding
from instructor.evidence.desk import Rows
from instructor.sandbox.process import Message
from lab.suite import SuiteReport, SuiteVerdict, judge_own
from lab.suite import judge as judge_tests
from lab.workshop import Evidence


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Run the tests in the sandbox and judge their report here."""
    file = evidence.options["file"]
    if not (bench.snapshot / file).is_file():
        return Finding("fail", f"{file} is missing.", "The file is there, with its tests.")
    rows = _all_suites(file, bench)
    report = read_report(rows, evidence.id)
    if report is None:
        ending = ending_of(rows, evidence.id)
        return Finding("fail", f"The tests did not reach their end: {ending}.", "They end.")
    verdict = judge_report(evidence, report)
    outcome = "pass" if verdict.passed else "fail"
    return Finding(outcome, bench.shown(verdict.found), verdict.expected)


def run_suites(
    rows: list[Message], bench: Bench, answer: Callable[[Message], Message] | None = None
) -> Rows:
    """Run pytest files in one child, each in a fork and a time limit of its own.

    A row has an ``id``, a ``file``, and where wanted ``tests`` and a ``remote`` gate.
    """
    return bench.run_rows(
        {"kind": "suites"}, rows, bench.seconds, bench.seconds * len(rows), answer
    )


def read_report(rows: Rows, name: str) -> SuiteReport | None:
    """Read the report of one run; None where it is missing or misshapen, or the run broke off."""
    said = rows.answers.get(name, {})
    if "report" not in said or said.get("ending"):
        return None
    try:
        return SuiteReport.from_json(said["report"])
    except (KeyError, TypeError, AttributeError):
        return None


def ending_of(rows: Rows, name: str) -> str:
    """Say how a run without a report ended."""
    said = rows.answers.get(name, {})
    return str(said.get("ending") or rows.trouble or "it ended Python itself")


def judge_report(evidence: Evidence, report: SuiteReport) -> SuiteVerdict:
    """Judge the named tests, or all of a pair's own."""
    if "tests" in evidence.options:
        return judge_tests(report, evidence.options["tests"])
    return judge_own(report, evidence.options["at_least"])


def _all_suites(file: str, bench: Bench) -> Rows:
    """Run every suite of the workshop that uses a file, once for all of its evidence."""
    if file not in bench.suites:
        rows = [
            {"id": item.id, "file": file, "tests": item.options.get("tests", [])}
            for item in bench.workshop.evidence
            if item.kind == "suite" and item.options["file"] == file
        ]
        bench.suites[file] = run_suites(rows, bench)
    return bench.suites[file]
