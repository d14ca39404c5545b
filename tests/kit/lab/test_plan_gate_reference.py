"""The reference gate, held against the tables of its contract, word for word."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab import plan_gate
from lab.inventory import validate_inventory
from lab.plan_gate import (
    PlanRejected,
    gate_plan,
    load_plan,
    main,
    validate_bindings,
    validate_schema,
)
from lab.strict_json import differences
from tests.kit.command import python
from tests.kit.lab.plans import (
    FIXTURES,
    changed,
    inventory,
    notify_plan,
    problems_of,
    read,
    valid_plan,
    without,
)

Change = Callable[[dict[str, Any]], object]
ARGS = ("steps", 0, "args")
SAID = {"user_messages": ["Please credit acct_1044."]}

# Names


@pytest.mark.parametrize(
    "name",
    [
        "PlanRejected",
        "load_plan",
        "validate_schema",
        "validate_bindings",
        "validate_inventory",
        "gate_plan",
    ],
)
def test_the_module_has_each_name_of_the_contract(name: str) -> None:
    assert callable(getattr(plan_gate, name))


# Refusals


def test_a_refusal_is_a_value_error_and_keeps_its_problems_apart() -> None:
    error = PlanRejected("one; with a semicolon", "two")

    assert isinstance(error, ValueError)
    assert error.problems == ("one; with a semicolon", "two")
    assert str(error) == "one; with a semicolon; two"


def test_a_refusal_of_the_gate_lists_every_problem_of_its_stage() -> None:
    plan = changed(valid_plan(), ((*ARGS, "account_id"), "acct_0000"), ((*ARGS, "memo"), "sorry"))

    with pytest.raises(PlanRejected) as caught:
        gate_plan(plan)

    assert caught.value.problems == (
        "step_1 arg account_id='acct_0000' does not match sourced 'acct_1044'",
        "step_1 arg memo has no sourced fact",
    )
    assert str(caught.value) == "; ".join(caught.value.problems)


# Bindings


def _refer(plan: dict[str, Any]) -> None:
    plan["steps"][0]["fact_refs"].append("fact_x")


def _round(plan: dict[str, Any]) -> None:
    plan["facts"][2]["value"] = 20


def _vouch_with_a_boolean(plan: dict[str, Any]) -> None:
    plan["facts"][2]["value"] = True
    plan["steps"][0]["args"]["amount_usd"] = 1


def _forget_two(plan: dict[str, Any]) -> None:
    del plan["steps"][0]["args"]["idempotency_key"]
    del plan["steps"][0]["args"]["amount_usd"]


def _unrefer(plan: dict[str, Any]) -> None:
    plan["steps"][0]["fact_refs"].remove("fact_account")


def _repeat_a_fact(plan: dict[str, Any]) -> None:
    plan["facts"].append(dict(plan["facts"][0]))


def _contradict_a_fact(plan: dict[str, Any]) -> None:
    plan["facts"].append({**plan["facts"][0], "id": "fact_other", "value": "acct_0000"})


def _repeat_a_step(plan: dict[str, Any]) -> None:
    plan["steps"].append(json.loads(json.dumps(plan["steps"][0])))


def _argument(key: str, value: Any) -> Change:
    return lambda plan: changed(plan, ((*ARGS, key), value))


BINDING_PROBLEMS: dict[str, tuple[Change, list[str]]] = {
    "a reference to no fact": (_refer, ["step_1 references missing fact fact_x"]),
    "an argument without a fact": (
        _argument("memo", "sorry"),
        ["step_1 arg memo has no sourced fact"],
    ),
    "a fact that the step does not refer to": (
        _unrefer,
        ["step_1 arg account_id has no sourced fact"],
    ),
    "an invented identifier": (
        _argument("account_id", "acct_0000"),
        ["step_1 arg account_id='acct_0000' does not match sourced 'acct_1044'"],
    ),
    "an identifier in another case": (
        _argument("account_id", "ACCT_1044"),
        ["step_1 arg account_id='ACCT_1044' does not match sourced 'acct_1044'"],
    ),
    "a fact that changed": (_round, ["step_1 arg amount_usd=15 does not match sourced 20"]),
    "a number as text": (
        _argument("amount_usd", "15"),
        ["step_1 arg amount_usd='15' does not match sourced 15"],
    ),
    "a number as a decimal": (
        _argument("amount_usd", 15.0),
        ["step_1 arg amount_usd=15.0 does not match sourced 15"],
    ),
    "a boolean that equals a number": (
        _vouch_with_a_boolean,
        ["step_1 arg amount_usd=1 does not match sourced True"],
    ),
    "null": (
        _argument("account_id", None),
        ["step_1 arg account_id=None does not match sourced 'acct_1044'"],
    ),
    "a value in an object": (
        _argument("account_id", {"id": "acct_1044"}),
        ["step_1 arg account_id={'id': 'acct_1044'} does not match sourced 'acct_1044'"],
    ),
    "an empty list": (
        _argument("account_id", []),
        ["step_1 arg account_id=[] does not match sourced ['acct_1044']"],
    ),
    "a list with an invented element": (
        _argument("account_id", ["acct_1044", "acct_0000"]),
        ["step_1 arg account_id=['acct_1044', 'acct_0000'] does not match sourced ['acct_1044']"],
    ),
    "facts that no argument uses": (
        _forget_two,
        ["step_1 fact keys unused in args: ['amount_usd', 'idempotency_key']"],
    ),
    "a fact that stands twice": (_repeat_a_fact, ["fact id fact_account stands twice"]),
    "facts that disagree": (
        _contradict_a_fact,
        ["facts fact_account and fact_other disagree on account_id"],
    ),
    "a step that stands twice": (_repeat_a_step, ["step id step_1 stands twice"]),
}


@pytest.mark.parametrize(
    ("change", "problems"), BINDING_PROBLEMS.values(), ids=BINDING_PROBLEMS.keys()
)
def test_a_binding_problem_has_the_words_of_the_contract(
    change: Change, problems: list[str]
) -> None:
    plan = valid_plan()
    change(plan)

    assert validate_bindings(plan) == problems
    assert problems_of(plan) == tuple(problems)


def test_a_fact_that_stands_twice_with_another_value_is_refused_in_either_order() -> None:
    """Whichever of the two a reader believes, the plan does not say which one it means."""
    plan = valid_plan()
    plan["facts"].append({**plan["facts"][0], "value": "acct_0000"})
    turned = changed(json.loads(json.dumps(plan)), (("facts",), plan["facts"][::-1]))

    for document in (plan, turned):
        assert "fact id fact_account stands twice" in problems_of(document)
        assert "facts fact_account and fact_account disagree on account_id" in problems_of(document)


def test_facts_that_disagree_are_refused_where_no_step_refers_to_the_second() -> None:
    plan = valid_plan()
    _contradict_a_fact(plan)

    assert problems_of(plan) == ("facts fact_account and fact_other disagree on account_id",)


def test_two_facts_that_agree_may_supply_one_argument() -> None:
    plan = valid_plan()
    plan["facts"].append({**plan["facts"][0], "id": "fact_again", "source": "system"})
    plan["steps"][0]["fact_refs"].append("fact_again")

    assert validate_bindings(plan) == []


def test_a_list_takes_one_fact_for_each_of_its_elements() -> None:
    plan = valid_plan()
    plan["facts"] += [
        {"id": f"fact_item_{n}", "key": "item_ids", "value": f"it_{n}", "source": "retrieved"}
        for n in (1, 2)
    ]
    plan["steps"][0]["fact_refs"] += ["fact_item_1", "fact_item_2"]
    plan["steps"][0]["args"]["item_ids"] = ["it_1", "it_2"]

    assert validate_bindings(plan) == []


@pytest.mark.parametrize(
    "items", [["it_2", "it_1"], ["it_1"], ["it_1", "it_2", "it_2"], ["it_1", ["it_2"]], "it_1"]
)
def test_a_list_that_is_not_its_facts_in_their_order_is_refused(items: Any) -> None:
    plan = valid_plan()
    plan["facts"] += [
        {"id": f"fact_item_{n}", "key": "item_ids", "value": f"it_{n}", "source": "retrieved"}
        for n in (1, 2)
    ]
    plan["steps"][0]["fact_refs"] += ["fact_item_1", "fact_item_2"]
    plan["steps"][0]["args"]["item_ids"] = items

    assert any(problem.startswith("step_1 arg item_ids=") for problem in validate_bindings(plan))


def test_a_problem_names_the_step_in_which_it_is() -> None:
    plan = changed(notify_plan(), (("steps", 1, "args", "account_id"), "acct_0000"))

    assert validate_bindings(plan) == [
        "step_2 arg account_id='acct_0000' does not match sourced 'acct_1044'"
    ]


def test_a_fact_of_another_step_does_not_source_an_argument() -> None:
    plan = notify_plan()
    plan["steps"][1]["fact_refs"].remove("fact_account")

    assert validate_bindings(plan) == ["step_2 arg account_id has no sourced fact"]


def test_a_sourced_plan_has_no_binding_problem() -> None:
    assert validate_bindings(valid_plan()) == []
    assert validate_bindings(notify_plan()) == []


# The inventory

INVENTORY_PROBLEMS: dict[str, tuple[Change, list[str]]] = {
    "a tool nobody listed": (
        lambda plan: changed(plan, (("steps", 0, "tool"), "delete_customer")),
        ["step_1 tool delete_customer is not in the inventory"],
    ),
    "a source that may not supply it": (
        lambda plan: changed(plan, (("facts", 0, "source"), "system")),
        ["step_1 arg account_id may not come from system"],
    ),
    "a number for an identifier": (
        lambda plan: changed(
            plan, (("facts", 0, "value"), 1044), (("steps", 0, "args", "account_id"), 1044)
        ),
        ["step_1 arg account_id must be a string"],
    ),
    "a negative amount": (
        lambda plan: changed(
            plan, (("facts", 2, "value"), -15), (("steps", 0, "args", "amount_usd"), -15)
        ),
        ["step_1 arg amount_usd must be more than 0"],
    ),
}


@pytest.mark.parametrize(
    ("change", "problems"), INVENTORY_PROBLEMS.values(), ids=INVENTORY_PROBLEMS.keys()
)
def test_an_inventory_problem_has_the_words_of_the_contract(
    change: Change, problems: list[str]
) -> None:
    plan = valid_plan()
    change(plan)

    assert validate_inventory(plan, inventory()) == problems
    assert problems_of(plan, inventory()) == tuple(problems)
    assert problems_of(plan) == (), "the gate alone has no way to know"


def test_the_gate_alone_never_notices_a_missing_idempotency_key() -> None:
    plan = without(valid_plan(), (*ARGS, "idempotency_key"))
    del plan["facts"][1]
    plan["steps"][0]["fact_refs"].remove("fact_key")

    assert problems_of(plan) == ()
    assert problems_of(plan, inventory()) == ("step_1 is missing required arg idempotency_key",)


def test_a_sourced_argument_that_the_inventory_never_named_is_refused() -> None:
    plan = changed(valid_plan(), ((*ARGS, "memo"), "sorry"))
    plan["facts"].append({"id": "fact_m", "key": "memo", "value": "sorry", "source": "user"})
    plan["steps"][0]["fact_refs"].append("fact_m")

    assert problems_of(plan) == ()
    assert problems_of(plan, inventory()) == ("step_1 arg memo is not in the inventory",)


def test_the_whole_plan_is_refused_where_its_notification_has_no_address() -> None:
    plan = read("notify_without_email_plan.json")

    assert problems_of(plan) == ()
    assert problems_of(plan, inventory()) == ("step_2 is missing required arg email",)


@pytest.mark.parametrize("wrong", [{}, [], False, 0, "", {"tools": {}}], ids=ascii)
def test_an_inventory_that_cannot_be_used_refuses_the_plan(wrong: Any) -> None:
    """An empty inventory is a given one: it must not be taken for none."""
    problems = problems_of(valid_plan(), wrong)

    assert problems
    assert all(problem.startswith("inventory ") for problem in problems)


# Evidence


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        False,
        "acct_1044",
        {"user_messages": None},
        {"user_messages": "acct_1044"},
        {"user_messages": [None]},
        {"user_messages": ["acct_1044", 1]},
        {"user_messages": {"acct_1044": 1}},
    ],
    ids=ascii,
)
def test_evidence_that_cannot_be_used_refuses_the_plan(wrong: Any) -> None:
    assert problems_of(valid_plan(), None, wrong) == (
        "evidence must be {'user_messages': [text, ...]}",
    )


def test_a_user_fact_that_no_message_holds_is_refused() -> None:
    evidence = {"user_messages": ["Please credit acct_2210."]}

    assert problems_of(valid_plan(), inventory(), evidence) == (
        "fact_account account_id='acct_1044' stands in no user message",
    )


def test_facts_of_other_sources_need_not_stand_in_a_message() -> None:
    assert problems_of(valid_plan(), inventory(), SAID) == ()


# Stages

LIVE = (("dry_run",), False)
UNSOURCED = ((*ARGS, "account_id"), "acct_0000")
UNKNOWN_TOOL = (("steps", 0, "tool"), "delete_customer")
MISSHAPEN = (("goal",), "short")
UNSAID = {"user_messages": ["Please credit acct_2210."]}


@pytest.mark.parametrize(
    ("changes", "more", "words"),
    [
        ([MISSHAPEN, UNSOURCED, UNKNOWN_TOOL, LIVE], [{}, {}], "['goal']: 'short' is too short"),
        ([UNSOURCED, UNKNOWN_TOOL, LIVE], [{}, {}], "step_1 arg account_id='acct_0000'"),
        ([UNKNOWN_TOOL, LIVE], [inventory(), {}], "step_1 tool delete_customer is not in"),
        ([LIVE], [{}, {}], "inventory []: 'tools' is a required property"),
        ([LIVE], [inventory(), UNSAID], "fact_account account_id='acct_1044' stands in no"),
        ([LIVE], [inventory(), SAID], "live execution"),
        ([LIVE], [], "live execution"),
    ],
    ids=["schema", "bindings", "inventory", "its form", "evidence", "dry run", "dry run alone"],
)
def test_the_first_stage_with_problems_is_the_only_one_that_speaks(
    changes: list[Any], more: list[Any], words: str
) -> None:
    problems = problems_of(changed(valid_plan(), *changes), *more)

    assert len(problems) == 1
    assert words in problems[0]


@pytest.mark.parametrize("field", ["goal", "facts", "steps", "dry_run"])
def test_a_plan_without_a_field_is_a_schema_rejection(field: str) -> None:
    plan = without(valid_plan(), (field,))

    assert problems_of(plan) == (f"[]: '{field}' is a required property",)


@pytest.mark.parametrize(
    "plan", [None, True, 15, 0.5, "plan", [], [valid_plan()], {}], ids=lambda v: type(v).__name__
)
def test_a_plan_that_is_no_plan_is_a_schema_rejection(plan: Any) -> None:
    problems = problems_of(plan)

    assert problems
    assert all(problem.startswith("[]: ") for problem in problems)


def test_schema_problems_are_sorted_and_name_their_place() -> None:
    plan = changed(
        valid_plan(),
        (("steps", 0, "on_failure"), "retry"),
        (("facts", 2, "source"), "model"),
        (("facts", 0, "source"), "assistant"),
        (("confidence",), 0.9),
        (("goal",), 7),
    )

    problems = validate_schema(plan)

    assert problems == sorted(problems)
    assert problems == [
        "['facts', 0, 'source']: 'assistant' is not one of ['user', 'system', 'retrieved']",
        "['facts', 2, 'source']: 'model' is not one of ['user', 'system', 'retrieved']",
        "['goal']: 7 is not of type 'string'",
        "['steps', 0, 'on_failure']: 'retry' is not one of ['abort']",
        "[]: Additional properties are not allowed ('confidence' was unexpected)",
    ]
    assert problems_of(plan) == tuple(problems)


def test_problems_about_hidden_characters_are_sorted_and_name_their_place() -> None:
    plan = changed(
        valid_plan(),
        (("steps", 0, "tool"), "create support credit"),
        (("facts", 1, "value"), ""),
        (("facts", 0, "key"), "account\u200b_id"),
    )

    problems = validate_schema(plan)

    assert problems == sorted(problems)
    assert [problem.split(": ")[0] for problem in problems] == [
        "['facts', 0, 'key']",
        "['facts', 1, 'value']",
        "['steps', 0, 'tool']",
    ]


# Verdicts

VERDICT = {
    "status": "dry_run_accepted",
    "tools": ["create_support_credit"],
    "fact_ids": ["fact_account", "fact_key", "fact_amount"],
}


@pytest.mark.parametrize(
    "more",
    [[], [None], [inventory()], [None, SAID], [inventory(), SAID]],
    ids=["alone", "with none", "with inventory", "with evidence", "with both"],
)
def test_the_sourced_plan_is_accepted_for_a_dry_run(more: list[Any]) -> None:
    assert gate_plan(valid_plan(), *more) == VERDICT


def test_a_verdict_has_one_tool_for_each_step_and_one_id_for_each_fact() -> None:
    assert gate_plan(notify_plan(), inventory()) == {
        "status": "dry_run_accepted",
        "tools": ["create_support_credit", "notify_account_email"],
        "fact_ids": ["fact_account", "fact_key", "fact_amount", "fact_email"],
    }


def test_a_tool_that_two_steps_use_is_listed_twice() -> None:
    plan = valid_plan()
    plan["steps"].append({**plan["steps"][0], "id": "step_2"})

    assert gate_plan(plan)["tools"] == ["create_support_credit", "create_support_credit"]


def test_the_gate_leaves_what_it_is_given_as_it_is() -> None:
    plan, tools, evidence = valid_plan(), inventory(), json.loads(json.dumps(SAID))

    gate_plan(plan, tools, evidence)

    assert (plan, tools, evidence) == (valid_plan(), inventory(), SAID)


def test_a_verdict_does_not_change_with_the_plan() -> None:
    plan = valid_plan()
    verdict = gate_plan(plan)

    plan["facts"].clear()
    plan["steps"].clear()

    assert verdict == VERDICT


# Fixtures


def test_the_sourced_fixture_is_the_published_plan() -> None:
    args = {"account_id": "acct_1044", "idempotency_key": "cred-1044-20260905", "amount_usd": 15}

    assert valid_plan() == {
        "goal": "Issue a $15 support credit for a documented billing defect",
        "dry_run": True,
        "facts": [
            {"id": "fact_account", "key": "account_id", "value": "acct_1044", "source": "user"},
            {
                "id": "fact_key",
                "key": "idempotency_key",
                "value": "cred-1044-20260905",
                "source": "system",
            },
            {"id": "fact_amount", "key": "amount_usd", "value": 15, "source": "retrieved"},
        ],
        "steps": [
            {
                "id": "step_1",
                "tool": "create_support_credit",
                "args": args,
                "fact_refs": ["fact_account", "fact_key", "fact_amount"],
                "on_failure": "abort",
            }
        ],
    }


def test_the_two_published_fixtures_are_a_minimal_pair() -> None:
    assumed = read("assumed_plan.json")

    assert differences(valid_plan(), assumed) == ["/steps/0/args/account_id"]
    assert assumed["steps"][0]["args"]["account_id"] == "acct_0000"


def test_the_invented_identifier_equals_no_fact() -> None:
    """If it did, a test of the refusal would pass for another reason."""
    assumed = read("assumed_plan.json")

    assert "acct_0000" not in [fact["value"] for fact in assumed["facts"]]


FIXTURE_REFUSALS = [
    ("assumed_plan.json", "step_1 arg account_id='acct_0000' does not match sourced 'acct_1044'"),
    ("live_plan.json", "live execution"),
    ("rounded_credit_plan.json", "step_1 arg amount_usd=15 does not match sourced 20"),
    ("notify_without_email_plan.json", "step_2 is missing required arg email"),
    ("model_outputs/source_assistant.json", "'assistant' is not one of"),
    ("model_outputs/empty_fact_refs.json", "'fact_refs']: [] should be non-empty"),
    ("model_outputs/dry_run_missing.json", "[]: 'dry_run' is a required property"),
    ("model_outputs/extra_keys.json", "'confidence' was unexpected"),
    ("model_outputs/prose_around_json.json", "prose_around_json.json: not JSON"),
]


@pytest.mark.parametrize(("name", "words"), FIXTURE_REFUSALS, ids=[r[0] for r in FIXTURE_REFUSALS])
def test_a_fixture_that_must_be_refused_is_refused_for_its_own_reason(
    name: str, words: str
) -> None:
    with pytest.raises(PlanRejected, match=re.escape(words)):
        gate_plan(load_plan(FIXTURES / name), inventory())


@pytest.mark.parametrize("name", ["valid_plan.json", "notify_plan.json"])
def test_a_fixture_that_must_be_accepted_is_accepted(name: str) -> None:
    assert gate_plan(load_plan(FIXTURES / name), inventory())["status"] == "dry_run_accepted"


# Files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("Here is your plan: {}", "not JSON"),
        ('{"dry_run": false, "dry_run": true}', "key 'dry_run' stands twice in one object"),
        ('{"goal": NaN}', "NaN is not a JSON number"),
        ("[" * 100_000, "nested more than 50 levels deep"),
    ],
    ids=["nothing", "prose", "a key twice", "nan", "thousands of levels"],
)
def test_a_text_that_is_not_strict_json_is_refused_before_the_gate(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "model_plan.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(PlanRejected) as caught:
        load_plan(path)

    assert len(caught.value.problems) == 1
    assert str(caught.value).startswith("model_plan.json: ")
    assert words in str(caught.value)


def test_a_missing_file_is_refused_before_the_gate(tmp_path: Path) -> None:
    with pytest.raises(PlanRejected, match=r"^model_plan\.json cannot be read: "):
        load_plan(tmp_path / "model_plan.json")


def test_a_plan_is_loaded_from_a_path_or_its_text() -> None:
    path = FIXTURES / "valid_plan.json"

    assert load_plan(path) == load_plan(str(path)) == valid_plan()


# Command line


def test_a_refused_file_ends_with_one_and_its_problems(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main([str(FIXTURES / "assumed_plan.json")])

    ended = capsys.readouterr()
    assert code == 1
    assert ended.out == ""
    assert ended.err == (
        "rejected: step_1 arg account_id='acct_0000' does not match sourced 'acct_1044'\n"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("live_plan.json", "live execution"),
        ("model_outputs/prose_around_json.json", "prose_around_json.json: not JSON"),
        ("nothing.json", "nothing.json cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_accepted_ends_with_one(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([str(FIXTURES / name)])

    ended = capsys.readouterr()
    assert code == 1
    assert ended.out == ""
    assert ended.err.startswith("rejected: ")
    assert words in ended.err


def test_an_accepted_file_prints_its_verdict_as_indented_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main([str(FIXTURES / "valid_plan.json")])

    ended = capsys.readouterr()
    assert code == 0
    assert ended.err == ""
    assert ended.out == json.dumps(VERDICT, indent=2) + "\n"


@pytest.mark.parametrize(
    ("tools", "words"),
    [("inventory.json", "step_2 is missing required arg email"), ("no.json", "no.json cannot be")],
)
def test_the_command_line_takes_an_inventory(
    tools: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = str(FIXTURES / "notify_without_email_plan.json")

    code = main([plan, "--inventory", str(FIXTURES / tools)])

    assert code == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["a.json", "b.json"], ["--live", "a.json"]], ids=str)
def test_wrong_usage_ends_with_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage: python -m lab.plan_gate" in capsys.readouterr().err


def test_the_command_gives_its_verdict_in_another_folder(tmp_path: Path) -> None:
    ended = python("-m", "lab.plan_gate", str(FIXTURES / "valid_plan.json"), cwd=tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == VERDICT


def test_the_command_refuses_in_another_folder_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("[" * 100_000, encoding="utf-8")

    ended = python("-m", "lab.plan_gate", "plan.json", cwd=tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "rejected: plan.json: nested more than 50 levels deep\n"


def test_the_schema_is_found_beside_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema in the current folder that lets everything in must not be the one that is used."""
    (tmp_path / "lab").mkdir()
    for name in ("agent_plan.schema.json", "lab/agent_plan.schema.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    problems = problems_of({})

    assert plan_gate.SCHEMA_FILE.parent == Path(plan_gate.__file__).parent
    assert len(problems) == 4
