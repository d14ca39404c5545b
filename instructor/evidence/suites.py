"""Evidence ``suite``: pytest tests that must all be reported as passed.

``tests`` names them, in our copy of the suite; with ``at_least`` the file is the pair's own, and
that many tests of any name must pass, and every test that is there.
"""

from instructor.evidence.bench import Bench, Finding
from instructor.sandbox.process import ChildRun
from lab.suite import SuiteReport, SuiteVerdict, judge_own
from lab.suite import judge as judge_tests
from lab.workshop import Evidence


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Run the file in the sandbox and judge its report here."""
    file = evidence.options["file"]
    if not (bench.snapshot / file).is_file():
        return Finding("fail", f"{file} is missing.", "The file is there, with its tests.")
    run, workspace = bench.run({"kind": "suite", "file": file})
    report = read_report(run) if run.finished else None
    if report is None:
        return Finding("fail", f"The tests did not reach their end: {run.ending}.", "They end.")
    verdict = judge_report(evidence, report)
    found = verdict.found.replace(f"{workspace}/", "")
    return Finding("pass" if verdict.passed else "fail", found, verdict.expected)


def read_report(run: ChildRun, variant: int | None = None) -> SuiteReport | None:
    """Find a run's one report; None where it is missing, doubled or misshapen."""
    said = [message for message in run.messages if message.get("variant") == variant]
    reports = [message["report"] for message in said if "report" in message]
    if len(reports) != 1:
        return None
    try:
        return SuiteReport.from_json(reports[0])
    except (KeyError, TypeError, AttributeError):
        return None


def judge_report(evidence: Evidence, report: SuiteReport) -> SuiteVerdict:
    """Judge the named tests, or all of a pair's own."""
    if "tests" in evidence.options:
        return judge_tests(report, evidence.options["tests"])
    return judge_own(report, evidence.options["at_least"])
