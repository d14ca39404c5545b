"""JSON, read strictly: what a reviewer sees in the text is what the gate decides on.

Python's own reader is generous. It takes ``NaN``, keeps the last of two equal keys, and rounds
long decimals without a word. Each of those lets one text mean two things, so each is refused here.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn

# How every type tells its name, whatever its own class says.
_NAME_OF_TYPE = type.__dict__["__name__"]
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_LARGE = 10**400
MAX_BYTES = 1_000_000
MAX_DEPTH = 50
MAX_VALUES = 20_000


class NotStrictJson(ValueError):  # noqa: N818  said of a text
    """A text is not JSON, or means different things to different readers."""


def load_json(path: str | Path) -> Any:
    """Read one JSON file; raise ``NotStrictJson`` naming the file and what is wrong with it."""
    if not issubclass(type(path), (str, Path)):
        raise NotStrictJson(f"a value of type {_type_name(path)} is not the path of a file")
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NotStrictJson(f"{path.name} cannot be read: {reason}") from error
    try:
        return parse_json(data)
    except NotStrictJson as error:
        raise NotStrictJson(f"{path.name}: {error}") from error


def parse_json(data: bytes) -> Any:
    """Parse one JSON text of at most ``MAX_BYTES`` bytes; raise ``NotStrictJson`` otherwise."""
    if len(data) > MAX_BYTES:
        raise NotStrictJson(f"longer than {MAX_BYTES:,} bytes")
    try:
        return json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_object_without_duplicate_keys,
            parse_constant=_refuse_constant,
            parse_float=_exact_float,
        )
    except NotStrictJson:
        raise
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"not UTF-8 text at byte {error.start}") from error
    except RecursionError as error:
        raise NotStrictJson(f"nested more than {MAX_DEPTH} levels deep") from error
    except ValueError as error:
        raise NotStrictJson(f"not JSON: {error}") from error


def structure_problem(value: Any) -> str | None:
    """Say what keeps a Python value from being plain JSON, or return None.

    A gate also gets values that never went through ``load_json``: tuples, infinities, lists that
    hold themselves. The walk uses its own stack, so depth cannot crash it.
    """
    return _walk_problem(value, _item_problem)


def size_problem(value: Any) -> str | None:
    """Say whether a Python value is too deep or holds too many values, or return None."""
    return _walk_problem(value, lambda _: None)


def same_json(left: Any, right: Any) -> bool:
    """Compare two JSON values with their types, at any depth: True is not 1, 15 is not 15.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same_json(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


def differences(left: Any, right: Any, place: str = "") -> list[str]:
    """List the JSON Pointers (RFC 6901) of the values in which two documents differ."""
    if type(left) is dict and type(right) is dict:
        keys = [*left, *(key for key in right if key not in left)]
        return [
            d for k in keys for d in _child_differences(left, right, k, f"{place}/{_escape(k)}")
        ]
    if type(left) is list and type(right) is list and len(left) == len(right):
        return [
            d
            for index, pair in enumerate(zip(left, right, strict=True))
            for d in differences(*pair, f"{place}/{index}")
        ]
    return [] if same_json(left, right) else [place]


def values_at(value: Any, pointer: str) -> list[Any]:
    """List the values at a JSON Pointer (RFC 6901), in which ``*`` stands for any key or index."""
    found = [value]
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        found = [child for item in found for child in _children_at(item, key)]
    return found


def _walk_problem(value: Any, item_problem: Callable[[Any], str | None]) -> str | None:
    pending: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while pending:
        item, depth = pending.pop()
        seen += 1
        if depth > MAX_DEPTH:
            return f"nested more than {MAX_DEPTH} levels deep"
        if seen > MAX_VALUES:
            return f"more than {MAX_VALUES:,} values"
        problem = item_problem(item)
        if problem:
            return problem
        if type(item) is dict or type(item) is list:
            pending += [(child, depth + 1) for child in _children(item)]
    return None


def _children_at(item: Any, key: str) -> Iterator[Any]:
    for name, child in item.items() if type(item) is dict else enumerate(_children(item)):
        if key in ("*", str(name)):
            yield child


def _child_differences(left: Any, right: Any, key: str, place: str) -> list[str]:
    if key in left and key in right:
        return differences(left[key], right[key], place)
    return [place]


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _children(item: Any) -> Iterator[Any]:
    if type(item) is dict:
        yield from item.values()
    elif type(item) is list:
        yield from item


def _item_problem(item: Any) -> str | None:
    # By identity: a class of a class may answer as it likes when it is compared.
    kind = type(item)
    if kind is str:
        return _surrogate_problem(item)
    if kind is dict:
        return next((p for key in item if (p := _key_problem(key))), None)
    if kind is float:
        return None if math.isfinite(item) else f"{item} is not a JSON number"
    if kind is int:
        return "a number with more than 400 digits" if abs(item) >= _TOO_LARGE else None
    if item is None or kind is bool or kind is list:
        return None
    return f"a value of type {_type_name(item)} is not JSON"


def _key_problem(key: Any) -> str | None:
    if type(key) is not str:
        return f"a key of type {_type_name(key)} is not JSON"
    return _surrogate_problem(key)


def _type_name(item: Any) -> str:
    """Name a value's type without asking it: a class of a class may answer as it likes."""
    name: str = _NAME_OF_TYPE.__get__(type(item))
    return name


def _surrogate_problem(item: str) -> str | None:
    if _SURROGATE.search(item):
        return f"{item!a} holds half a character (a lone surrogate)"
    return None


def _object_without_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise NotStrictJson(f"key {key!r} stands twice in one object")
        result[key] = value
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not a JSON number")


def _exact_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotStrictJson(f"{text} is too large for a number")
    try:
        exact = Decimal(text)
    except InvalidOperation as error:
        raise NotStrictJson(f"{text} has an exponent that no number has") from error
    if exact != Decimal(repr(number)):
        raise NotStrictJson(f"{text} would be rounded to {number!r}")
    return number
