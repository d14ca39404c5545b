"""One part of a Python file: a function, a class or a method, found by its name.

An exercise is often one function of a file that holds several, so it is given back, and shown, by
itself.
"""

import ast
from dataclasses import dataclass


class NoSuchPart(Exception):  # noqa: N818  a finding, said to the pair
    """A file has no such part, or is no Python; the text says which."""


@dataclass(frozen=True)
class Place:
    """A file, and the name of one part of it; "" for the whole file."""

    file: str
    part: str


def place_of(text: str) -> Place:
    """Read ``lab/plan_gate.py::gate_plan``, or a path alone."""
    file, _, part = text.partition("::")
    return Place(file, part)


def part_of(source: str, name: str) -> str:
    """Give the lines of one part; raise ``NoSuchPart`` where it is not there."""
    first, last = _span(source, name)
    return "".join(_lines(source)[first:last])


def with_part(source: str, name: str, part: str) -> str:
    """Put other lines in the place of one part; raise ``NoSuchPart`` where it is not there."""
    first, last = _span(source, name)
    lines = _lines(source)
    return "".join([*lines[:first], part, *lines[last:]])


def _lines(source: str) -> list[str]:
    """Split where Python counts a line; a text's own method knows more line breaks than that."""
    return [line.decode() for line in source.encode().splitlines(keepends=True)]


def _span(source: str, name: str) -> tuple[int, int]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NoSuchPart(f"it is no Python that can be read ({type(error).__name__})") from error
    found: ast.AST = tree
    for step in name.split("."):
        inside = getattr(found, "body", [])
        found = next((node for node in inside if getattr(node, "name", None) == step), tree)
        if found is tree:
            raise NoSuchPart(f"it has no {name}")
    assert isinstance(found, ast.stmt)  # noqa: S101  a part has a name, and only these have one
    decorators = getattr(found, "decorator_list", [])
    first = min([found.lineno, *(item.lineno for item in decorators)])
    return first - 1, found.end_lineno or found.lineno
