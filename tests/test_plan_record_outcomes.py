"""The checks that you can see, one group for each block. They read your files; do not edit them.

The grader runs its own copy of this file. Your own tests belong into ``test_plan_record.py``.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.outcomes import Fixtures, lab_module, stop

FIXTURES = Fixtures("plan_record")
SCHEMA = "lab/plan_record.schema.json"
HOMES = ("assistant_text", "write_plan", "file_on_disk")
HOME_WORDS = ("yes", "no", "only_if_reread", "by_convention")
PRICES = ("nothing", "one_call", "write_and_reread")
# What to look at when check lets something through.
RULES = {
    "tool": "Is each step's tool looked up in owned.available_tools?",
    "effect": "Is each step's effect compared with what owned knows about its tool?",
    "protected": "Does every step that is no read go through protected_targets(step, owned)?",
    "targets": "Is a step that is no read and has no targets a problem of its own?",
    "finer": "Does check add what finer_problems(step, owned) yields for each step?",
}


def plan(**changes: Any) -> dict[str, Any]:
    """Make a plan of two steps; the second is a write, with some of its fields changed."""
    read_step = {
        "n": 1,
        "tool": "warehouse.query",
        "args": {"table": "ledger.charges"},
        "effect": "read",
        "targets": ["ledger.charges"],
    }
    write_step = {
        "n": 2,
        "tool": "warehouse.load",
        "args": {"table": "staging.lines", "from": "$step_1.output"},
        "effect": "write",
        "targets": ["staging.lines"],
    }
    step = {key: value for key, value in (write_step | changes).items() if value is not None}
    return {"goal": "Load the lines that were charged", "steps": [read_step, step]}


def problems_of(document: Any, name: str) -> list[str]:
    """Give what the pair's check says to a plan, or stop with what happened in its place."""
    module = lab_module("plan_record")
    try:
        problems = module.check(document, FIXTURES.read("policy.json"))
    except Exception as error:
        stop(f"check raises {type(error).__name__}: {error} for {name}, and returns no list.")
    if not isinstance(problems, list) or not all(isinstance(text, str) for text in problems):
        stop(f"check returns {problems!r} for {name}, which is no list of texts.")
    return problems


def expect_problem(document: Any, name: str, problem: str, rule: str) -> None:
    problems = problems_of(document, name)
    if not any(text == problem or text.startswith(f"{problem} ") for text in problems):
        said = "; ".join(problems) or "nothing"
        number, _, bare = problem.partition(": ")
        if any(text == bare or text.startswith(f"{bare} ") for text in problems):
            stop(f"For {name} check says: {said}. The text is right; {number}: goes before it.")
        stop(f"For {name} check says: {said}. It does not say: {problem}. {RULES[rule]}")


def expect_clean(document: Any, name: str) -> None:
    problems = problems_of(document, name)
    if problems:
        stop(f"check has something against {name}: {'; '.join(problems)}")


# Block 1: incident


def test_every_question_about_the_prose_has_an_answer() -> None:
    """Each row of incident.json says "yes" or "no" under answer."""
    FIXTURES.expect_words("incident.json", "answer", ("yes", "no"))


def test_every_home_of_a_plan_is_described() -> None:
    """Each row of where_a_plan_lives.json has one of its words in each of three columns."""
    for column in HOMES:
        rows = FIXTURES.rows("where_a_plan_lives.json")
        FIXTURES.expect_words(
            "where_a_plan_lives.json", column, HOME_WORDS, [*rows.keys() - {"price"}]
        )
        FIXTURES.expect_words("where_a_plan_lives.json", column, PRICES, ["price"])


# Block 2: contract


def expect_schema_refusal(document: Any, what: str) -> None:
    if FIXTURES.schema_errors(SCHEMA, plan()):
        stop("Your schema refuses march_plan.json, so its other refusals say nothing yet.")
    if not FIXTURES.schema_errors(SCHEMA, document):
        stop(f"Your schema accepts a plan {what}.")


def test_the_schema_is_a_valid_schema() -> None:
    """plan_record.schema.json is itself a draft 2020-12 schema, titled PlanRecord."""
    FIXTURES.expect_schema(SCHEMA, "PlanRecord")


def test_the_schema_accepts_a_checkable_plan() -> None:
    """The schema has nothing to say about march_plan.json, nor about a step without targets."""
    for document, name in (
        (FIXTURES.read("march_plan.json"), "march_plan.json"),
        (plan(targets=None), "a step without targets, which the checker is there for"),
        (plan(targets=[]), "a step with an empty list of targets"),
    ):
        errors = FIXTURES.schema_errors(SCHEMA, document)
        if errors:
            stop(f"Your schema refuses {name}: {errors[0]}")


def test_the_schema_requires_the_fields_of_a_step() -> None:
    """A step has n, tool, args and effect; a plan has goal and at least one step."""
    for field in ("n", "tool", "args", "effect"):
        expect_schema_refusal(plan(**{field: None}), f"with a step that has no {field}")
    expect_schema_refusal({"steps": plan()["steps"]}, "without a goal")
    expect_schema_refusal({"goal": "Load the lines"}, "without steps")
    expect_schema_refusal({"goal": "Load the lines", "steps": []}, "with an empty list of steps")


def test_the_schema_types_the_fields_of_a_step() -> None:
    """Each field has its type, and effect is one of four words."""
    wrong = {"n": "2", "tool": 5, "args": ["staging.lines"], "effect": "harmless", "targets": "all"}
    for field, value in wrong.items():
        expect_schema_refusal(plan(**{field: value}), f"whose {field} is {value!r}")
    expect_schema_refusal(plan(targets=[5]), "whose targets are [5]")


def test_the_schema_refuses_a_field_that_nobody_named() -> None:
    """Plan and step are closed, so that a misspelt target is no target."""
    expect_schema_refusal(
        plan(target=["ledger.charges"]), "with a step that says target, not targets"
    )
    expect_schema_refusal(plan() | {"approved": True}, "with an extra field beside goal and steps")


FROM = {
    "tool": "The log's line 09:12:04 says which tool was called.",
    "effect": "The notebook says what the model would have claimed.",
    "targets": "List the table that the log's line 09:12:04 names.",
    "args": "The log's line 09:12:04 names the table; the argument is called table.",
}


def test_the_incidents_step_2_is_there_and_names_its_target() -> None:
    """Step 2 of incident_plan.json has the call of the log, its effect and its target."""
    found = FIXTURES.read("incident_plan.json")
    steps = found.get("steps") if isinstance(found, dict) else None
    rows = [row for row in steps if isinstance(row, dict)] if isinstance(steps, list) else []
    step = next((row for row in rows if row.get("n") == 2), None)
    if step is None:
        stop("incident_plan.json has no step with n 2.")
    wanted = {"tool": "warehouse.truncate", "effect": "write", "targets": ["ledger.charges"]}
    wanted |= {"args": {"table": "ledger.charges"}}
    for field, value in wanted.items():
        if step.get(field) != value:
            found_there = step.get(field, "nothing")
            stop(f"Step 2 of incident_plan.json has {found_there!r} under {field}. {FROM[field]}")
    if [row.get("n") for row in rows] != [1, 2, 3, 4]:
        stop("incident_plan.json does not have the steps 1, 2, 3 and 4, in this order.")


# Block 3: checker


def test_check_has_nothing_against_a_safe_plan() -> None:
    """check gives an empty list for march_plan.json, and for a plan that reads the ledger."""
    expect_clean(FIXTURES.read("march_plan.json"), "march_plan.json")
    expect_clean(plan(), "a plan that reads ledger.charges and writes staging.lines")


def test_check_refuses_a_tool_that_is_not_there() -> None:
    """impossible_tool_plan.json: step 3: no such tool 'notify_customer'."""
    name = "impossible_tool_plan.json"
    expect_problem(FIXTURES.read(name), name, "step 3: no such tool 'notify_customer'", "tool")
    more = [text for text in problems_of(FIXTURES.read(name), name) if text.startswith("step 3: ")][
        1:
    ]
    if more:
        stop(f"For {name} check goes on after the missing tool: {more[0]}. Use continue there.")


def test_check_refuses_a_destructive_tool_declared_as_read() -> None:
    """mislabelled_effect_plan.json: step 2: warehouse.truncate declared as read."""
    name = "mislabelled_effect_plan.json"
    expect_problem(
        FIXTURES.read(name), name, "step 2: warehouse.truncate declared as read", "effect"
    )


def test_check_refuses_an_effect_milder_than_the_tools_own() -> None:
    """missed_by_effect_plan.json: step 1: credits.issue is money, declared as read."""
    name = "missed_by_effect_plan.json"
    expect_problem(
        FIXTURES.read(name), name, "step 1: credits.issue is money, declared as read", "effect"
    )
    name = "a plan that loads and calls it a read"
    wanted = "step 2: warehouse.load is write, declared as read"
    expect_problem(plan(effect="read"), name, wanted, "effect")


def test_check_refuses_a_protected_target() -> None:
    """A write on ledger.charges is refused, in whatever spelling, and staging.ledger is not."""
    for table, name in (
        ("ledger.charges", "ledger.charges"),
        ("LEDGER.charges", "ledger.charges"),
        ("billing.runs", "billing.runs"),
        ("prod_eu.orders", "prod_eu.orders"),
    ):
        document = plan(args={"table": table}, targets=[table])
        wanted = f"step 2: writes to protected target {name}"
        expect_problem(document, f"a load into {table}", wanted, "protected")
    document = plan(args={"table": "staging.ledger"}, targets=["staging.ledger"])
    expect_clean(document, "a load into staging.ledger")


def test_check_refuses_a_write_without_targets() -> None:
    """no_targets_plan.json, and the same with an empty list: names no targets."""
    name = "no_targets_plan.json"
    expect_problem(FIXTURES.read(name), name, "step 2: warehouse.load names no targets", "targets")
    document = plan(args={}, targets=[])
    name = "a plan with an empty list of targets"
    expect_problem(document, name, "step 2: warehouse.load names no targets", "targets")


def test_check_asks_for_the_finer_rules() -> None:
    """Caps, bounds, paths and arguments are checked by finer_problems, step by step."""
    document = plan(args={"table": "billing.runs"})
    wanted = "step 2: args name billing.runs, which targets leave out"
    expect_problem(document, "a plan whose argument names another table", wanted, "finer")
    name = "money_without_cap_plan.json"
    expect_problem(
        FIXTURES.read(name), name, "step 1: refunds.pay has no cap in the policy", "finer"
    )


def test_the_closed_hole_is_in_the_lab_notes() -> None:
    """lab_notes.json holds what your check says to no_targets_plan.json."""
    notes = FIXTURES.read("lab_notes.json")
    said = notes.get("no_targets_plan.json") if isinstance(notes, dict) else None
    text = "; ".join(problems_of(FIXTURES.read("no_targets_plan.json"), "no_targets_plan.json"))
    if not isinstance(said, str) or said.strip() not in text or not said.strip():
        stop(f"lab_notes.json does not hold, under no_targets_plan.json, what check says: {text}")


# Block 4: handler

TIMES = [f"2026-04-01T09:1{minute}:00Z" for minute in range(6)]
BAD = plan(args={"table": "ledger.charges"}, targets=["ledger.charges"])


@pytest.fixture
def record() -> Iterator[Any]:
    """Give an empty plan record in a folder that goes away again."""
    module = lab_module("plan_record")
    with tempfile.TemporaryDirectory() as folder:
        yield module.PlanRecord(Path(folder) / "record.jsonl", FIXTURES.read("policy.json"))


def write(record: Any, *documents: Any) -> list[Any]:
    """Write plans one after the other; give the answers, or stop with what was raised."""
    answers = []
    for document, time in zip(documents, TIMES, strict=False):
        try:
            answers.append(record.write_plan(document, time))
        except Exception as error:
            number = len(answers) + 1
            stop(f"Call {number} of write_plan raises {type(error).__name__}: {error}")
        if not isinstance(answers[-1], dict):
            stop(f"Call {len(answers)} of write_plan returns {answers[-1]!r}, which is no answer.")
    return answers


def expect_answer(found: Any, wanted: dict[str, Any], which: str) -> None:
    if found != wanted:
        stop(f"write_plan answers {found!r} to {which}, not {wanted!r}.")


def test_a_clean_plan_is_stored_as_version_1(record: Any) -> None:
    """write_plan answers accepted and version 1, and the record has the plan."""
    (answer,) = write(record, plan())
    expect_answer(answer, {"status": "accepted", "version": 1}, "a clean plan")
    if [row["plan"] for row in record.versions] != [plan()]:
        stop(f"After an accepted plan the record holds {record.versions!r}, not that plan.")


def test_a_refused_plan_comes_back_with_its_problems(record: Any) -> None:
    """write_plan answers refused, with what check says and 1 attempt left, and stores nothing."""
    wanted = {"status": "refused", "problems": problems_of(BAD, "a write on ledger.charges")}
    (answer,) = write(record, BAD)
    expect_answer(answer, wanted | {"attempts_left": 1}, "a write on ledger.charges")
    if record.versions:
        stop("A refused plan stands in the record as a version. Check first, then store.")


def test_a_repaired_revision_is_version_2(record: Any) -> None:
    """A refused revision is no version; the repaired one after it is version 2, revision 1."""
    answers = write(record, plan(), BAD, plan())
    expect_answer(answers[1]["status"], "refused", "a revision that writes on ledger.charges")
    expect_answer(answers[2], {"status": "accepted", "version": 2}, "a repaired revision")
    if record.revisions != 1:
        stop(f"The record counts {record.revisions} revisions after two versions, not 1.")


def test_the_third_attempt_is_handed_back(record: Any) -> None:
    """After two refused plans in a row the third call is handed back, however good its plan."""
    answers = write(record, BAD, BAD, plan())
    expect_answer(answers[1].get("attempts_left"), 0, "a second refused plan, as attempts_left,")
    handed_back = {"status": "handed_back", "attempts_left": 0}
    expect_answer(answers[2], handed_back, "a third attempt")
    if record.versions:
        stop("The third attempt stands in the record as a version.")


def test_an_accepted_plan_begins_a_new_count(record: Any) -> None:
    """An accepted plan ends a row of refusals: the next refusal leaves 1 attempt again."""
    answers = write(record, BAD, plan(), BAD)
    expect_answer(answers[2].get("attempts_left"), 1, "the first refusal after an accepted plan")


def test_your_check_has_nothing_against_the_repaired_plan() -> None:
    """repaired_plan.json is incident_plan.json with another table in step 2, and is clean."""
    FIXTURES.expect_differences(
        "repaired_plan.json", "incident_plan.json", "/steps/1/args/table", "/steps/1/targets/0"
    )
    expect_clean(FIXTURES.read("repaired_plan.json"), "repaired_plan.json")


# Block 5: debrief


def test_your_check_has_nothing_against_february() -> None:
    """february_for_march_plan.json differs from march_plan.json in the file it gets, and passes."""
    name = "february_for_march_plan.json"
    FIXTURES.expect_differences(name, "march_plan.json", "/steps/0/args/key", "/steps/0/targets/0")
    expect_clean(FIXTURES.read(name), name)


def test_every_row_of_the_limits_is_decided() -> None:
    """Each row of limits.json says "refuses" or "passes" under gate."""
    FIXTURES.expect_words("limits.json", "gate", ("refuses", "passes"))


def test_every_question_about_the_trace_has_an_answer() -> None:
    """Each row of trace.json has a text under answer, a number in quotes where one is asked for."""
    rows = FIXTURES.rows("trace.json")
    for name, row in rows.items():
        if not isinstance(row.get("answer"), str) or not row["answer"].strip():
            stop(f'{name} in trace.json says {row.get("answer")!r}. Write a text, like "3".')
        if name != "table" and not row["answer"].strip().isdigit():
            stop(f'{name} in trace.json says {row["answer"]!r}. Write only the number, like "3".')


def test_a_sentence_says_what_a_green_gate_is_no_evidence_of() -> None:
    """lab_notes.json says under green_is_no_proof why safe is not correct, in a whole sentence."""
    notes = FIXTURES.read("lab_notes.json")
    said = notes.get("green_is_no_proof") if isinstance(notes, dict) else None
    if not isinstance(said, str) or len(said.split()) < 8:
        stop("lab_notes.json has no sentence of eight words or more under green_is_no_proof.")
