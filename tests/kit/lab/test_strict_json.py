"""The strict reader: one text means one thing, or it is refused."""

import copy
import math
import re
from pathlib import Path
from typing import Any

import pytest

from lab.strict_json import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    NotStrictJson,
    differences,
    load_json,
    parse_json,
    same_json,
    structure_problem,
)
from tests.kit.lab.anything import OfNoName, Shouting, holding_itself, huge, nested

# Texts

NOT_JSON = {
    "nothing": b"",
    "white space": b" \n\t",
    "prose": b"Here is the plan you asked for:",
    "prose around json": b"Sure. {} Anything else?",
    "a fence": b"```json\n{}\n```",
    "two values": b"{} {}",
    "a comma too many": b'{"a": 1,}',
    "a comment": b'{"a": 1} // done',
    "single quotes": b"{'a': 1}",
    "a bare word": b"accept",
    "a leading zero": b"015",
    "a plus sign": b"+15",
    "a hexadecimal number": b"0x0f",
    "a number that ends in a point": b"15.",
    "a line break inside a string": b'"a\nb"',
    "an unfinished object": b'{"a": 1',
    "an unfinished string": b'"a',
    "an unknown escape": rb'"\x41"',
    "a mark inside the text": b"[\xef\xbb\xbf1]",
}


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_a_text_that_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(NotStrictJson, match=r"^not JSON: "):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (b'{"a": 1, "a": 2}', "a"),
        (b'{"a": 1, "a": 1}', "a"),
        (b'{"a": 1, "b": 2, "a": 3}', "a"),
        (b'[{"b": {"source": "model", "source": "user"}}]', "source"),
        (rb'{"ab": 1, "\u0061b": 2}', "ab"),
        (b'{"": 1, "": 2}', ""),
    ],
    ids=["other value", "same value", "apart", "deep inside", "spelt by an escape", "empty"],
)
def test_a_key_that_stands_twice_is_refused(text: bytes, key: str) -> None:
    with pytest.raises(NotStrictJson, match=f"^key '{key}' stands twice in one object$"):
        parse_json(text)


def test_a_key_that_stands_in_two_objects_is_read() -> None:
    assert parse_json(b'[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("around", ["{}", "[1, {}]", '{{"a": {}}}'])
def test_a_number_that_json_does_not_have_is_refused(text: str, around: str) -> None:
    with pytest.raises(NotStrictJson, match=f"^{text} is not a JSON number$"):
        parse_json(around.format(text).encode())


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e309", "9" * 400 + ".0", "1e" + "9" * 30])
def test_a_number_that_would_turn_into_infinity_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson, match=f"^{re.escape(text)} is too large for a number$"):
        parse_json(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "15.0000000000000000001",
        "0.1000000000000000055",
        "9007199254740993.0",
        "-15.0000000000000000001",
        "1e-400",
        "5e-325",
    ],
)
def test_a_decimal_that_loses_digits_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson, match=f"^{re.escape(text)} would be rounded to "):
        parse_json(text.encode())


@pytest.mark.parametrize(
    "text", ["1e-99999999999999999999", "0e99999999999999999999", "0.0E-99999999999999999999"]
)
def test_an_exponent_beyond_every_number_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson):
        parse_json(text.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("15", 15),
        ("-15", -15),
        ("15.0", 15.0),
        ("15.50", 15.5),
        ("0.1", 0.1),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("0.0", 0.0),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_a_number_that_keeps_its_digits_is_read(text: str, value: float) -> None:
    found = parse_json(text.encode())

    assert found == value
    assert type(found) is type(value)


def test_an_integer_longer_than_python_reads_is_refused() -> None:
    with pytest.raises(NotStrictJson, match=r"^not JSON: "):
        parse_json(b"9" * 5000)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_thousands_of_levels_are_refused(opening: str) -> None:
    with pytest.raises(NotStrictJson, match=r"^nested more than 50 levels deep$"):
        parse_json(opening.encode() * 100_000)


@pytest.mark.parametrize(
    ("data", "byte"),
    [(b"\xff", 0), (b'{"a": "\xe9"}', 7), (b"\xed\xa0\x80", 0), ('"é"'.encode("utf-16"), 0)],
    ids=["no text", "latin-1", "an encoded surrogate", "utf-16"],
)
def test_bytes_that_are_not_utf_8_are_refused(data: bytes, byte: int) -> None:
    with pytest.raises(NotStrictJson, match=f"^not UTF-8 text at byte {byte}$"):
        parse_json(data)


def test_a_byte_order_mark_at_the_beginning_is_passed_over() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(NotStrictJson, match=r"^longer than 1,000,000 bytes$"):
        parse_json(b"1".rjust(MAX_BYTES + 1))


def test_a_text_of_the_greatest_length_is_read() -> None:
    assert parse_json(b"1".rjust(MAX_BYTES)) == 1


# Files


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotStrictJson, match=r"^plan\.json cannot be read: No such file"):
        load_json(tmp_path / "plan.json")


def test_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotStrictJson, match=f"^{tmp_path.name} cannot be read: "):
        load_json(tmp_path)


def test_a_path_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(NotStrictJson, match="cannot be read: "):
        load_json("plan\0.json")


def test_a_file_that_is_too_long_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b" " * (MAX_BYTES + 1))

    with pytest.raises(NotStrictJson, match=r"^plan\.json: longer than 1,000,000 bytes$"):
        load_json(path)


def test_what_is_wrong_in_a_file_follows_its_name(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b'{"a": NaN}')

    with pytest.raises(NotStrictJson, match=r"^plan\.json: NaN is not a JSON number$"):
        load_json(path)


def test_a_file_is_read_from_a_path_or_its_text(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes('{"a": ["é", null, true]}'.encode())

    assert load_json(path) == load_json(str(path)) == {"a": ["é", None, True]}


# Python values


class Listed(dict[str, Any]):
    """An object to isinstance(), and free to answer as it likes."""


@pytest.mark.parametrize(
    "path", [None, 5, b"plan.json", ["plan.json"], OfNoName()], ids=lambda p: type.__repr__(type(p))
)
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(NotStrictJson, match=r"is not the path of a file$"):
        load_json(path)


NOT_PLAIN = {
    "tuple": ((1, 2), "a value of type tuple is not JSON"),
    "set": ({1}, "a value of type set is not JSON"),
    "bytes": (b"a", "a value of type bytes is not JSON"),
    "complex": (1j, "a value of type complex is not JSON"),
    "object": (object(), "a value of type object is not JSON"),
    "an object whose type raises": (OfNoName(), "a value of type OfNoName is not JSON"),
    "an object whose type raises as key": (
        {OfNoName(): 1},
        "a key of type OfNoName is not JSON",
    ),
    "type": (int, "a value of type type is not JSON"),
    "a string of another kind": (Shouting("a"), "a value of type Shouting is not JSON"),
    "an object of another kind": (Listed(a=1), "a value of type Listed is not JSON"),
    "a number as key": ({1: "a"}, "a key of type int is not JSON"),
    "nothing as key": ({None: "a"}, "a key of type NoneType is not JSON"),
    "a tuple as key": ({("a",): 1}, "a key of type tuple is not JSON"),
    "a string of another kind as key": ({Shouting("a"): 1}, "a key of type Shouting is not JSON"),
    "nan": (math.nan, "nan is not a JSON number"),
    "infinity": (math.inf, "inf is not a JSON number"),
    "minus infinity": (-math.inf, "-inf is not a JSON number"),
    "a long integer": (10**400, "a number with more than 400 digits"),
    "a long negative integer": (-(10**400), "a number with more than 400 digits"),
    "an integer too long to print": (10**5000, "a number with more than 400 digits"),
    "half a character": ("\ud800", r"'\ud800' holds half a character (a lone surrogate)"),
    "half a character in a text": (
        "a\udfff",
        r"'a\udfff' holds half a character (a lone surrogate)",
    ),
    "half a character as key": (
        {"\udc00": 1},
        r"'\udc00' holds half a character (a lone surrogate)",
    ),
}


@pytest.mark.parametrize("place", [lambda v: v, lambda v: [1, v], lambda v: {"a": {"b": [v]}}])
@pytest.mark.parametrize(("value", "problem"), NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_a_value_that_is_not_plain_json_is_named(value: Any, problem: str, place: Any) -> None:
    assert structure_problem(place(value)) == problem


def test_a_list_that_holds_itself_is_too_deep() -> None:
    assert structure_problem(holding_itself()) == "nested more than 50 levels deep"


def test_objects_that_hold_each_other_are_too_deep() -> None:
    left: dict[str, Any] = {}
    right = {"left": [left]}
    left["right"] = right

    assert structure_problem(left) == "nested more than 50 levels deep"


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 1000, 20_000])
def test_a_value_that_is_too_deep_is_refused(levels: int) -> None:
    assert structure_problem(nested(levels)) == "nested more than 50 levels deep"


def test_a_value_of_the_greatest_depth_is_plain() -> None:
    assert structure_problem(nested(MAX_DEPTH)) is None


def test_a_small_value_that_stands_for_a_huge_one_is_refused() -> None:
    assert structure_problem(huge()) == "more than 20,000 values"


@pytest.mark.parametrize(
    ("number", "problem"),
    [(MAX_VALUES - 1, None), (MAX_VALUES, "more than 20,000 values")],
    ids=["just few enough", "one too many"],
)
def test_values_are_counted_with_the_list_around_them(number: int, problem: str | None) -> None:
    assert structure_problem([0] * number) == problem


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 10**400 - 1, -(10**400) + 1, 0.5, 1e308, "", "é😀", [], {}, {"": [None]}],
    ids=ascii,
)
def test_a_plain_value_has_no_problem(value: Any) -> None:
    assert structure_problem(value) is None


# Equality

UNEQUAL = [
    (1, True),
    (0, False),
    (15, 15.0),
    (15, "15"),
    ("true", True),
    (None, False),
    (None, ""),
    (0, None),
    ("a", "A"),
    ("é", "e\u0301"),
    ([], {}),
    ([], None),
    ([1], [True]),
    ([1], [1, 1]),
    ([1, 2], [2, 1]),
    ({"a": 1}, {"a": True}),
    ({"a": 1}, {"a": 1, "b": None}),
    ({"a": [{"b": 0}]}, {"a": [{"b": False}]}),
    ([1], (1,)),
    ("a", Shouting("b")),
]


@pytest.mark.parametrize(("left", "right"), UNEQUAL, ids=ascii)
def test_values_of_other_types_or_contents_are_not_the_same(left: Any, right: Any) -> None:
    assert not same_json(left, right)
    assert not same_json(right, left)


@pytest.mark.parametrize(
    "value", [None, True, 15, 15.0, "é", [1, [True, None]], {"a": {"b": [1.5]}}], ids=ascii
)
def test_a_value_is_the_same_as_its_copy(value: Any) -> None:
    assert same_json(value, copy.deepcopy(value))


def test_the_order_of_keys_does_not_matter() -> None:
    assert same_json({"a": 1, "b": 2}, {"b": 2, "a": 1})


# Differences


@pytest.mark.parametrize(
    ("left", "right", "places"),
    [
        (1, 1, []),
        (1, True, [""]),
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1}, {}, ["/a"]),
        ({}, {"a": 1}, ["/a"]),
        ({"a": 1, "b": 1}, {"b": 2, "c": 1}, ["/a", "/b", "/c"]),
        ([1, 2, 3], [1, 5, 4], ["/1", "/2"]),
        ({"a": [1]}, {"a": [1, 2]}, ["/a"]),
        ({"a": [{"b": 15}]}, {"a": [{"b": 15.0}]}, ["/a/0/b"]),
        ({"a/b": 1, "~": 1}, {"a/b": 2, "~": 2}, ["/a~1b", "/~0"]),
        ({"a": {}}, {"a": []}, ["/a"]),
        ({"": 1}, {"": 2}, ["/"]),
    ],
    ids=ascii,
)
def test_the_places_in_which_two_documents_differ_are_json_pointers(
    left: Any, right: Any, places: list[str]
) -> None:
    assert differences(left, right) == places
