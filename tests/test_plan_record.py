"""Your tests of the plan record. A gate that is wrong in one of its ways must turn one red.

Run them with ``python -m pytest tests/test_plan_record.py``.
"""

from pathlib import Path

import pytest

from lab.plan_record import PlanRecord, PlanRecordError, check, load_plan

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "plan_record"
NINE, TEN, ELEVEN = (f"2026-04-01T{hour}:00:00Z" for hour in ("09", "10", "11"))

# A plan, and the problem that must be found in it, word for word.
REFUSALS = [
    ("incident_plan.json", "step 2: writes to protected target ledger.charges"),
    ### BEGIN SOLUTION
    ("mislabelled_effect_plan.json", "step 2: warehouse.truncate declared as read"),
    ("missed_by_effect_plan.json", "step 1: credits.issue is money, declared as read"),
    ("no_targets_plan.json", "step 2: warehouse.load names no targets"),
    ### STUB
    # # Add mislabelled_effect_plan.json, missed_by_effect_plan.json and no_targets_plan.json.
    ### END SOLUTION
]


def policy() -> dict[str, object]:
    """Load the policy as plain JSON."""
    loaded: dict[str, object] = load_plan(FIXTURES / "policy.json")
    return loaded


@pytest.mark.parametrize(("name", "problem"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_an_unsafe_plan_has_its_problem(name: str, problem: str) -> None:
    """For each row of REFUSALS: one of the problems that check lists says so."""
    ### BEGIN SOLUTION
    assert problem in "; ".join(check(load_plan(FIXTURES / name), policy()))
    ### STUB
    # pytest.fail("not written yet: check the plan, and look for the problem in what it says")
    ### END SOLUTION


def test_a_tool_that_is_not_there_is_a_problem() -> None:
    """impossible_tool_plan.json: one problem, with "step 3: no such tool 'notify_customer'"."""
    ### BEGIN SOLUTION
    (problem,) = check(load_plan(FIXTURES / "impossible_tool_plan.json"), policy())

    assert "step 3: no such tool 'notify_customer'" in problem
    ### STUB
    # pytest.fail("not written yet: check the plan, and look at what its one problem says")
    ### END SOLUTION


def test_a_clean_plan_has_no_problems() -> None:
    """march_plan.json: the list is empty."""
    ### BEGIN SOLUTION
    assert check(load_plan(FIXTURES / "march_plan.json"), policy()) == []
    ### STUB
    # pytest.fail("not written yet: check march_plan.json, and expect an empty list")
    ### END SOLUTION


def test_a_refused_revision_is_not_stored_and_a_repaired_one_is_version_2(tmp_path: Path) -> None:
    """Write march_plan.json, then the incident, then repaired_plan.json; look at each answer."""
    record = PlanRecord(tmp_path / "record.jsonl", policy())
    ### BEGIN SOLUTION
    first = record.write_plan(load_plan(FIXTURES / "march_plan.json"), NINE)
    refused = record.write_plan(load_plan(FIXTURES / "incident_plan.json"), TEN)

    assert first == {"status": "accepted", "version": 1}
    assert refused["status"] == "refused"
    assert refused["attempts_left"] == 1
    assert len(record.versions) == 1
    repaired = record.write_plan(load_plan(FIXTURES / "repaired_plan.json"), ELEVEN)
    assert repaired == {"status": "accepted", "version": 2}
    assert record.revisions == 1
    ### STUB
    # assert record.versions == []
    # pytest.fail("not written yet: three calls of record.write_plan(plan, NINE), TEN, ELEVEN")
    ### END SOLUTION


def test_the_third_attempt_is_handed_back(tmp_path: Path) -> None:
    """Write the incident twice, then a clean plan: its answer has the status handed_back."""
    record = PlanRecord(tmp_path / "record.jsonl", policy())
    ### BEGIN SOLUTION
    incident = load_plan(FIXTURES / "incident_plan.json")

    assert record.write_plan(incident, NINE)["attempts_left"] == 1
    assert record.write_plan(incident, TEN)["attempts_left"] == 0
    third = record.write_plan(load_plan(FIXTURES / "march_plan.json"), ELEVEN)
    assert third["status"] == "handed_back"
    assert record.versions == []
    ### STUB
    # assert record.versions == []
    # pytest.fail("not written yet: two refused plans, then a clean one")
    ### END SOLUTION


### BEGIN SOLUTION
def step(**changes: object) -> dict[str, object]:
    """Make a plan of one write on a table that nobody protects, with some fields changed."""
    fields: dict[str, object] = {
        "n": 1,
        "tool": "warehouse.load",
        "args": {"table": "staging.lines"},
        "effect": "write",
        "targets": ["staging.lines"],
    }
    return {"goal": "Load the lines", "steps": [fields | changes]}


def problems_of(**changes: object) -> list[str]:
    return check(step(**changes), policy())


def said_about(**changes: object) -> str:
    """Give what check says to such a plan, in one text; how it goes on is the gate's own."""
    return "; ".join(problems_of(**changes))


SPELLINGS = [
    "LEDGER.charges", '"ledger".charges', "warehouse.ledger.charges", "*.charges", "ledger",
    "l\u0435dger.charges", "staging.tmp,ledger.charges",
]  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_protected_table_is_known_in_every_spelling(name: str) -> None:
    assert "writes to protected target" in said_about(args={"table": name}, targets=[name])


@pytest.mark.parametrize("name", ["staging.ledger", "staging.ledger_copy", "STAGING.lines"])
def test_a_name_that_only_resembles_a_protected_one_is_allowed(name: str) -> None:
    assert problems_of(args={"table": name}, targets=[name]) == []


def test_reading_a_protected_table_is_allowed() -> None:
    table = "ledger.charges"

    assert (
        problems_of(tool="warehouse.query", args={"table": table}, effect="read", targets=[table])
        == []
    )


def test_an_argument_that_targets_leave_out_is_a_problem() -> None:
    said = said_about(args={"table": "ledger.charges"})

    assert "step 1: args name ledger.charges, which targets leave out" in said


CREDIT = {"tool": "credits.issue", "effect": "money", "targets": ["cust_81"]}


def test_a_cap_comes_from_the_policy_and_not_from_the_step() -> None:
    asked = {"account": "cust_81", "amount": 9000, "cap": 9000}

    assert "cap of 500" in said_about(**CREDIT, args=asked)
    assert problems_of(**CREDIT, args={"account": "cust_81", "amount": 500}) == []


def test_recipients_are_counted_against_the_bound() -> None:
    many = [f"person{number}@example.org" for number in range(21)]
    mail = {"tool": "email.send", "effect": "external"}

    assert "bound of 20" in said_about(**mail, args={"to": many}, targets=many)
    assert problems_of(**mail, args={"to": many[:20]}, targets=many[:20]) == []


def test_a_path_outside_the_working_directory_is_a_problem() -> None:
    path = "../other_run/lines.csv"

    said = said_about(tool="fs.write", args={"path": path}, targets=[path])

    assert f"step 1: writes outside the working directory: {path}" in said


def test_a_step_number_that_is_used_twice_is_a_problem() -> None:
    plan = step()
    plan["steps"] = [*plan["steps"], *plan["steps"]]  # type: ignore[misc]

    assert "step number 1 is used twice" in "; ".join(check(plan, policy()))


def test_an_artifact_of_no_earlier_step_is_a_problem() -> None:
    said = "; ".join(check(load_plan(FIXTURES / "missing_artifact_plan.json"), policy()))

    assert "step 2: consumes $step_3.output, which no earlier step produces" in said


def test_a_plan_of_the_wrong_shape_is_a_list_of_problems() -> None:
    assert "'target' was unexpected" in said_about(target=["ledger.charges"])
    for plan in (None, [], "clear it out", {"goal": "Load"}):
        assert check(plan, policy())


def test_a_broken_policy_is_no_fault_of_the_plan() -> None:
    with pytest.raises(PlanRecordError, match="available_tools"):
        check(step(), policy() | {"available_tools": "warehouse.load"})


def test_versions_and_attempts_survive_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    incident = load_plan(FIXTURES / "incident_plan.json")

    assert PlanRecord(file, policy()).write_plan(step(), NINE)["version"] == 1
    assert PlanRecord(file, policy()).write_plan(step(), NINE)["version"] == 2
    assert PlanRecord(file, policy()).write_plan(incident, TEN)["attempts_left"] == 1
    assert PlanRecord(file, policy()).write_plan(incident, TEN)["attempts_left"] == 0
    assert PlanRecord(file, policy()).write_plan(step(), TEN)["status"] == "handed_back"


def test_an_accepted_plan_ends_a_row_of_refusals(tmp_path: Path) -> None:
    record = PlanRecord(tmp_path / "record.jsonl", policy())
    incident = load_plan(FIXTURES / "incident_plan.json")

    assert record.write_plan(incident, NINE)["attempts_left"] == 1
    assert record.write_plan(step(), TEN)["status"] == "accepted"
    assert record.write_plan(incident, ELEVEN)["attempts_left"] == 1


def test_a_step_is_recorded_with_the_version_it_ran_under(tmp_path: Path) -> None:
    record = PlanRecord(tmp_path / "record.jsonl", policy())

    record.write_plan(step(), NINE)
    record.dry_run(NINE)
    record.write_plan(step(), TEN)
    record.dry_run(ELEVEN)
    assert [row["version"] for row in record.trace] == [1, 2]
    assert record.version_at("2026-04-01T11:59:59+02:00") == 1


### STUB
# # More tests of your own, if you like.
### END SOLUTION
