"""What a gate may be given: arbitrary JSON, changes of a good document, values that are no JSON.

``Anything`` generates around the words of one contract: JSON values (with what strict JSON has not:
NaN, infinities, half characters, numbers too long), good documents with a few changes, and texts.
``strange`` has what cannot be generated, each with a name, since some of it cannot be shown when a
test fails: values of other types, classes that lie or raise, values too deep or too long.
"""

import copy
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

# The same examples in every run, and nothing is kept between runs.
STEADY = settings(deadline=None, derandomize=True, database=None, max_examples=150)
MORE_STEADY = settings(STEADY, max_examples=300)

# Documents


def nested(levels: int, leaf: Any = 1) -> Any:
    """Put a value into lists and objects, in turn, that many levels deep."""
    value = leaf
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def placed(document: Any, value: Any, *path: str | int) -> Any:
    """Set the value at a path; the document is changed in place and returned."""
    place = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return document


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list in a document, with each of its keys or indexes."""
    keys = list(document) if type(document) is dict else range(len(document))
    for key in keys:
        yield document, key
        if type(document[key]) in (dict, list):
            yield from places(document[key])


def huge() -> list[Any]:
    """Give a small value that stands for a huge one: the same lists, again and again."""
    value: list[Any] = []
    for _ in range(20):
        value = [value] * 10
    return value


# What can be generated

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 4, 15, 1_000_000, 1_000_001, 2**53 + 1]),
    st.sampled_from([10**399, 10**400, -(10**400), 10**4000]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1.0, 4.0, 5e-324]),
    st.text(alphabet=st.characters(), max_size=8),
    st.sampled_from(["\ud800", "a\udfff", "\u200b", "\u202eb", "\uff11", "", " ", "\n"]),
    st.sampled_from(["\u0430", "\u0435", "$step_1.output", "$step_x", "../x", "*", "%2e"]),
)
FRAGMENTS = st.sampled_from([
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\ud800", b"\\u0000", b"NaN", b"-Infinity",
    b"1e400", b"1e-400", b"9" * 5000, b"0.1" + b"0" * 400 + b"1", b"\xff", b"\xed\xa0\x80", b"\0",
    b"\xef\xbb\xbf", b"[" * 3000, b'{"a":' * 3000, b"null", b"tru", b"-", b"00", b"1E", b"\n",
    b"//", b"1e-99999999999999999999", b"0e99999999999999999999",
])  # fmt: skip


class Anything:
    """Inputs around the words of a contract: such a one gets past the first check now and then."""

    def __init__(self, *words: str) -> None:
        word = st.sampled_from(words)
        self.keys = st.one_of(
            word, st.text(alphabet=st.characters(), max_size=4), st.just("\ud800")
        )
        self.values: st.SearchStrategy[Any] = st.recursive(
            SCALARS | word,
            lambda inner: st.one_of(
                st.lists(inner, max_size=4),
                st.dictionaries(self.keys, inner, max_size=4),
                st.builds(nested, st.integers(1, 80), inner),
            ),
            max_leaves=10,
        )
        self.fragments = FRAGMENTS | word.map(lambda text: json.dumps(text).encode() + b":")

    def mutants(self, *makes: Callable[[], Any]) -> st.SearchStrategy[Any]:
        """Change one of these good documents; each is made anew."""
        return _mutants(makes, self.keys, self.values)

    def texts(self, document: Any) -> st.SearchStrategy[bytes]:
        """Give any bytes, JSON, pieces of it, and the text of a good document with a cut."""
        valid = json.dumps(document).encode()
        return st.one_of(
            st.binary(max_size=40),
            st.lists(self.fragments, max_size=6).map(b"".join),
            self.values.map(lambda value: json.dumps(value).encode()),
            st.builds(
                lambda start, length, part: valid[:start] + part + valid[start + length :],
                st.integers(0, len(valid)),
                st.integers(0, 20),
                self.fragments | st.binary(max_size=4),
            ),
        )


@st.composite
def _mutants(
    draw: st.DrawFn,
    makes: tuple[Callable[[], Any], ...],
    keys: st.SearchStrategy[str],
    values: st.SearchStrategy[Any],
) -> Any:
    """Replace, delete, insert or copy a value, once to three times, somewhere in a document."""
    document = draw(st.sampled_from(makes))()
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            break
        place, key = draw(st.sampled_from(found))
        action = draw(st.sampled_from(["replace", "delete", "insert", "copy"]))
        value = copy.deepcopy(place[key]) if action == "copy" else draw(values)
        if action == "replace":
            place[key] = value
        elif action == "delete":
            del place[key]
        elif type(place) is dict:
            place[draw(keys)] = value
        else:
            place.insert(key, value)
    return document


# What cannot be generated


def holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def object_holding_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["tools"] = value
    return value


class Hostile:
    """An object none of whose answers can be had."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no answer")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __getitem__ = _refuse
    __eq__ = __lt__ = __contains__ = __deepcopy__ = _refuse
    __hash__ = object.__hash__


class Unnamed(type):
    """A class of classes that give no answer."""

    def _refuse(cls, *_: object) -> Any:
        raise RuntimeError("no answer")

    __eq__ = _refuse
    __hash__ = type.__hash__
    __name__ = property(_refuse)  # type: ignore[assignment]


class OfNoName(metaclass=Unnamed):
    """A value whose type cannot be asked."""


class Shouting(str):
    """A text that equals every other text."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Willing(dict[str, Any]):
    """An object that has whatever it is asked for."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer

    def __missing__(self, _key: str) -> str:
        return self.answer


class Whole(int):
    """A number of its own kind."""


def strange(text: str, answer: str) -> dict[str, Callable[[], Any]]:
    """Give the values that are no JSON by name; a contract would take these two as they stand."""
    return {
        "a tuple": lambda: ("a",),
        "a set": lambda: {"a"},
        "bytes": lambda: b"{}",
        "an iterator": lambda: iter([{}]),
        "a type": lambda: dict,
        "a function": lambda: strange,
        "an exception": lambda: ValueError("a"),
        "an object whose answers raise": Hostile,
        "an object whose type raises": OfNoName,
        "a text that equals every text": lambda: Shouting(text),
        "an object that has every key": lambda: Willing(answer),
        "a number of its own kind": lambda: Whole(4),
        "an object with a number as key": lambda: {1: {}},
        "an object with nothing as key": lambda: {None: {}},
        "an object with a tuple as key": lambda: {("a",): {}},
        "an object with keys that do not sort": lambda: {1: {}, "a": {}, None: {}},
        "a list that holds itself": holding_itself,
        "two lists that hold themselves": lambda: [holding_itself(), holding_itself()],
        "an object that holds itself": object_holding_itself,
        "thousands of levels": lambda: nested(5000),
        "an integer too long to print": lambda: 10**5000,
        "a complex number": lambda: 1j,
        "half a character": lambda: "\ud800",
        "infinity": lambda: math.inf,
    }
