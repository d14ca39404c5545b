"""Evidence ``suite``: pytest tests that must all be reported as passed.

``tests`` names them, in our copy of the suite; with ``at_least`` the file is the pair's own, and
that many tests of any name must pass, and every test that is there.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from instructor.evidence.bench import Bench, Finding
from instructor.evidence.desk import Rows
from instructor.sandbox.process import Message
from lab.suite import SuiteReport, SuiteVerdict, cut, judge_own
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
    job: Message = {"kind": "suites", "more": [r["workspace"] for r in rows if "workspace" in r]}
    return bench.run_rows(job, rows, bench.seconds, bench.seconds * len(rows), answer)


def run_rounds(
    file: str,
    remote: Message,
    rows: list[Message],
    bench: Bench,
    answer: Callable[[Message], Message],
) -> Rows:
    """Run one pytest file once for each row in one session, against gates of the grader's."""
    job: Message = {"kind": "rounds", "file": file, "remote": remote}
    return bench.run_rows(job, rows, bench.seconds, bench.seconds * len(rows), answer)


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
    """Say how a run without a report ended, and in which test."""
    said = rows.answers.get(name, {})
    ending = str(said.get("ending") or rows.trouble or "it ended Python itself")
    return f"{ending}, in {cut(str(said['at']), 100)}" if said.get("at") else ending


def judge_report(evidence: Evidence, report: SuiteReport) -> SuiteVerdict:
    """Judge the named tests, or all of a pair's own."""
    if "tests" in evidence.options:
        return judge_tests(report, evidence.options["tests"])
    return judge_own(report, evidence.options["at_least"])


def run_in_one_child(benches: Sequence[Bench]) -> None:
    """Run all suites of several benches in one child, and lay what they said on each bench.

    That saves starting a child for each, where they are states of one pair's work.
    """
    with ExitStack() as copies:
        rows = [
            {**_whole(file, bench), "id": f"{number} {file}", "workspace": str(workspace)}
            for number, bench in enumerate(benches)
            for workspace, _ in [copies.enter_context(bench.copy())]
            for file in _files_of(bench)
        ]
        ran = run_suites(rows, benches[0]) if rows else Rows({})
    for number, bench in enumerate(benches):
        for file in _files_of(bench):
            _lay(file, bench, ran, f"{number} {file}")


def _all_suites(file: str, bench: Bench) -> Rows:
    """Run every suite of the workshop that uses a file, once for all of its evidence."""
    if file not in bench.suites:
        _lay(file, bench, run_suites([_whole(file, bench)], bench), file)
    return bench.suites[file]


def _lay(file: str, bench: Bench, ran: Rows, name: str) -> None:
    """Lay one run of a whole file on the bench, for all evidence that uses the file.

    Where that run did not come to its end, each evidence gets a run of its own: what ends Python
    in one test must not cost what stands beside it.
    """
    rows = _rows_of(file, bench)
    report = read_report(ran, name)
    if len(rows) == 1 or (report and report.complete):
        said = ran.answers.get(name, {})
        bench.suites[file] = Rows({row["id"]: said for row in rows}, ran.trouble)
    else:
        bench.suites[file] = run_suites(rows, bench)


def _whole(file: str, bench: Bench) -> Message:
    """Give the row that runs all tests which some evidence names, or the whole of a pair's own."""
    named = [row["tests"] for row in _rows_of(file, bench)]
    tests = [test for tests in named for test in tests] if all(named) else []
    return {"id": file, "file": file, "tests": list(dict.fromkeys(tests))}


def _files_of(bench: Bench) -> list[str]:
    """List the files of tests that some evidence uses and that are there."""
    files = [item.options["file"] for item in bench.workshop.evidence if item.kind == "suite"]
    return [file for file in dict.fromkeys(files) if (bench.snapshot / file).is_file()]


def _rows_of(file: str, bench: Bench) -> list[Message]:
    """Give a row for each suite of the workshop that uses a file."""
    return [
        {"id": item.id, "file": file, "tests": item.options.get("tests", [])}
        for item in bench.workshop.evidence
        if item.kind == "suite" and item.options["file"] == file
    ]
