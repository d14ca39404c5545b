"""The published schema means what its contract says, field by field.

The tables are written from the contract and not from the schema file, so that a change of the file
shows. Each row is tried on both published plans: they have one shape, and what the schema says of a
shape must not depend on where its values come from.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lab.plan_gate import validate_schema
from tests.kit.command import COURSE
from tests.kit.lab.plans import changed, problems_of, read, without

Place = tuple[str | int, ...]

SCHEMA = json.loads((COURSE / "lab" / "agent_plan.schema.json").read_text(encoding="utf-8"))
PLANS = ["valid_plan.json", "assumed_plan.json"]

OBJECTS: dict[Place, tuple[str, ...]] = {
    (): ("goal", "facts", "steps", "dry_run"),
    ("facts", 0): ("id", "key", "value", "source"),
    ("facts", 1): ("id", "key", "value", "source"),
    ("facts", 2): ("id", "key", "value", "source"),
    ("steps", 0): ("id", "tool", "args", "fact_refs", "on_failure"),
}

SAMPLES: dict[str, list[Any]] = {
    "null": [None],
    "boolean": [True, False],
    "number": [0, 12345678, -1, 0.5],
    "string": ["user"],
    "array": [[], ["fact_account"]],
    "object": [{}, {"id": "fact_account"}],
}
TYPES: dict[Place, tuple[str, ...]] = {
    (): ("object",),
    ("goal",): ("string",),
    ("dry_run",): ("boolean",),
    ("facts",): ("array",),
    ("facts", 0): ("object",),
    ("facts", 1, "id"): ("string",),
    ("facts", 1, "key"): ("string",),
    ("facts", 0, "value"): ("string", "number", "boolean"),
    ("facts", 2, "value"): ("string", "number", "boolean"),
    ("facts", 2, "source"): ("string",),
    ("steps",): ("array",),
    ("steps", 0): ("object",),
    ("steps", 0, "id"): ("string",),
    ("steps", 0, "tool"): ("string",),
    ("steps", 0, "args"): ("object",),
    ("steps", 0, "fact_refs"): ("array",),
    ("steps", 0, "fact_refs", 1): ("string",),
    ("steps", 0, "on_failure"): ("string",),
}
WRONG_TYPES = [
    (place, value)
    for place, kinds in TYPES.items()
    for kind, values in SAMPLES.items()
    if kind not in kinds
    for value in values
]

# Right type, wrong value: patterns, enums and minima.
WRONG_VALUES: dict[Place, list[Any]] = {
    ("goal",): ["", "1234567", "é" * 7],
    ("facts",): [[]],
    ("facts", 0, "id"): [
        "",
        "fact_",
        "fact",
        "account",
        "fact_Account",
        "Fact_account",
        "FACT_ACCOUNT",
        "fact-account",
        "fact_acc-ount",
        "fact_account ",
        " fact_account",
        "my_fact_account",
        "fact_account.",
        "fact_é",
        "fact_\u0430ccount",
        "fact_\uff11",
        "fact_a\nfact_b",
    ],
    ("facts", 1, "key"): [""],
    ("facts", 2, "source"): [
        "",
        "model",
        "assistant",
        "agent",
        "inferred",
        "User",
        "USER",
        "user ",
        "users",
        "tool",
        "retrieved,user",
    ],
    ("steps",): [[]],
    ("steps", 0, "id"): [
        "",
        "step_",
        "step",
        "1",
        "step_one",
        "Step_1",
        "STEP_1",
        "step-1",
        "step1",
        "step_-1",
        "step_1.5",
        "step_1a",
        "step_1 ",
        " step_1",
        "my_step_1",
        "step_\uff11",
        "step_\u0661",
        "step_1\nstep_2",
    ],
    ("steps", 0, "tool"): [""],
    ("steps", 0, "fact_refs"): [[]],
    ("steps", 0, "on_failure"): ["", "retry", "continue", "ignore", "Abort", "abort ", "aborted"],
}
WRONG = WRONG_TYPES + [(place, value) for place in WRONG_VALUES for value in WRONG_VALUES[place]]

EXTRA_KEYS = ["confidence", "Goal", "ID", "source_", "retry", "description", "$schema", "", "model"]

RIGHT_VALUES: dict[Place, list[Any]] = {
    ("goal",): ["12345678", "Refund it", "Rückzahlung veranlassen", "x" * 10_000],
    ("dry_run",): [True, False],
    ("facts", 0, "id"): ["fact_a", "fact_0", "fact__", "fact_account_2", "fact_" + "x" * 200],
    ("facts", 0, "key"): ["a", "Account-Id", "account.id", "1"],
    ("facts", 0, "value"): ["x", True, False, 0, -15, 15.5, 10**30, 1e300],
    ("facts", 0, "source"): ["user", "system", "retrieved"],
    ("steps", 0, "id"): ["step_0", "step_1", "step_007", "step_12345678901234567890"],
    ("steps", 0, "tool"): ["a", "mail.send", "Create-Credit"],
    ("steps", 0, "args"): [
        {},
        {"a": None},
        {"a": [1, {"b": [True]}]},
        {"confidence": 0.9, "source": "model", "goal": "", "additionalProperties": 1},
    ],
    ("steps", 0, "fact_refs"): [["fact_account"], ["fact_x", "fact_x"], ["anything"]],
    ("steps", 0, "on_failure"): ["abort"],
}
RIGHT = [(place, value) for place in RIGHT_VALUES for value in RIGHT_VALUES[place]]


def published(plan: Any) -> list[str]:
    """Say what the schema file alone says, without the gate around it."""
    errors = Draft202012Validator(SCHEMA).iter_errors(plan)
    return sorted(f"{list(error.absolute_path)}: {error.message}" for error in errors)


def shown(value: Any) -> str | None:
    if isinstance(value, tuple):
        return ".".join(map(str, value)) or "plan"
    return ascii(value) if isinstance(value, str) and len(value) < 30 else None


def put(plan: Any, place: Place, value: Any) -> Any:
    return changed(plan, (place, value)) if place else value


@pytest.mark.parametrize("name", PLANS)
def test_the_published_plans_have_the_published_shape(name: str) -> None:
    assert published(read(name)) == []
    assert validate_schema(read(name)) == []


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    ("place", "field"),
    [(place, field) for place, fields in OBJECTS.items() for field in fields],
    ids=shown,
)
def test_a_plan_without_a_required_field_is_refused(place: Place, field: str, name: str) -> None:
    plan = without(read(name), (*place, field))

    expected = [f"{list(place)}: '{field}' is a required property"]
    assert published(plan) == expected
    assert problems_of(plan) == tuple(expected)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(("place", "value"), WRONG, ids=shown)
def test_a_wrong_type_or_value_is_refused_and_its_field_named(
    place: Place, value: Any, name: str
) -> None:
    plan = put(read(name), place, value)

    problems = published(plan)
    assert problems
    assert all(problem.startswith(f"{list(place)}: ") for problem in problems)
    assert problems_of(plan) == tuple(problems)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("place", OBJECTS, ids=shown)
@pytest.mark.parametrize("key", EXTRA_KEYS, ids=ascii)
def test_an_extra_key_is_refused_and_named(place: Place, key: str, name: str) -> None:
    plan = changed(read(name), ((*place, key), 0.9))

    expected = (f"{list(place)}: Additional properties are not allowed ({key!r} was unexpected)",)
    assert tuple(published(plan)) == expected
    assert problems_of(plan) == expected


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(("place", "value"), RIGHT, ids=shown)
def test_a_value_within_the_rules_is_no_schema_problem(place: Place, value: Any, name: str) -> None:
    plan = put(read(name), place, value)

    assert published(plan) == []
    assert validate_schema(plan) == []


@pytest.mark.parametrize("goal", ["Refund 1", "Pay 15 $", "Pay Bo 5"])
def test_a_goal_of_eight_characters_may_hold_spaces(goal: str) -> None:
    """The contract counts characters; what it must not be is blank."""
    assert validate_schema(changed(read("valid_plan.json"), (("goal",), goal))) == []


@pytest.mark.parametrize("place", [("facts", 0, "id"), ("steps", 0, "id")], ids=shown)
def test_an_id_that_ends_in_a_line_break_is_refused_and_its_field_named(place: Place) -> None:
    """To Python's ``$`` a final line break is the end of the text, so the pattern lets it in."""
    plan = read("valid_plan.json")
    index = plan[place[0]][place[1]][place[2]] + "\n"

    problems = validate_schema(changed(plan, (place, index)))

    assert [problem.split(": ")[0] for problem in problems] == [str(list(place))]


def test_a_second_fact_and_a_second_step_are_held_to_the_same_rules() -> None:
    plan = read("notify_plan.json")
    changed(plan, (("facts", 3, "source"), "model"), (("steps", 1, "on_failure"), "retry"))

    assert published(plan) == [
        "['facts', 3, 'source']: 'model' is not one of ['user', 'system', 'retrieved']",
        "['steps', 1, 'on_failure']: 'retry' is not one of ['abort']",
    ]


# The file itself

SCHEMA_FILES = sorted((COURSE / "lab").glob("*.schema.json"))

ONE_SCHEMA = {"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"}
ONE_SCHEMA |= {"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
SCHEMAS_IN_A_LIST = {"allOf", "anyOf", "oneOf", "prefixItems"}
SCHEMAS_BY_NAME = {"$defs", "dependentSchemas", "patternProperties", "properties"}
# Sections 8 of the core and 6 to 9 of the validation specification, draft 2020-12.
KEYWORDS = (
    ONE_SCHEMA
    | SCHEMAS_IN_A_LIST
    | SCHEMAS_BY_NAME
    | {"$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema"}
    | {"$vocabulary", "const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum"}
    | {"maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains"}
    | {"minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "required"}
    | {"type", "uniqueItems", "contentEncoding", "contentMediaType", "default", "deprecated"}
    | {"description", "examples", "format", "readOnly", "title", "writeOnly"}
)


def subschemas(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each schema in a document with its JSON Pointer; a property's name is no keyword."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for keyword, value in schema.items():
        inner: list[tuple[str, Any]] = []
        if keyword in ONE_SCHEMA:
            inner = [("", value)]
        elif keyword in SCHEMAS_IN_A_LIST:
            inner = [(f"/{index}", item) for index, item in enumerate(value)]
        elif keyword in SCHEMAS_BY_NAME:
            inner = [(f"/{name}", item) for name, item in value.items()]
        for step, item in inner:
            yield from subschemas(item, f"{place}/{keyword}{step}")


def unknown_keywords(schema: Any) -> list[str]:
    return [f"{place}/{k}" for place, part in subschemas(schema) for k in part if k not in KEYWORDS]


def open_objects(schema: Any) -> list[str]:
    """List the objects that take keys which the schema does not name."""
    return [
        place
        for place, part in subschemas(schema)
        if part.get("type") == "object" or "properties" in part or "required" in part
        if part.get("additionalProperties") is not False
    ]


@pytest.mark.parametrize("path", SCHEMA_FILES, ids=lambda path: path.name)
def test_every_keyword_of_a_schema_is_known(path: Path) -> None:
    """A validator passes over a misspelt keyword without a word."""
    schema = json.loads(path.read_text(encoding="utf-8"))

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert unknown_keywords(schema) == []
    Draft202012Validator.check_schema(schema)


def test_the_check_of_keywords_sees_a_misspelt_one() -> None:
    schema = {
        "properties": {"minlength": {"minlength": 8}},
        "$defs": {"a": {"anyOf": [{"items": {"Pattern": "x"}}]}},
    }

    assert unknown_keywords(schema) == [
        "/properties/minlength/minlength",
        "/$defs/a/anyOf/0/items/Pattern",
    ]


def test_every_keyword_that_validates_is_in_the_table() -> None:
    assert set(Draft202012Validator.VALIDATORS) - KEYWORDS == set()


def test_every_object_of_the_plan_is_closed_but_for_the_arguments() -> None:
    assert open_objects(SCHEMA) == ["/$defs/step/properties/args"]


def test_the_check_of_closed_objects_sees_an_open_one() -> None:
    schema = {
        "type": "object",
        "additionalProperties": True,
        "properties": {"a": {"type": "object", "additionalProperties": False}},
        "$defs": {"b": {"required": ["x"]}, "c": {"properties": {}}},
    }

    assert open_objects(schema) == ["", "/$defs/b", "/$defs/c"]


def test_the_schema_is_titled_as_published() -> None:
    assert SCHEMA["title"] == "AgentPlan"
