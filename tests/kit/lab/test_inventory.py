"""The inventory's own form, and a plan held against it."""

import math
from typing import Any

import pytest

from lab.inventory import inventory_problems, validate_inventory
from tests.kit.lab.anything import nested
from tests.kit.lab.plans import changed, inventory, notify_plan, valid_plan, without

TOOL = ("tools", "create_support_credit")
AMOUNT = (*TOOL, "required_args", "amount_usd")
ARGS = ("steps", 0, "args")

# The form

WRONG_FORM: dict[str, tuple[Any, str]] = {
    "no object": (None, "inventory []: None is not of type 'object'"),
    "a list of tools": ([], "inventory []: [] is not of type 'object'"),
    "no tools": ({}, "inventory []: 'tools' is a required property"),
    "an empty catalogue": ({"tools": {}}, "inventory ['tools']: {} should be non-empty"),
    "tools as a list": ({"tools": []}, "inventory ['tools']: [] is not of type 'object'"),
}


@pytest.mark.parametrize(("document", "problem"), WRONG_FORM.values(), ids=WRONG_FORM.keys())
def test_an_inventory_without_tools_is_not_used(document: Any, problem: str) -> None:
    assert inventory_problems(document) == [problem]


WRONG_VALUES: list[tuple[tuple[str | int, ...], Any]] = [
    (TOOL, "create_support_credit"),
    ((*TOOL, "required_args"), {}),
    ((*TOOL, "required_args"), ["account_id"]),
    ((*TOOL, "required_args"), None),
    (AMOUNT, "number"),
    ((*AMOUNT, "type"), "int"),
    ((*AMOUNT, "type"), "null"),
    ((*AMOUNT, "type"), ["number"]),
    ((*AMOUNT, "sources"), []),
    ((*AMOUNT, "sources"), "user"),
    ((*AMOUNT, "sources"), ["model"]),
    ((*AMOUNT, "sources"), ["assistant", "user"]),
    ((*AMOUNT, "sources"), ["user", "user"]),
    ((*AMOUNT, "exclusiveMinimum"), "0"),
    ((*AMOUNT, "exclusiveMinimum"), True),
    ((*TOOL, "side_effects"), "none"),
    ((*TOOL, "side_effects"), [""]),
    ((*TOOL, "side_effects"), [None]),
]


@pytest.mark.parametrize(("path", "value"), WRONG_VALUES, ids=ascii)
def test_a_wrong_value_in_the_inventory_is_named(path: tuple[str | int, ...], value: Any) -> None:
    problems = inventory_problems(changed(inventory(), (path, value)))

    assert problems
    assert all(problem.startswith(f"inventory {list(path)}"[:-1]) for problem in problems)


@pytest.mark.parametrize(
    "path",
    [
        ("tools",),
        (*TOOL, "required_args"),
        (*TOOL, "side_effects"),
        (*AMOUNT, "type"),
        (*AMOUNT, "sources"),
    ],
    ids=lambda path: path[-1],
)
def test_a_missing_field_of_the_inventory_is_named(path: tuple[str, ...]) -> None:
    problems = inventory_problems(without(inventory(), path))

    assert problems == [f"inventory {list(path[:-1])}: '{path[-1]}' is a required property"]


@pytest.mark.parametrize("path", [(), TOOL, AMOUNT], ids=["inventory", "tool", "argument"])
def test_an_extra_key_in_the_inventory_is_named(path: tuple[str, ...]) -> None:
    problems = inventory_problems(changed(inventory(), ((*path, "optional_args"), {})))

    assert len(problems) == 1
    assert problems[0].startswith(f"inventory {list(path)}: Additional properties")
    assert "'optional_args'" in problems[0]


@pytest.mark.parametrize("path", [("tools", ""), (*TOOL, "required_args", "")], ids=ascii)
def test_an_empty_name_in_the_inventory_is_refused(path: tuple[str, ...]) -> None:
    document = inventory()
    place = document["tools"] if path[:-1] == ("tools",) else document["tools"][TOOL[1]][path[2]]
    changed(document, (path, next(iter(place.values()))))

    problems = inventory_problems(document)

    assert len(problems) == 1
    assert problems[0].startswith(f"inventory {list(path[:-1])}: ''")


def test_problems_of_an_inventory_are_sorted() -> None:
    document = changed(inventory(), ((*AMOUNT, "type"), "int"), ((*TOOL, "side_effects"), 1))
    document["a"] = 1

    problems = inventory_problems(document)

    assert len(problems) == 3
    assert problems == sorted(problems)


NOT_JSON = {
    "nan as a minimum": ((*AMOUNT, "exclusiveMinimum"), math.nan),
    "infinity as a minimum": ((*AMOUNT, "exclusiveMinimum"), math.inf),
    "a minimum too long to print": ((*AMOUNT, "exclusiveMinimum"), 10**5000),
    "a type too long to print": ((*AMOUNT, "type"), 10**5000),
    "a type too deep to print": ((*AMOUNT, "type"), nested(5000)),
    "sources too deep to print": ((*AMOUNT, "sources"), nested(100_000)),
    "sources as a tuple": ((*AMOUNT, "sources"), ("user",)),
    "sources as a set": ((*AMOUNT, "sources"), {"user"}),
    "a number as a tool's name": (("tools", 1), inventory()["tools"]["create_support_credit"]),
}


@pytest.mark.parametrize(("path", "value"), NOT_JSON.values(), ids=NOT_JSON.keys())
def test_an_inventory_that_is_not_plain_json_is_not_used(
    path: tuple[str | int, ...], value: Any
) -> None:
    assert inventory_problems(changed(inventory(), (path, value)))


def test_an_inventory_with_two_lists_that_hold_themselves_is_not_used() -> None:
    """To compare the two would never end."""
    left: list[Any] = []
    left.append(left)
    right: list[Any] = []
    right.append(right)

    assert inventory_problems(changed(inventory(), ((*AMOUNT, "sources"), [left, right])))


def test_the_inventory_of_the_course_may_be_used() -> None:
    assert inventory_problems(inventory()) == []


def test_a_tool_may_have_no_side_effects() -> None:
    assert inventory_problems(changed(inventory(), ((*TOOL, "side_effects"), []))) == []


# A plan against it


def test_a_plan_is_not_held_against_a_wrong_inventory() -> None:
    found = validate_inventory(valid_plan(), {"tools": {}})

    assert found == ["inventory ['tools']: {} should be non-empty"]


@pytest.mark.parametrize(
    "name",
    ["delete_customer", "Create_Support_Credit", "create_support_credit2", "tools", "__class__"],
)
def test_a_tool_that_the_inventory_does_not_name_is_refused(name: str) -> None:
    plan = changed(valid_plan(), (("steps", 0, "tool"), name))

    assert validate_inventory(plan, inventory()) == [f"step_1 tool {name} is not in the inventory"]


@pytest.mark.parametrize("key", ["account_id", "idempotency_key", "amount_usd"])
def test_each_missing_required_argument_is_named(key: str) -> None:
    plan = without(valid_plan(), (*ARGS, key))

    assert f"step_1 is missing required arg {key}" in validate_inventory(plan, inventory())


def test_all_required_arguments_that_are_missing_are_named() -> None:
    plan = changed(valid_plan(), (ARGS, {}))

    assert validate_inventory(plan, inventory()) == [
        "step_1 is missing required arg account_id",
        "step_1 is missing required arg idempotency_key",
        "step_1 is missing required arg amount_usd",
    ]


@pytest.mark.parametrize("key", ["memo", "Account_id", "account_id ", "email"])
def test_an_argument_that_the_inventory_does_not_name_is_refused(key: str) -> None:
    plan = changed(valid_plan(), ((*ARGS, key), "x"))

    assert validate_inventory(plan, inventory()) == [f"step_1 arg {key} is not in the inventory"]


def test_an_argument_of_another_tool_is_not_one_of_this_tool() -> None:
    plan = changed(notify_plan(), (("steps", 1, "args", "amount_usd"), 15))

    found = validate_inventory(plan, inventory())

    assert found == ["step_2 arg amount_usd is not in the inventory"]


@pytest.mark.parametrize(
    ("index", "key", "source"),
    [
        (0, "account_id", "system"),
        (0, "account_id", "retrieved"),
        (1, "idempotency_key", "user"),
        (1, "idempotency_key", "retrieved"),
        (2, "amount_usd", "user"),
        (2, "amount_usd", "system"),
    ],
)
def test_a_source_that_may_not_supply_an_argument_is_refused(
    index: int, key: str, source: str
) -> None:
    plan = changed(valid_plan(), (("facts", index, "source"), source))

    assert validate_inventory(plan, inventory()) == [f"step_1 arg {key} may not come from {source}"]


@pytest.mark.parametrize("source", ["user", "retrieved"])
def test_each_source_that_may_supply_an_argument_is_accepted(source: str) -> None:
    plan = changed(notify_plan(), (("facts", 3, "source"), source))

    assert validate_inventory(plan, inventory()) == []


def test_one_good_source_does_not_cover_a_bad_one() -> None:
    """Both facts agree, so either may be the one that the argument was copied from."""
    plan = valid_plan()
    plan["facts"].append({**plan["facts"][0], "id": "fact_again", "source": "retrieved"})
    plan["steps"][0]["fact_refs"].append("fact_again")

    found = validate_inventory(plan, inventory())

    assert found == ["step_1 arg account_id may not come from retrieved"]


def test_the_source_of_a_fact_that_no_step_uses_does_not_matter() -> None:
    plan = valid_plan()
    plan["facts"].append({**plan["facts"][0], "id": "fact_again", "source": "retrieved"})

    assert validate_inventory(plan, inventory()) == []


SAMPLES: dict[str, list[Any]] = {
    "string": ["text", ""],
    "number": [15, -1, 0.5],
    "integer": [15, -1],
    "boolean": [True, False],
    "array": [[], [1]],
    "object": [{}, {"a": 1}],
}
ARTICLE = {"integer": "an", "array": "an", "object": "an"}
WRONG_TYPES = [
    (kind, value)
    for kind in SAMPLES
    for other, values in SAMPLES.items()
    for value in values
    # An integer is a number too, so only the other way round is wrong.
    if other != kind and (kind, other) != ("number", "integer")
    if not (kind == "integer" and type(value) is int)
]


@pytest.mark.parametrize(("kind", "value"), WRONG_TYPES, ids=ascii)
def test_an_argument_of_another_type_is_refused(kind: str, value: Any) -> None:
    document = changed(inventory(), (AMOUNT, {"type": kind, "sources": ["retrieved"]}))
    plan = changed(valid_plan(), ((*ARGS, "amount_usd"), value))

    found = validate_inventory(plan, document)

    assert found == [f"step_1 arg amount_usd must be {ARTICLE.get(kind, 'a')} {kind}"]


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind in SAMPLES for value in SAMPLES[kind]], ids=ascii
)
def test_an_argument_of_its_type_is_accepted(kind: str, value: Any) -> None:
    document = changed(inventory(), (AMOUNT, {"type": kind, "sources": ["retrieved"]}))
    plan = changed(valid_plan(), ((*ARGS, "amount_usd"), value))

    assert validate_inventory(plan, document) == []


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_null_has_none_of_the_types(kind: str) -> None:
    document = changed(inventory(), (AMOUNT, {"type": kind, "sources": ["retrieved"]}))
    plan = changed(valid_plan(), ((*ARGS, "amount_usd"), None))

    assert len(validate_inventory(plan, document)) == 1


@pytest.mark.parametrize("amount", [0, -15, -0.01, 0.0, -0.0, -(10**300)], ids=str)
def test_an_amount_that_is_not_above_its_minimum_is_refused(amount: float) -> None:
    plan = changed(valid_plan(), ((*ARGS, "amount_usd"), amount))

    assert validate_inventory(plan, inventory()) == ["step_1 arg amount_usd must be more than 0"]


@pytest.mark.parametrize("amount", [0.01, 1, 15, 10**300], ids=str)
def test_an_amount_above_its_minimum_is_accepted(amount: float) -> None:
    plan = changed(valid_plan(), ((*ARGS, "amount_usd"), amount))

    assert validate_inventory(plan, inventory()) == []


def test_a_minimum_does_not_count_the_characters_of_a_text() -> None:
    rule = {"type": "string", "sources": ["user"], "exclusiveMinimum": 5}
    document = changed(inventory(), ((*TOOL, "required_args", "account_id"), rule))

    assert validate_inventory(valid_plan(), document) == []


def test_every_step_is_held_against_its_own_tool() -> None:
    plan = changed(
        notify_plan(),
        (("steps", 0, "args", "amount_usd"), "15"),
        (("steps", 1, "args", "email"), 7),
        (("facts", 0, "source"), "system"),
    )

    assert validate_inventory(plan, inventory()) == [
        "step_1 arg amount_usd must be a number",
        "step_1 arg account_id may not come from system",
        "step_2 arg email must be a string",
        "step_2 arg account_id may not come from system",
    ]


@pytest.mark.parametrize("plan", [valid_plan(), notify_plan()], ids=["one step", "two steps"])
def test_a_plan_that_fits_has_no_problem(plan: dict[str, Any]) -> None:
    assert validate_inventory(plan, inventory()) == []
