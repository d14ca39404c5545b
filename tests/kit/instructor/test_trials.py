"""The trials: small inputs that break graders, and what a good one says. Each has a test.

``TRIALS`` maps their numbers to tests, here or in a module beside this one. What needs no whole
grading is judged on a bench, with a few cases and a few wrong gates.
"""

import csv
import importlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from instructor.evidence import suites
from instructor.evidence.bench import Bench, Unusable
from instructor.evidence.desk import Rows
from instructor.report.pages import gradebook, write_feedback
from instructor.sandbox.forks import server_pids
from instructor.sandbox.strays import adopt_orphans, running_below
from instructor.submission import find_submissions, skipped, take_snapshot
from lab.suite import SuiteReport, TestReport, judge
from lab.workshop import Workshop
from tests.kit.command import COURSE
from tests.kit.instructor.benches import (
    GATE,
    TESTS,
    Change,
    append,
    changed,
    few_answers,
    findings,
    judged,
    prepend,
    put_on_bench,
    report_on,
    write,
)
from tests.kit.instructor.reports import item, report, workshop_report

NUMBERS = (
    "1", "2", "3", "4", "5", "6", "7b", "7d", "8", "9", "11", "12", "13", "14", "15a", "16", "17a",
    "17c", "19a", "20", "21a", "21b", "21c", "22", "23", "24", "27", "28", "29", "30",
)  # fmt: skip
A_CASE = "test_a_limit_that_a_case_meets_is_named"
A_TEST = "test_a_test_that_meets_a_limit_is_named_and_costs_only_its_own_run"
NOTEBOOK = (
    "test_notebooks.test_a_notebook_runs_whatever_kernel_it_names_and_each_check_says_what_it_found"
)
MENDED = "test_notebooks.test_what_can_be_mended_is_read_with_a_remark"
SETTINGS = "test_a_submissions_settings_change_no_test"
TRIALS: dict[str, tuple[str, ...]] = {
    "1": (A_CASE, A_TEST, "test_sandbox.test_a_case_that_hangs_costs_only_itself"),
    "2": (
        A_CASE,
        A_TEST,
        "test_sandbox.test_a_gate_that_does_not_end_its_import_well_decides_nothing",
    ),
    "3": ("test_what_is_left_running_is_ended_and_named_in_the_report",),
    "4": ("test_an_import_that_fails_is_named_with_its_line",),
    "5": (A_CASE, A_TEST),
    "6": ("test_a_gate_that_looks_at_its_callers_finds_no_other_input",),
    "7b": ("test_a_suite_that_changes_what_tests_say_catches_nothing",),
    "7d": ("test_what_is_said_at_exit_is_not_heard",),
    "8": (A_CASE, A_TEST, "test_sandbox.test_a_flood_of_output_ends_the_child"),
    "9": (A_CASE, A_TEST),
    "11": ("test_prints_are_no_fault",),
    "12": ("test_a_script_in_a_notebook_is_text_on_the_page", NOTEBOOK),
    "13": ("test_the_pairs_own_gate_is_judged",),
    "14": (MENDED, NOTEBOOK),
    "15a": ("test_notebooks.test_a_check_that_is_gone_is_named_by_its_block",),
    "16": (NOTEBOOK,),
    "17a": (MENDED, "test_notebooks.test_what_is_no_notebook_is_refused_with_its_reason"),
    "17c": (MENDED, NOTEBOOK),
    "19a": ("test_other_encodings_are_read_by_pythons_rules_and_remarked",),
    "20": ("test_odd_names_come_back_as_they_were",),
    "21a": (SETTINGS,),
    "21b": (SETTINGS,),
    "21c": (SETTINGS,),
    "22": (
        "test_more_tests_add_nothing",
        "test_submission.test_the_courses_own_code_is_restored_and_remarked",
    ),
    "23": ("test_a_grader_that_is_killed_leaves_no_half_report_and_can_be_run_again",),
    "24": (
        "test_points.test_what_is_no_weight_is_refused_with_its_place",
        "test_points.test_a_table_that_does_not_fit_the_course_is_refused",
    ),
    "27": (
        "test_what_is_no_file_is_left_out_by_its_type",
        "test_an_archive_that_is_no_zip_is_no_submission_and_is_named",
        "test_intake.test_a_member_that_is_no_ordinary_file_of_its_own_is_left_out",
        "test_intake.test_what_is_graded_is_unpacked_first_of_five_thousand_files",
        "test_submission.test_a_link_is_left_out_wherever_it_leads",
        "test_submission.test_thousands_of_files_are_cut_off_with_one_remark",
    ),
    "28": ("test_a_suite_that_decides_nothing_is_no_catch",),
    "29": ("test_submission.test_a_file_that_hides_a_module_is_named",),
    "30": (
        "test_a_file_that_is_not_strict_json_is_the_pairs_own_to_mend",
        "test_a_value_of_another_type_is_another_value",
    ),
}  # fmt: skip


def test_every_trial_has_a_test() -> None:
    here = __name__.rpartition(".")[0]
    missing = [
        f"{number}: {name}"
        for number, names in TRIALS.items()
        for name in names
        for module, _, function in [name.rpartition(".")]
        if not hasattr(
            importlib.import_module(f"{here}.{module}" if module else __name__), function
        )
    ]

    assert tuple(TRIALS) == NUMBERS
    assert all(TRIALS.values())
    assert missing == []


# 1, 2, 5, 8, 9: what a gate does with one input costs only that input.
IN_A_CASE = """

_rightly = gate_plan

def gate_plan(plan, *arguments, **named):
    if isinstance(plan, dict) and plan.get("dry_run") is False:
        {}
    return _rightly(plan, *arguments, **named)
"""
LIMITS = {
    "endless": ("while True: pass", "does not come to an end"),
    "exit": ("import os; os._exit(0)", "crashes instead of deciding"),
    "exit_1": ("import os; os._exit(1)", "crashes instead of deciding"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crashes instead of deciding"),
    "memory": ("bytearray(4 << 30)", "asks for more memory than it may use"),
    "flood": (
        "import os; os.write(1, b'x' * 40_000_000)",
        "prints more than it may (1 MiB",
    ),
    "recursion": (
        "import sys; sys.setrecursionlimit(10**8); f = lambda n: [n].sort(key=f); f(1)",
        "crashes instead of deciding",
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_that_a_case_meets_is_named(
    name: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    body, says = LIMITS[name]
    root = changed(reference, tmp_path, append(GATE, IN_A_CASE.format(body)))
    bench = put_on_bench(root, tmp_path, workshop, few_answers(workshop, cases=1), seconds=1)

    hit, others = judged("validator.live", bench), judged("validator.inventory", bench)

    assert (hit.outcome, others.outcome) == ("fail", "pass")
    assert says in hit.found


IN_A_TEST = {
    "endless": ("while True: pass", "it was not done after 1 seconds, in test_second"),
    "stubborn": (
        "while True:\n  try:\n   while True: pass\n  except BaseException: pass",
        "it was not done after 1 seconds, in test_second",
    ),
    "exit": ("os._exit(0)", "it ended Python itself, in test_second"),
    "exit_1": ("os._exit(1)", "it ended Python itself (exit code 1), in test_second"),
    "segfault": ("ctypes.string_at(0)", "it crashed Python (SIGSEGV), in test_second"),
    "recursion": (
        "sys.setrecursionlimit(10**8); f = lambda n: [n].sort(key=f); f(1)",
        "it crashed Python (SIGSEGV), in test_second",
    ),
    "memory": ("bytearray(4 << 30)", "MemoryError: it asks for more memory than it may use"),
    "flood": ("print('x' * 40_000_000); assert False, 'said'", "said"),
    "keyboard": ("input()", "OSError: there is no keyboard here (tests/test_keyboard.py, line"),
}


def test_a_test_that_meets_a_limit_is_named_and_costs_only_its_own_run(
    reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    head = "import ctypes, os, sys\ndef test_first(): pass\ndef test_second():\n "
    files = [write(f"tests/test_{name}.py", head + body) for name, (body, _) in IN_A_TEST.items()]
    bench = put_on_bench(changed(reference, tmp_path, *files), tmp_path, workshop, seconds=1)

    rows = suites.run_suites(
        [{"id": name, "file": f"tests/test_{name}.py"} for name in IN_A_TEST], bench
    )

    found = {name: said_of(rows, name) for name in IN_A_TEST}
    assert {name: found[name] for name in IN_A_TEST if IN_A_TEST[name][1] not in found[name]} == {}


def said_of(rows: Rows, name: str) -> str:
    run = suites.read_report(rows, name)
    if run is None:
        return suites.ending_of(rows, name)
    assert run.tests[0].outcome == "passed"
    return "; ".join(test.message for test in run.tests[1:])


@pytest.mark.usefixtures("limits_only")  # in a better tier it starts no process
@pytest.mark.parametrize(
    ("start", "name"),
    [
        ("import subprocess\nsubprocess.Popen(['tail', '-f', '/dev/null'])\n", "tail"),
        ("import os, signal\nif os.fork() == 0:\n    signal.pause()\n", "python"),
        (
            "import threading\nthreading.Thread(target=threading.Event().wait).start()\n",
            "a thread",
        ),
    ],
)
def test_what_is_left_running_is_ended_and_named_in_the_report(
    start: str, name: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    adopt_orphans()
    before = running_below()
    begun = time.monotonic()

    said = report_on(changed(reference, tmp_path, prepend(GATE, start)), tmp_path, workshop)

    assert said.all_evidence[0].outcome == "pass"
    assert [remark.found for remark in said.remarks] == [
        f"Your code left something running when it was done: {name}. It was ended."
    ]
    assert running_below() - server_pids() <= before
    assert time.monotonic() - begun < 50


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("input()\n", "EOFError: there is no keyboard here (lab/plan_gate.py, line 1)."),
        ("import sys\nint(sys.stdin.read())\n", "ValueError: invalid literal"),
        ("import sys\nsys.exit()\n", "SystemExit: (lab/plan_gate.py, line 2)."),
        ("def broken(:\n", "SyntaxError: invalid syntax (plan_gate.py, line 1)."),
        ("bytearray(4 << 30)\n", "MemoryError: it asks for more memory than it may use (lab/"),
        ("x = 1\x00\n", "null bytes"),
    ],
)
def test_an_import_that_fails_is_named_with_its_line(
    start: str, says: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    said = report_on(changed(reference, tmp_path, prepend(GATE, start)), tmp_path, workshop)

    assert said.all_evidence[0].outcome == "fail"
    assert said.all_evidence[0].found.startswith("lab/plan_gate.py cannot be used: ")
    assert says in said.all_evidence[0].found


# 6: what the program around the gate knows, as far as Python shows it.
PEEK = """

import gc, inspect, linecache, sys

def _seen():
    frame = sys._getframe()
    while frame:
        yield repr(list(frame.f_locals.values()))
        yield "".join(linecache.getlines(frame.f_code.co_filename))
        frame = frame.f_back

def gate_plan(plan, *arguments, **named):
    rows = [v for v in gc.get_objects() if type(v) is dict and "document" in v]
    raise PlanRejected(f"{'hidden' + '-id' in ''.join(_seen())} {len(rows)}")
"""


def test_a_gate_that_looks_at_its_callers_finds_no_other_input(
    reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path, append(GATE, PEEK))
    answers = few_answers(workshop, cases=1)
    marked = tuple(replace(case, id=f"hidden-id {case.id}") for case in answers.cases)
    bench = put_on_bench(root, tmp_path, workshop, replace(answers, cases=marked))

    found = judged("validator.live", bench)

    replayed = next(iter(bench.replays.values())).answers
    assert found.outcome == "fail"
    # Beside the input at hand there is at most the one before, and never one to come.
    assert {answer["text"] for answer in replayed.values()} <= {"False 1", "False 2"}


NOTHING_RUNS = """
import _pytest.python, _pytest.runner
_pytest.python.Function.runtest = lambda self: None
"""
NOTHING_HOLDS = """
import _pytest.python
_real = _pytest.python.Function.runtest
def _fail(self):
    _real(self)
    assert False, "caught"
_pytest.python.Function.runtest = _fail
"""
FORGED = """
import _pytest.reports
_pytest.reports.TestReport.outcome = property(lambda self: "passed", lambda self, value: None)
"""
# Asks for something, so that there is a call on which a wrong gate differs.
ASKS = """
from pathlib import Path
from lab.plan_gate import PlanRejected, gate_plan, load_plan
FOLDER = Path(__file__).parents[1] / "fixtures/plan_gate"

def ask(name):
    try:
        return gate_plan(load_plan(FOLDER / name))
    except PlanRejected as error:
        return str(error)
"""
SEES = """
def test_assumed():
    assert "account_id" in ask("assumed_plan.json")
"""
SHARED = """
import pytest

@pytest.fixture(scope="module")
def said():
    return {name: ask(f"{name}_plan.json") for name in ("valid", "assumed")}

def test_assumed(said):
    assert "account_id" in said["assumed"]
"""
BLIND = """
def test_assumed():
    ask("assumed_plan.json")
"""
WRONG = ("accepts-everything", "names-nothing")
MISSES = "Your tests would not notice a gate that accepts every plan."


@pytest.mark.parametrize(
    ("suite", "trouble", "catches"),
    [
        (ASKS + SEES, "Your tests pass on a correct gate.", "Your tests catch 2 of 2"),
        (ASKS + SHARED, "Your tests pass on a correct gate.", "Your tests catch 2 of 2"),
        (ASKS + BLIND + NOTHING_RUNS, "Your tests pass on a correct gate.", MISSES),
        (ASKS + SEES + NOTHING_RUNS, "Your tests pass on a correct gate.", MISSES),
        (ASKS + SEES + FORGED, "Your tests pass on a correct gate.", MISSES),
        (ASKS + BLIND + NOTHING_HOLDS, "test_assumed: caught", "not pass on a correct gate yet"),
    ],
    ids=[
        "honest",
        "through a fixture",
        "all pass",
        "right, and all pass",
        "forged",
        "all fail",
    ],
)
def test_a_suite_that_changes_what_tests_say_catches_nothing(
    suite: str,
    trouble: str,
    catches: str,
    reference: Path,
    tmp_path: Path,
    workshop: Workshop,
) -> None:
    check_suite(trouble, catches, suite_bench(suite, reference, tmp_path, workshop))


def suite_bench(suite: str, reference: Path, tmp_path: Path, workshop: Workshop) -> Bench:
    root = changed(reference, tmp_path, write(TESTS, suite))
    return put_on_bench(root, tmp_path, workshop, few_answers(workshop, WRONG), seconds=1)


def check_suite(trouble: str, catches: str, bench: Bench) -> None:
    on_reference, on_wrong = judged("tests.reference", bench), judged("tests.catch", bench)
    assert trouble in on_reference.found
    assert catches in on_wrong.found
    assert (on_wrong.outcome == "pass") == ("catch 2 of 2" in catches)


# Table 2.3: what an exit code would take for a catch, or for a suite.
BLOCKED = "Your tests do not pass on a correct gate yet."
NO_END = "Your tests did not reach their end: it ended Python itself"
DECIDES_NOTHING = {
    "always_failing": ("def test_a(): assert False, 'always'\n", "test_a: always", BLOCKED),
    "sys_exit": ("import sys\ndef test_a(): sys.exit(0)\n", "test_a: SystemExit: 0", BLOCKED),
    "os_exit_1": ("import os\ndef test_a(): os._exit(1)\n", f"{NO_END} (exit code 1)", BLOCKED),
    "os_exit_0": ("import os\ndef test_a(): os._exit(0)\n", f"{NO_END}, in test_a", BLOCKED),
    "syntax": ("def test_a(:\n", "SyntaxError", BLOCKED),
    "import": ("from lab.plan_gate import gone\ndef test_a(): pass\n", "gone", BLOCKED),
    "empty": ("", "There is no test in the file.", BLOCKED),
    "skipped": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n", "test_a: ", BLOCKED),
    "expected": (
        "import pytest\n@pytest.mark.xfail\ndef test_a(): assert False\n",
        "test_a: AssertionError", BLOCKED,
    ),
    "returns": (
        ASKS + "def test_a(): return 'account_id' in ask('assumed_plan.json')\n",
        "Your tests pass on a correct gate.", MISSES,
    ),
    "source": (
        ASKS + "import hashlib\ndef test_a():\n    ask('assumed_plan.json')\n"
        "    text = (FOLDER.parents[1] / 'lab/plan_gate.py').read_bytes()\n"
        "    assert len(text) > 100\n",
        "Your tests pass on a correct gate.", MISSES,
    ),
    "module": (
        ASKS + "import inspect\ndef test_a():\n    ask('assumed_plan.json')\n"
        "    assert 'validate_schema' in inspect.getsource(gate_plan)\n",
        "test_a: ", BLOCKED,
    ),
    "unstable": (
        ASKS + "def test_a():\n    ask('assumed_plan.json')\n"
        "    seen = Path(__file__).with_name('seen')\n    once = seen.exists()\n    seen.touch()\n"
        "    assert not once, 'the second time'\n",
        "test_a is unstable: on the same correct gate it is passed and then failed.", BLOCKED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDES_NOTHING)
def test_a_suite_that_decides_nothing_is_no_catch(
    name: str,
    reference: Path,
    tmp_path: Path,
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The two runs on the reference come first, so that "the second time" is one of them.
    monkeypatch.setattr(random.SystemRandom, "shuffle", lambda _, rows: rows)
    suite, trouble, catches = DECIDES_NOTHING[name]

    check_suite(trouble, catches, suite_bench(suite, reference, tmp_path, workshop))


# Lines to the grader that no stand-in sends, and an argument that is deeper than Python recurses.
ODD_CALLS = {
    "without_a_test": (
        "import json, os, stat\ndef test_a():\n    line = json.dumps({'call': 'gate_plan', "
        "'object': 0, 'row': '0', 'arguments': [], 'named': {}, 'files': {}}).encode() + b'\\n'\n"
        "    for fd in range(3, 20):\n        try:\n"
        "            if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "                os.write(fd, line)\n                os.read(fd, 65536)\n"
        "        except OSError:\n            pass\n"
    ),
    "deep_argument": (
        ASKS + "def test_a():\n    plan = []\n    for _ in range(600):\n        plan = [plan]\n"
        "    try:\n        gate_plan(plan)\n    except Exception as error:\n"
        "        assert type(error).__name__ == 'PlanRejected'\n"
    ),
}


@pytest.mark.parametrize("name", ODD_CALLS)
def test_no_call_of_a_pair_s_tests_is_taken_for_a_fault_of_ours(
    name: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    said = findings(suite_bench(ODD_CALLS[name], reference, tmp_path, workshop), "wrong_gates")

    assert {finding.outcome for finding in said.values()} <= {"pass", "fail", "blocked"}


REFUSES = "\n\ndef gate_plan(plan, *_, **named):\n    raise PlanRejected('no')\n"
SAY_MORE = """
import atexit, os
def _say():
    for fd in range(3, 20):
        try:
            os.write(fd, b'{"id": "0", "verdict": "reject", "text": "live execution"}\\n')
        except OSError:
            pass
atexit.register(_say)
"""
ACCEPTS = "\n\ndef gate_plan(plan, *arguments, **named):\n    return {}\n"


@pytest.mark.parametrize("more", ["", "atexit.register(os._exit, 0)\n"])
def test_what_is_said_at_exit_is_not_heard(
    more: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path, append(GATE, ACCEPTS + SAY_MORE + more))
    bench = put_on_bench(root, tmp_path, workshop, few_answers(workshop, cases=1))

    assert "lets through" in judged("validator.live", bench).found
    assert "live execution" not in str(bench.replays)


TALKS = """
import sys, warnings
print("imported")
_rightly = gate_plan

def gate_plan(plan, *arguments, **named):
    print(plan)
    print("looking", file=sys.stderr)
    warnings.warn("an old way", DeprecationWarning)
    return _rightly(plan, *arguments, **named)
"""


def test_prints_are_no_fault(reference: Path, tmp_path: Path, workshop: Workshop) -> None:
    root = changed(reference, tmp_path, append(GATE, TALKS))
    append(TESTS, "\n\ndef test_prints():\n    print('x' * 5_000_000)\n")(root)
    bench = put_on_bench(root, tmp_path, workshop, few_answers(workshop, WRONG))

    names = ("validator.visible", "validator.live", "validator.bindings", "tests.reference")
    assert {name: judged(name, bench).outcome for name in names} == dict.fromkeys(names, "pass")


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "</li><img src=x onerror=y>"])
def test_a_script_in_a_notebook_is_text_on_the_page(text: str, tmp_path: Path) -> None:
    evidence = replace(item("pass", found="ran"), details=(text,), seconds=1.0, minutes=5)
    shown = workshop_report("plan_gate", {"inventory": ["pass"]})
    block = replace(shown.blocks[0], evidence=(evidence,))

    write_feedback(report("pair", replace(shown, blocks=(block,))), tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text not in page
    assert text.replace("<", "&lt;").replace(">", "&gt;") in page


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (ACCEPTS, "lets through"),
        (REFUSES, "the result does not name what is wrong"),
        (FORGED + ACCEPTS, "lets through"),
    ],
)
def test_the_pairs_own_gate_is_judged(
    body: str, says: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    said = report_on(changed(reference, tmp_path, append(GATE, body)), tmp_path, workshop)

    assert said.remarks == ()
    assert said.all_evidence[0].outcome == "fail"
    assert says in said.all_evidence[0].found


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        # Python 3.11 reads it, a newer one may not.
        (b"# caf\xe9\n", "pass or fail"),
        (b"x = 'caf\xe9'\n", "fail"),
        (b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n", "pass"),
        (b"# vim: set fileencoding=cp1252 :\n# caf\xe9\n", "pass"),
    ],
)
def test_other_encodings_are_read_by_pythons_rules_and_remarked(
    source: bytes, outcome: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path)
    write(GATE, source + (root / GATE).read_bytes().replace("“".encode(), b'"'))(root)

    said = report_on(root, tmp_path, workshop)

    assert [remark.id for remark in said.remarks] == ["not-utf-8"]
    assert said.all_evidence[0].outcome in outcome


ODD_NAMES = (
    "two words", "[brackets] {braces}", "'single' \"double\"", "-dash", "--out", "$(id);&|*?",
    "Zoë", unicodedata.normalize("NFD", "Zoë 2"), "日本語", "back\\slash", "100% #1",
)  # fmt: skip


def test_odd_names_come_back_as_they_were(tmp_path: Path, workshop: Workshop) -> None:
    for name in ODD_NAMES:
        write(f"class/{name}/fixtures/plan_gate/{name}.json", "{")(tmp_path)
        write(f"class/{name}/{name}/conftest.py", "")(tmp_path)

    found = find_submissions(tmp_path / "class", [workshop])
    snapshots = {
        name: take_snapshot(path, tmp_path / "snapshots" / str(number), [workshop])
        for number, (name, path) in enumerate(found.items())
    }

    assert sorted(found) == sorted(ODD_NAMES)
    for name, snapshot in snapshots.items():
        assert (snapshot.path / f"fixtures/plan_gate/{name}.json").read_text() == "{"
        assert [remark.id for remark in snapshot.remarks] == ["not-read"]
    reports = [report(name, workshop_report("plan_gate", {"a": ["pass"]})) for name in found]
    rows = csv.DictReader(io.StringIO(gradebook(reports)))
    assert sorted(row["submission"].removeprefix("'-") for row in rows) == sorted(
        name.removeprefix("-") for name in ODD_NAMES
    )
    assert [said.to_json()["submission"] for said in reports] == list(found)


EVIL = """
import signal, pytest
signal.pause()
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
SKIPS = """
import pytest
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "good" in item.name]
    for item in items:
        item.add_marker(pytest.mark.skip)
"""


@pytest.mark.parametrize(
    "settings",
    [
        {"conftest.py": EVIL, "pytest.ini": "[pytest]\naddopts = -k good\n"},
        {"tests/conftest.py": SKIPS, "pytest.ini": "[pytest]\naddopts = --no-such-option\n"},
        {"conftest.py": SKIPS, "setup.cfg": "[tool:pytest]\naddopts = -k good\n",
         "tox.ini": "[pytest]\npython_functions = good\n", "sitecustomize.py": "raise SystemExit"},
    ],
)  # fmt: skip
def test_a_submissions_settings_change_no_test(
    settings: dict[str, str], reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    changes = [write(file, text) for file, text in settings.items()]
    suite = write(TESTS, "def test_good(): pass\ndef test_bad(): assert False, 'bad'\n")
    bench = put_on_bench(changed(reference, tmp_path, suite, *changes), tmp_path, workshop)

    run = suites.read_report(suites.run_suites([{"id": "x", "file": TESTS}], bench), "x")

    assert run is not None
    assert {test.name: test.outcome for test in run.tests} == {
        "test_good": "passed",
        "test_bad": "failed",
    }


def test_more_tests_add_nothing() -> None:
    extra = tuple(TestReport(f"test_{n}", "passed", "", "") for n in range(100))
    wrong = TestReport("test_it", "failed", "", "wrong")

    assert judge(SuiteReport(True, (*extra, wrong)), ["test_it"]).found == "wrong"
    assert judge(SuiteReport(True, extra), ["test_it"]).found == "test_it did not run"
    assert not judge(SuiteReport(True, extra), []).passed


def make_folder(file: str) -> Change:
    def do(root: Path) -> object:
        (root / file).unlink()
        return write(f"{file}/__init__.py", "def gate_plan(*_): return {}\n")(root)

    return do


def make_pipe(file: str) -> Change:
    def do(root: Path) -> object:
        (root / file).unlink()
        return os.mkfifo(root / file)

    return do


def make_link(file: str, target: str) -> Change:
    def do(root: Path) -> object:
        (root / file).unlink()
        return (root / file).symlink_to(target)

    return do


FIXTURE = "fixtures/plan_gate/live_plan.json"


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        (GATE, make_folder(GATE), "is a folder, not a file"),
        (GATE, make_pipe(GATE), "is not an ordinary file"),
        (GATE, make_link(GATE, "../tests/test_plan_gate.py"), "is a link"),
        (FIXTURE, make_folder(FIXTURE), "is a folder, not a file"),
        (FIXTURE, make_pipe(FIXTURE), "is not an ordinary file"),
        (FIXTURE, make_link(FIXTURE, "/etc/hostname"), "is a link"),
    ],
)
def test_what_is_no_file_is_left_out_by_its_type(
    file: str,
    change: Change,
    reason: str,
    reference: Path,
    tmp_path: Path,
    workshop: Workshop,
) -> None:
    name = "validator.live" if file == GATE else "tests.live"

    said = report_on(changed(reference, tmp_path, change), tmp_path, workshop, name)

    assert said.all_evidence[0].found == f"{file} is missing."
    assert [remark.found for remark in said.remarks] == [f"'{file}' {reason}; it was left out."]


def test_an_archive_that_is_no_zip_is_no_submission_and_is_named(
    tmp_path: Path, workshop: Workshop
) -> None:
    for name in ("a.7z", "b.tar.gz", "pair/lab/plan_gate.py"):
        write(name, "../x")(tmp_path)

    assert list(find_submissions(tmp_path, [workshop])) == ["pair"]
    assert skipped(tmp_path) == ["a.7z", "b.tar.gz"]


LIMITS_FILE = "fixtures/plan_gate/limits.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', "key 'a' stands twice"),
        ("[" * 100_000, ""),
        ("9" * 5_000, ""),
        (b'{"a": "\xff"}', "UTF-8"),
        ('{\n<<<<<<< HEAD\n"a": 1\n', "holds a merge conflict that nobody has settled, at line 2."),
        ('{\n"a": 1\n>>>>>>> b\n', "holds a merge conflict that nobody has settled, at line 3."),
    ],
    ids=["cut off", "NaN", "Infinity", "twice", "nested", "digits", "bytes", "merge", "merge end"],
)
def test_a_file_that_is_not_strict_json_is_the_pairs_own_to_mend(
    text: str | bytes, says: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path, write(LIMITS_FILE, text))
    bench = put_on_bench(root, tmp_path, workshop)

    with pytest.raises(Unusable) as unusable:
        bench.load(LIMITS_FILE)

    assert str(unusable.value).startswith(f"{LIMITS_FILE} ")
    assert says in str(unusable.value)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ('"dry_run": false', '"dry_run": 0', False),
        ('"dry_run": false', '"dry_run": 0.0', False),
        ('"dry_run": false', '"dry_run": false, "x": 1', True),
    ],
)
def test_a_value_of_another_type_is_another_value(
    old: str, new: str, differs: bool, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path)
    text = (root / FIXTURE).read_text()
    write(FIXTURE, text.replace(old, new))(root)

    found = judged("tests.live", put_on_bench(root, tmp_path, workshop))

    assert old in text
    assert found.outcome == "fail"
    assert ("differ at" in found.found) == differs or "another reason" in found.found


SCHEMA = "lab/agent_plan.schema.json"


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("[]", f"{SCHEMA} is not a JSON object."),
        ('{"$ref": "file:///etc/hostname"}', "Your schema crashes instead of deciding"),
        ('{"$ref": "#"}', "Your schema crashes instead of deciding"),
        ("{}", "Your schema lets through"),
    ],
)
def test_a_schema_that_cannot_decide_is_the_pairs_own_to_mend(
    schema: str, says: str, reference: Path, tmp_path: Path, workshop: Workshop
) -> None:
    root = changed(reference, tmp_path, write(SCHEMA, schema))
    bench = put_on_bench(root, tmp_path, workshop, few_answers(workshop, cases=1))

    assert judged("contract.shape", bench).found.startswith(says)


def test_a_grader_that_is_killed_leaves_no_half_report_and_can_be_run_again(
    tmp_path: Path,
) -> None:
    """The second run takes over what the first had done, and does the rest."""
    for name in ("a", "b"):
        write(f"class/{name}/lab/plan_gate.py", "while True: pass\n" if name > "a" else "")(
            tmp_path
        )
    out = tmp_path / "out"
    command = [sys.executable, "-m", "instructor", "grade", str(tmp_path / "class"), "--workers"]
    command += ["1", "--out", str(out), "--seconds", "1"]
    with subprocess.Popen(
        command, cwd=COURSE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert any(b"1/2 a" in line for line in process.stdout)
        process.send_signal(signal.SIGKILL)

    whole = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("*/report.json")]
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob(".kept/*.json")}
    again = subprocess.run(command, cwd=COURSE, capture_output=True, check=False)

    assert [said["submission"] for said in whole] == ["a"]
    after = {path.name: path.stat().st_mtime_ns for path in out.glob(".kept/*.json")}
    assert len(kept) == 1
    assert len(after) == 2
    assert kept.items() <= after.items()
    assert (again.returncode, again.stderr) == (0, b"")
    assert sorted(path.parent.name for path in out.glob("*/report.json")) == ["a", "b"]
    assert list(out.rglob("*.partial")) == []
    assert not (out / ".work").exists()
