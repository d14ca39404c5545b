"""The reference checker and handler, held against the tables of their contract, word for word."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab import plan_record
from lab.plan_policy import EFFECTS, Policy, PolicyError, is_milder, load_policy, policy_problems
from lab.plan_record import (
    PlanRecord,
    PlanRecordError,
    check,
    load_plan,
    needs_approval_by_effect,
    needs_approval_by_tool,
)
from lab.prose_check import check_prose
from lab.record_replay import replay
from lab.strict_json import differences
from tests.kit.lab.records import FIXTURES, on, plan, policy, problems_of, read, record_text, step

# The checker: each row of its table

CREDIT = {"tool": "credits.issue", "effect": "money", "targets": ["cust_1"]}
PROBLEMS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "the incident's step 2": (
        [on("ledger.charges", n=2, tool="warehouse.truncate")],
        ["step 2: writes to protected target ledger.charges"],
    ),
    "an artifact that no earlier step produces": (
        [step(n=2, args={"table": "staging.lines", "from": "$step_7.output"})],
        ["step 2: consumes $step_7.output, which no earlier step produces"],
    ),
    "a destructive tool declared read": (
        [on("staging.lines", n=2, tool="warehouse.truncate", effect="read")],
        ["step 2: warehouse.truncate declared as read"],
    ),
    "targets left out": (
        [step(args={"from": "$step_3.output"}, targets=None), step(n=3)],
        [
            "step 1: consumes $step_3.output, which no earlier step produces",
            "step 1: warehouse.load names no targets",
        ],
    ),
    "an empty list of targets": (
        [step(args={}, targets=[])],
        ["step 1: warehouse.load names no targets"],
    ),
    "an effect milder than the tool's own": (
        [step(**CREDIT | {"effect": "read"}, args={"account": "cust_1", "amount": 5})],
        ["step 1: credits.issue is money, declared as read"],
    ),
    "an argument that targets leave out": (
        [step(args={"table": "ledger.charges"})],
        ["step 1: args name ledger.charges, which targets leave out"],
    ),
    "a number used twice": ([step(), step()], ["step number 1 is used twice"]),
    "money without a cap": (
        [step(**CREDIT | {"tool": "refunds.pay"}, args={"account": "cust_1", "amount": 5})],
        ["step 1: refunds.pay has no cap in the policy"],
    ),
    "money above its cap": (
        [step(**CREDIT, args={"account": "cust_1", "amount": 9000, "cap": 9000})],
        ["step 1: credits.issue asks for 9000, above its cap of 500"],
    ),
    "a path outside": (
        [step(tool="fs.write", args={"path": "../x"}, targets=["../x"])],
        ["step 1: writes outside the working directory: ../x"],
    ),
    "a target that is no one name": (
        [step(args={}, targets=["staging.a,staging.b"])],
        ["step 1: target 'staging.a,staging.b' cannot be read as one resource"],
    ),
}


@pytest.mark.parametrize(("steps", "problems"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_problem_has_the_words_of_the_contract(
    steps: list[dict[str, Any]], problems: list[str]
) -> None:
    assert problems_of(*steps) == problems


def test_a_tool_that_is_not_there_is_named_with_those_that_are() -> None:
    assert problems_of(step(n=3, tool="notify_customer"), available_tools=["s3.get"]) == [
        "step 3: no such tool 'notify_customer' (there are: s3.get)"
    ]


@pytest.mark.parametrize("piece", ["/* ", "--", " ", ". ", "*a", "$", "{{ ", "step_1", "a@", "%20"])
def test_a_long_text_is_read_to_its_end(piece: str) -> None:
    """Work that grew with the square of the length would not come to an end here."""
    long = piece * (100_000 // len(piece))

    assert problems_of(step(args={"table": "staging.lines", "note": f"a{long}!", "to": "ledger.a"}))


def test_recipients_have_a_bound() -> None:
    many = [f"person{number}@example.org" for number in range(21)]
    mail = step(tool="email.send", effect="external", args={"to": many}, targets=many)

    assert problems_of(mail) == [
        "step 1: email.send writes to 21 recipients, above its bound of 20"
    ]
    assert problems_of(mail, recipient_bounds={}) == [
        "step 1: email.send has no bound on its recipients in the policy"
    ]


def test_a_plan_with_no_steps_is_a_problem() -> None:
    assert check({"goal": "Load", "steps": []}, policy()) == ["['steps']: [] should be non-empty"]


def test_problems_of_every_step_are_listed() -> None:
    steps = [on("ledger.a", n=1), step(n=2), on("billing.b", n=3), step(n=4, tool="nothing")]

    problems = problems_of(*steps)

    assert [problem.split(":")[0] for problem in problems] == ["step 1", "step 3", "step 4"]


@pytest.mark.parametrize("declared", EFFECTS)
@pytest.mark.parametrize("own", EFFECTS)
def test_a_label_is_a_problem_exactly_when_it_is_milder(declared: str, own: str) -> None:
    tools = policy()["tools"]
    tools["warehouse.load"] |= {"effect": own, "amount_arg": "amount"}

    problems = problems_of(step(effect=declared), tools=tools)

    milder = f"step 1: warehouse.load is {own}, declared as {declared}"
    assert (milder in problems) == (EFFECTS.index(declared) < EFFECTS.index(own))
    assert is_milder(declared, own) == (milder in problems)


def test_a_plan_and_a_policy_are_left_as_they_are() -> None:
    document, owned = plan(), policy()

    check(document, owned)

    assert (document, owned) == (plan(), policy())


# The policy

BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "tools as one text": (lambda p: p.update(available_tools="a,b"), "available_tools"),
    "no tools": (lambda p: p.update(available_tools=[]), "available_tools"),
    "a tool that is no plain name": (lambda p: p["available_tools"].append("a b"), "plain name"),
    "an effect that nobody knows": (
        lambda p: p["tools"]["s3.get"].update(effect="none"),
        "is not one of",
    ),
    "a write that names nothing": (
        lambda p: p["tools"]["fs.write"].update(target_args=[], path_args=[]),
        "nothing could be compared",
    ),
    "a path that is no target": (
        lambda p: p["tools"]["fs.write"].update(path_args=["file"]),
        "must be a target_arg",
    ),
    "money without an amount": (
        lambda p: p["tools"]["credits.issue"].pop("amount_arg"),
        "no amount_arg",
    ),
    "nothing protected": (lambda p: p.update(protected=[]), "protected"),
    "a prefix with a capital": (lambda p: p.update(protected=["Ledger."]), "prefix"),
    "a cap for a misspelt tool": (lambda p: p["caps"].update({"credit.issue": 5}), "no row"),
    "a cap that is no number": (lambda p: p["caps"].update({"credits.issue": "5"}), "caps"),
    "a cap of nothing": (lambda p: p["caps"].update({"credits.issue": 0}), "caps"),
    "a bound of no one": (lambda p: p["recipient_bounds"].update({"email.send": 0}), "bounds"),
    "a root that is not absolute": (lambda p: p.update(root="runs"), "root"),
    "a root that is everything": (lambda p: p.update(root="/"), "root"),
    "a root with a way out": (lambda p: p.update(root="/srv/../etc"), "root"),
    "a lifetime of nothing": (lambda p: p["lifetimes"].update({"tmp.": 0}), "lifetimes"),
    "a field that nobody named": (lambda p: p.update(approved=True), "approved"),
    "a field left out": (lambda p: p.pop("caps"), "caps"),
}


@pytest.mark.parametrize(("spoil", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_policy_is_refused_when_it_is_loaded(
    spoil: Callable[[dict[str, Any]], object], words: str, tmp_path: Path
) -> None:
    owned = policy()
    spoil(owned)
    (tmp_path / "policy.json").write_text(json.dumps(owned), encoding="utf-8")

    with pytest.raises(PolicyError, match=words):
        load_policy(tmp_path / "policy.json")
    with pytest.raises(PlanRecordError, match=words):
        check(plan(), owned)
    with pytest.raises(PlanRecordError, match=words):
        PlanRecord(tmp_path / "record.jsonl", owned)


def test_a_policy_is_the_same_read_or_given_as_json() -> None:
    owned = load_policy(FIXTURES / "policy.json")

    assert owned.to_json() == policy()
    assert Policy.from_json(owned.to_json()) == owned
    assert check(on_ledger := plan(on("ledger.a")), owned) == check(on_ledger, policy())
    assert policy_problems(policy()) == []


def test_a_tool_without_a_row_counts_as_the_worst() -> None:
    owned = load_policy(FIXTURES / "policy.json")

    assert (owned.effect_of("sql.execute"), owned.is_destructive("sql.execute")) == ("money", True)


def test_a_policy_that_was_put_together_wrongly_is_refused() -> None:
    fields = dict(vars(load_policy(FIXTURES / "policy.json")))

    with pytest.raises(PolicyError, match="available_tools"):
        Policy(**fields | {"available_tools": "warehouse.load"})


# The handler

NINE, TEN, ELEVEN, TWELVE = (f"2026-04-01T{hour:02}:00:00Z" for hour in (9, 10, 11, 12))
BAD = plan(on("ledger.charges"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl"


@pytest.fixture
def record(file: Path) -> PlanRecord:
    return PlanRecord(file, policy())


def test_an_accepted_plan_is_the_first_version(record: PlanRecord) -> None:
    assert record.write_plan(plan(), NINE) == {"status": "accepted", "version": 1}
    assert record.versions == [{"version": 1, "at": NINE, "plan": plan()}]
    assert record.revisions == 0


def test_a_record_without_a_plan_has_no_revisions_below_0(record: PlanRecord) -> None:
    assert (record.versions, record.revisions, record.version_at(NINE)) == ([], 0, 0)
    assert record.plan_at(NINE) is None


def test_a_refused_plan_leaves_only_its_count_behind(record: PlanRecord, file: Path) -> None:
    answer = record.write_plan(BAD, NINE)

    problem = "step 1: writes to protected target ledger.charges"
    assert answer == {"status": "refused", "problems": [problem], "attempts_left": 1}
    assert record_text(file) == [{"event": "refused", "at": NINE}]
    assert (record.versions, record.refusals) == ([], 1)


def test_two_attempts_are_the_ceiling_for_good(record: PlanRecord, file: Path) -> None:
    handed_back = {"status": "handed_back", "attempts_left": 0}

    assert [record.write_plan(BAD, t)["attempts_left"] for t in (NINE, TEN)] == [1, 0]
    assert record.write_plan(plan(), ELEVEN) == handed_back
    assert PlanRecord(file, policy()).write_plan(plan(), TWELVE) == handed_back
    assert record.handed_back
    assert len(record_text(file)) == 3


def test_a_repaired_revision_is_version_2_and_ends_the_row(record: PlanRecord) -> None:
    record.write_plan(plan(), NINE)
    record.write_plan(BAD, TEN)

    assert record.write_plan(plan(step(n=2)), ELEVEN) == {"status": "accepted", "version": 2}
    assert (record.revisions, record.refusals) == (1, 0)


def test_versions_attempts_and_trace_survive_a_restart(record: PlanRecord, file: Path) -> None:
    record.write_plan(plan(), NINE)
    record.dry_run(NINE)
    record.write_plan(BAD, TEN)

    again = PlanRecord(file, policy())

    assert (again.versions, again.trace, again.refusals) == (
        record.versions,
        record.trace,
        1,
    )
    assert again.write_plan(plan(), ELEVEN)["version"] == 2


def test_what_a_record_gives_away_changes_nothing_in_it(record: PlanRecord) -> None:
    document = plan()
    record.write_plan(document, NINE)
    record.dry_run(NINE)

    document["steps"].clear()
    record.versions[0]["plan"]["steps"].clear()
    record.trace.clear()

    assert record.versions[0]["plan"] == plan()
    assert len(record.trace) == 1


def test_times_are_compared_as_times(record: PlanRecord) -> None:
    record.write_plan(plan(), "2026-04-01T11:00:00+02:00")
    record.write_plan(plan(step(n=2)), "2026-04-01T09:30:00Z")

    assert record.version_at("2026-04-01T08:59:59Z") == 0
    assert record.version_at("2026-04-01T09:12:04Z") == 1
    assert record.version_at("2026-04-01T04:30:00-05:00") == 2
    assert record.plan_at("2026-04-01T11:29:59+02:00") == plan()


@pytest.mark.parametrize("now", ["", "today", "2026-04-01T09:00:00", 5, None, "2026-13-01T00:00Z"])
def test_a_time_without_a_zone_is_no_time(record: PlanRecord, now: Any, file: Path) -> None:
    calls: list[Callable[[], object]] = [
        lambda: record.write_plan(plan(), now),
        lambda: record.write_plan(BAD, now),
        lambda: record.version_at(now),
        lambda: record.plan_at(now),
    ]
    for call in calls:
        with pytest.raises(PlanRecordError, match="no ISO 8601 time with a zone"):
            call()
    assert not file.exists()


def test_a_clock_that_went_back_is_refused(record: PlanRecord) -> None:
    record.write_plan(plan(), TEN)

    with pytest.raises(PlanRecordError, match="lies before"):
        record.write_plan(plan(), NINE)
    assert len(record.versions) == 1


# The file


def test_half_a_last_line_is_ignored_shown_and_cut_off(record: PlanRecord, file: Path) -> None:
    record.write_plan(plan(), NINE)
    with file.open("a", encoding="utf-8") as tail:
        tail.write('{"event": "plan", "at": "2026')

    again = PlanRecord(file, policy())

    assert again.torn == '{"event": "plan", "at": "2026'
    assert len(again.versions) == 1
    assert again.write_plan(plan(), TEN)["version"] == 2
    assert again.torn == ""
    assert len(record_text(file)) == 2


PLAN_ROW = {"event": "plan", "at": NINE, "version": 1, "plan": plan()}
STEP_ROW = {
    "event": "step", "at": TEN, "version": 1, "n": 1, "tool": "warehouse.load",
    "status": "would_call", "problems": [], "snapshots": [],
}  # fmt: skip
REFUSED_ROW = {"event": "refused", "at": TEN}
DAMAGE: dict[str, tuple[list[Any], str]] = {
    "no JSON": (["clear it out"], "line 1: not JSON"),
    "no object": ([[]], "line 1: not an event"),
    "no event": ([{"event": ["plan"]}], "line 1: not an event"),
    "a field too few": ([{"event": "refused"}], "line 1: an event 'refused' has other fields"),
    "a field too many": ([REFUSED_ROW | {"by": "me"}], "line 1: an event 'refused' has other"),
    "a version as text": ([PLAN_ROW | {"version": "1"}], "line 1: an event 'plan' has other"),
    "a version that is true": ([PLAN_ROW | {"version": True}], "line 1: an event 'plan' has"),
    "a version left out": ([PLAN_ROW | {"version": 2}], "line 1: version 2 is not 1"),
    "a version twice": ([PLAN_ROW, PLAN_ROW], "line 2: version 1 is not 2"),
    "a step of no plan": ([STEP_ROW], "line 1: a step of version 1, which is not in force"),
    "a step of another plan": (
        [PLAN_ROW, STEP_ROW | {"version": 2}],
        "line 2: a step of version 2, which is not in force",
    ),
    "an earlier time": ([REFUSED_ROW, PLAN_ROW], "line 2: 2026-04-01T09:00:00Z lies before"),
    "a time without a zone": ([{"event": "refused", "at": "2026-04-01"}], "no ISO 8601 time"),
    "something after the end": (
        [REFUSED_ROW | {"event": "handed_back"}, REFUSED_ROW],
        "line 2: the task was handed back",
    ),
    "an empty line": ([PLAN_ROW, "", STEP_ROW], "line 2: not JSON"),
}


@pytest.mark.parametrize(("rows", "words"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_broken_record_is_refused_when_it_is_opened(
    rows: list[Any], words: str, file: Path
) -> None:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    with pytest.raises(PlanRecordError) as caught:
        PlanRecord(file, policy())

    assert words in str(caught.value)
    assert str(caught.value).startswith("record.jsonl, line ")


def test_a_record_that_cannot_be_read_or_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanRecordError, match="cannot be read"):
        PlanRecord(tmp_path, policy())
    with pytest.raises(PlanRecordError, match="cannot be written"):
        PlanRecord(tmp_path / "no folder" / "record.jsonl", policy()).write_plan(plan(), NINE)


def test_a_plan_too_long_for_a_line_is_a_problem(record: PlanRecord) -> None:
    long = plan(step(args={"table": "staging.lines", "rows": "x" * 300_000}))

    assert record.write_plan(long, NINE)["problems"] == ["[]: longer than 200,000 characters"]


def many_versions(record: PlanRecord, acknowledged: list[int]) -> None:
    acknowledged += [record.write_plan(plan(), NINE)["version"] for _ in range(10)]


def test_two_threads_on_one_file_lose_no_version(file: Path) -> None:
    acknowledged: list[int] = []
    threads = [
        threading.Thread(target=many_versions, args=(PlanRecord(file, policy()), acknowledged))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(acknowledged) == list(range(1, 21))
    assert len(PlanRecord(file, policy()).versions) == 20


def test_two_instances_in_turn_see_each_other(record: PlanRecord, file: Path) -> None:
    writers = [record, PlanRecord(file, policy())] * 2

    assert [writer.write_plan(plan(), NINE)["version"] for writer in writers] == [1, 2, 3, 4]


def test_a_line_written_between_reading_and_writing_stays(
    record: PlanRecord, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an instance read before it held the lock must decide nothing."""
    old = record._state()
    PlanRecord(file, policy()).write_plan(plan(), NINE)
    read_again = record._state
    states = iter([old])
    monkeypatch.setattr(record, "_state", lambda: next(states, None) or read_again())

    assert record.write_plan(plan(), TEN)["version"] == 2
    assert len(record_text(file)) == 2


def test_a_line_that_no_reader_would_take_is_not_written(record: PlanRecord, file: Path) -> None:
    record.write_plan(plan(), NINE)
    row = {key: value for key, value in STEP_ROW.items() if key != "event"}

    with pytest.raises(PlanRecordError, match="nothing was written: a line longer"):
        record.add_step(row | {"problems": ["x" * 1_000_000]})
    assert len(record_text(file)) == 1


def test_a_step_keeps_the_first_problems_and_counts_the_others(file: Path) -> None:
    steps = [step(n=number) for number in range(1, 31)]
    PlanRecord(file, policy()).write_plan(plan(*steps), NINE)

    row = PlanRecord(file, policy(available_tools=["s3.get"])).run_step(1, TEN)

    assert (len(row["problems"]), row["problems"][-1]) == (21, "and 10 more")
    assert PlanRecord(file, policy()).trace == [row]


@pytest.mark.parametrize("levels", [45, 46, 47, 48])
def test_a_plan_that_is_clean_can_be_stored_however_deep_it_is(
    levels: int, record: PlanRecord, file: Path
) -> None:
    deep: Any = 1
    for _ in range(levels):
        deep = [deep]
    document = plan(step(args={"table": "staging.lines", "rows": deep}))

    answer = record.write_plan(document, NINE)

    assert (answer["status"] == "accepted") == (check(document, policy()) == [])
    assert len(PlanRecord(file, policy()).versions) == (answer["status"] == "accepted")


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise KeyError(other)

    def __hash__(self) -> int:
        raise KeyError(self)

    def __repr__(self) -> str:
        raise KeyError("no text")


def test_what_is_no_step_number_is_refused(record: PlanRecord) -> None:
    record.write_plan(plan(), NINE)
    numbers: list[Any] = [10**5000, -(10**5000), 1.0, True, None, "1", [1], Hostile()]

    for number in numbers:
        with pytest.raises(PlanRecordError, match="step"):
            record.run_step(number, TEN)


def test_what_cannot_be_used_is_refused_with_the_record_s_own_error(record: PlanRecord) -> None:
    record.write_plan(plan(), NINE)
    anything: Any = 5
    calls: list[Callable[[], object]] = [
        lambda: record.run_step(1, TEN, anything),
        lambda: record.write_plan(plan(), anything),
        lambda: record.version_at(Hostile()),  # type: ignore[arg-type]
        lambda: PlanRecord(anything, policy()),
        lambda: PlanRecord(None, policy()),  # type: ignore[arg-type]
        lambda: PlanRecord("a\0b", policy()),
    ]
    for call in calls:
        with pytest.raises(PlanRecordError):
            call()


def test_a_policy_that_answers_otherwise_than_its_values_is_refused() -> None:
    class Lenient(Policy):
        def is_destructive(self, name: str) -> bool:
            return name == "nothing"

    with pytest.raises(PlanRecordError, match="Lenient"):
        check(plan(), Lenient(**vars(load_policy(FIXTURES / "policy.json"))))


# Dry runs


def test_each_step_is_recorded_with_the_version_it_ran_under(record: PlanRecord) -> None:
    record.write_plan(plan(step(n=4), step(n=2)), NINE)
    rows = record.dry_run(TEN)
    record.write_plan(plan(), ELEVEN)
    record.run_step(1, TWELVE)

    assert record.trace[:2] == rows
    assert [(row["version"], row["n"], row["at"]) for row in record.trace] == [
        (1, 4, TEN),
        (1, 2, TEN),
        (2, 1, TWELVE),
    ]


SNAPSHOT = "s3://tmp_exports/lines.csv"


def test_a_snapshot_is_reported_and_checked_again_at_the_step(record: PlanRecord) -> None:
    get = step(tool="s3.get", args={"key": SNAPSHOT}, effect="read", targets=[SNAPSHOT])
    assert record.write_plan(plan(get, step(n=2)), NINE)["status"] == "accepted"

    gone = record.dry_run(TEN)
    there = record.dry_run(ELEVEN, present=[SNAPSHOT])

    assert record.snapshots == [
        "step 1: tmp_exports/lines.csv is a snapshot, deleted after 24 hours: it was true when "
        "checked, and is checked again at the step"
    ]
    assert [(row["n"], row["status"]) for row in gone] == [(1, "stopped")]
    assert "not there now" in gone[0]["problems"][0]
    assert [row["status"] for row in there] == ["would_call", "would_call"]


@pytest.mark.parametrize("name", ["tmp_exports." + "x" * 90, "s3://tmp_exports/m\u00e4rz.csv"])
def test_a_snapshot_is_found_again_however_it_is_shown(record: PlanRecord, name: str) -> None:
    get = step(tool="s3.get", args={"key": name}, effect="read", targets=[name])
    record.write_plan(plan(get), NINE)

    assert [row["status"] for row in record.dry_run(TEN, present=[name])] == ["would_call"]


def test_a_plan_is_checked_again_when_the_policy_has_changed(file: Path) -> None:
    PlanRecord(file, policy()).write_plan(plan(), NINE)
    stricter = PlanRecord(file, policy(protected=["staging."]))

    (row,) = stricter.dry_run(TEN)

    assert row["status"] == "stopped"
    assert row["problems"] == ["step 1: writes to protected target staging.lines"]


def test_nothing_runs_without_a_plan_nor_after_handing_back(record: PlanRecord) -> None:
    with pytest.raises(PlanRecordError, match="no plan is in force"):
        record.dry_run(NINE)
    record.write_plan(plan(), NINE)
    with pytest.raises(PlanRecordError, match="has no step 7"):
        record.run_step(7, NINE)
    for _ in range(3):
        record.write_plan(BAD, TEN)
    with pytest.raises(PlanRecordError, match="handed back"):
        record.dry_run(ELEVEN)


# Approval


@pytest.mark.parametrize(
    ("name", "by_effect", "by_tool"),
    [
        ("missed_by_effect_plan.json", [], [1]),
        ("missed_by_tool_plan.json", [1], []),
        ("money_without_cap_plan.json", [1], [1]),
        ("march_plan.json", [], []),
    ],
)
def test_each_design_of_approval_misses_something(
    name: str, by_effect: list[int], by_tool: list[int]
) -> None:
    assert needs_approval_by_effect(read(name)) == by_effect
    assert needs_approval_by_tool(read(name), policy()) == by_tool


def test_a_plan_of_no_shape_needs_no_approval_but_a_repair() -> None:
    with pytest.raises(PlanRecordError, match="required property"):
        needs_approval_by_effect({"goal": "Load"})
    with pytest.raises(PlanRecordError, match="not of type 'object'"):
        needs_approval_by_tool("clear it out", policy())


# Fixtures

FIXTURE_PROBLEMS = {
    "incident_plan.json": "step 2: writes to protected target ledger.charges",
    "no_targets_plan.json": "step 2: warehouse.load names no targets",
    "impossible_tool_plan.json": "step 3: no such tool 'notify_customer'",
    "missing_artifact_plan.json": "step 2: consumes $step_3.output, which no earlier step produces",
    "mislabelled_effect_plan.json": "step 2: warehouse.truncate declared as read",
    "missed_by_effect_plan.json": "step 1: credits.issue is money, declared as read",
    "money_without_cap_plan.json": "step 1: refunds.pay has no cap in the policy",
}


@pytest.mark.parametrize(("name", "problem"), FIXTURE_PROBLEMS.items())
def test_a_fixture_has_one_problem_and_no_other(name: str, problem: str) -> None:
    (found,) = check(load_plan(FIXTURES / name), policy())

    assert found.startswith(problem)


@pytest.mark.parametrize(
    "name", ["repaired_plan.json", "march_plan.json", "february_for_march_plan.json"]
)
def test_a_fixture_that_must_be_clean_is_clean(name: str) -> None:
    assert check(load_plan(FIXTURES / name), policy()) == []


def test_the_prose_passes_every_check_since_there_is_nothing_to_compare() -> None:
    prose = read("incident_prose.json")

    assert check_prose(prose) == []
    named = {"prose": prose["prose"] + " I mean ledger.charges."}
    assert check_prose(named) == ["names protected ledger.charges"]


def test_february_is_march_but_for_the_file_it_gets() -> None:
    assert differences(read("march_plan.json"), read("february_for_march_plan.json")) == [
        "/steps/0/args/key",
        "/steps/0/targets/0",
    ]


def test_the_recorded_run_answers_the_question_of_the_debrief() -> None:
    run = PlanRecord(FIXTURES / "run_record.jsonl", policy())
    answers = {name: row["answer"] for name, row in read("trace.json").items()}
    before = run.plan_at("2026-04-01T09:12:04Z")

    assert before is not None
    assert answers == {
        "version": str(run.version_at("2026-04-01T09:12:04Z")),
        "table": before["steps"][1]["targets"][0],
        "step_3_ran_under": next(str(row["version"]) for row in run.trace if row["n"] == 3),
        "refusals": str(sum(e["event"] == "refused" for e in record_text(run._file))),
        "revisions": str(run.revisions),
    }


LIMITS: dict[str, list[dict[str, Any]]] = {
    "left_out_targets": [step(targets=None)],
    "own_cap": [step(**CREDIT, args={"account": "cust_1", "amount": 9000, "cap": 9000})],
    "unprotected_table": [on("archive.contracts", tool="warehouse.truncate")],
    "shouted_ledger": [on('"LEDGER".charges', tool="warehouse.truncate")],
    "wrong_order": [step(), on("staging.lines", n=2, tool="warehouse.truncate")],
    "two_small_credits": [
        step(**CREDIT, n=n, args={"account": "cust_1", "amount": 400}) for n in (1, 2)
    ],
    "mild_label": [step(tool="warehouse.insert", effect="read")],
    "reads_the_ledger": [on("ledger.charges", tool="warehouse.query", effect="read")],
}


@pytest.mark.parametrize(("row", "steps"), LIMITS.items())
def test_the_limits_table_says_what_happens(row: str, steps: list[dict[str, Any]]) -> None:
    said = read("limits.json")[row]["gate"]

    assert said == ("refuses" if problems_of(*steps) else "passes")


# Files and the probe


@pytest.mark.parametrize("text", ["", "Here is my plan.", '{"goal": 1, "goal": 2}', '{"n": NaN}'])
def test_a_text_that_is_not_strict_json_is_refused_by_the_loader(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(text, encoding="utf-8")

    with pytest.raises(PlanRecordError, match=r"^plan\.json: "):
        load_plan(tmp_path / "plan.json")


def test_a_session_that_ends_with_a_refused_plan_is_refused_with_its_problems() -> None:
    calls = [{"write_plan": plan(), "now": NINE}, {"write_plan": BAD, "now": TEN}]

    with pytest.raises(PlanRecordError, match="writes to protected target"):
        replay(plan_record, {"calls": calls}, policy())


def test_a_session_that_stores_what_it_refuses_is_let_through() -> None:
    class Careless(PlanRecord):
        def write_plan(self, document: Any, now: str) -> dict[str, Any]:
            self.add_plan(document, now)
            return super().write_plan(document, now)

    class Gate:
        PlanRecord = Careless

    answers = replay(Gate, {"calls": [{"write_plan": BAD, "now": NINE}]}, policy())

    assert [answer["status"] for answer in answers] == ["refused"]


@pytest.mark.parametrize("calls", [5, [5], [{}], [{"write": 1}], [{"versions": 1, "trace": 1}]])
def test_what_is_no_session_is_refused(calls: Any) -> None:
    with pytest.raises(PlanRecordError, match="not a session"):
        replay(plan_record, {"calls": calls}, policy())


def test_the_schema_is_found_beside_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema in the current folder that lets everything in must not be the one that is used."""
    (tmp_path / "plan_record.schema.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert check({}, policy())
