"""The policy: what the harness owns, so that no plan can mark its own work.

Which tools exist, what each of them does, which names are protected, how much is too much. A person
writes it as JSON before any model is asked; a broken policy is refused when it is loaded.
"""

import copy
import functools
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lab.plain_text import name_problem
from lab.strict_json import NotStrictJson, load_json, structure_problem

SCHEMA_FILE = Path(__file__).with_name("plan_policy.schema.json")
# From the mildest to the worst.
EFFECTS = ("read", "write", "external", "money")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_]*\.?")


class PolicyError(ValueError):
    """A policy cannot be used. ``problems`` holds one text for each thing that is wrong."""

    def __init__(self, *problems: str) -> None:
        """Take the problems."""
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Tool:
    """What the harness knows about one tool; see ``plan_policy.schema.json`` for each field."""

    effect: str
    destructive: bool
    target_args: tuple[str, ...] = ()
    path_args: tuple[str, ...] = ()
    recipient_args: tuple[str, ...] = ()
    amount_arg: str | None = None
    free_args: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the row as JSON, without the fields that are not in use."""
        kept = {"target_args"}
        row = {key: value for key, value in vars(self).items() if value or key in kept}
        row |= {"destructive": self.destructive}
        if self.free_args is not None:
            row["free_args"] = self.free_args
        return {key: list(v) if isinstance(v, tuple | list) else v for key, v in row.items()}


# Nobody wrote down what the tool does, so it counts as the worst.
UNLISTED = Tool(effect="money", destructive=True)


@dataclass(frozen=True)
class Policy:
    """One run's policy. Raises ``PolicyError`` when it is made of values that cannot be used."""

    available_tools: tuple[str, ...]
    tools: Mapping[str, Tool]
    protected: tuple[str, ...]
    caps: Mapping[str, float]
    recipient_bounds: Mapping[str, int]
    root: str
    lifetimes: Mapping[str, float]

    def __post_init__(self) -> None:
        """Refuse values that are not a policy, however they came here."""
        problems = policy_problems(self.to_json())
        if problems:
            raise PolicyError(*problems)

    @classmethod
    def from_json(cls, value: object) -> "Policy":
        """Read a policy from plain JSON; raise ``PolicyError`` naming all that is wrong."""
        problems = policy_problems(value)
        if problems or type(value) is not dict:
            raise PolicyError(*problems)
        tools = {name: _tool(tool) for name, tool in value["tools"].items()}
        rest = {key: _own(item) for key, item in value.items() if key != "tools"}
        return cls(tools=tools, **rest)

    def to_json(self) -> dict[str, Any]:
        """Give the policy as plain JSON."""
        row = {name: copy.copy(getattr(self, name)) for name in self.__dataclass_fields__}
        if isinstance(self.tools, Mapping):
            row["tools"] = {
                name: tool.to_json() if isinstance(tool, Tool) else tool
                for name, tool in self.tools.items()
            }
        return {key: list(value) if type(value) is tuple else value for key, value in row.items()}

    def tool(self, name: str) -> Tool:
        """Give the row of a tool; a tool without one has the worst effect and is destructive."""
        return self.tools.get(name, UNLISTED)

    def effect_of(self, name: str) -> str:
        """Give the effect that a tool has, whatever a plan says about it."""
        return self.tool(name).effect

    def is_destructive(self, name: str) -> bool:
        """Tell whether what a tool does cannot be undone."""
        return self.tool(name).destructive


def is_milder(effect: str, other: str) -> bool:
    """Tell whether one effect is milder than another: read, write, external, money."""
    return EFFECTS.index(effect) < EFFECTS.index(other)


def worst_effect(step: Mapping[str, Any], policy: Policy) -> str:
    """Give the worse of what a step declares and what its tool does."""
    declared, own = step["effect"], policy.effect_of(step["tool"])
    return own if is_milder(declared, own) else str(declared)


def load_policy(path: str | Path) -> Policy:
    """Read a policy file; raise ``PolicyError`` naming the file and what is wrong with it."""
    try:
        value = load_json(path)
    except NotStrictJson as error:
        raise PolicyError(str(error)) from error
    return Policy.from_json(value)


def policy_problems(value: object) -> list[str]:
    """Check a policy against its schema and its own rules; [] when it may be used."""
    structure = structure_problem(value)
    if structure:
        return [f"policy []: {structure}"]
    return list(_problems_of_text(json.dumps(value, sort_keys=True)))


@functools.lru_cache(maxsize=64)
def _problems_of_text(text: str) -> tuple[str, ...]:
    """Check a policy's text, once: a harness asks with the same policy at every plan."""
    value = json.loads(text)
    errors = _validator().iter_errors(value)
    problems = sorted(f"policy {list(error.absolute_path)}: {error.message}" for error in errors)
    return tuple(problems or (f"policy {problem}" for problem in _own_problems(value)))


@functools.cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def _own_problems(policy: dict[str, Any]) -> Iterator[str]:
    """Yield what a schema cannot say."""
    yield from _name_problems(policy)
    for name, tool in policy["tools"].items():
        yield from (f"tool {name} {text}" for text in _tool_problems(tool))
    root = policy["root"]
    if not root.startswith("/") or root != posixpath.normpath(root) or root in ("/", "//"):
        yield f"root {root!a} is not an absolute path of a folder"


def _name_problems(policy: dict[str, Any]) -> Iterator[str]:
    for name in [*policy["available_tools"], *policy["tools"]]:
        if name_problem(name) or re.search(r"[,;'\"]", name):
            yield f"tool {name!a} is not a plain name"
    for prefix in [*policy["protected"], *policy["lifetimes"]]:
        if not _PREFIX.fullmatch(prefix):
            yield f"prefix {prefix!a} is not lower-case letters, digits and _, with a dot or none"
    for table in ("caps", "recipient_bounds"):
        for name in policy[table]:
            if name not in policy["tools"]:
                yield f"{table} names {name!a}, which has no row under tools"


def _tool_problems(tool: dict[str, Any]) -> Iterator[str]:
    targets = tool["target_args"]
    if tool["effect"] != "read" and not targets:
        yield "is no read, and no argument of it is a target_arg: nothing could be compared"
    kinds = [*tool.get("path_args", []), *tool.get("recipient_args", [])]
    for name in kinds:
        if name not in targets or kinds.count(name) > 1:
            yield f"argument {name!a} must be a target_arg, and of one kind"
    if tool["effect"] == "money" and "amount_arg" not in tool:
        yield "is money and has no amount_arg: nothing could be held against a cap"


def _tool(row: dict[str, Any]) -> Tool:
    return Tool(**{key: _own(value) for key, value in row.items()})


def _own(value: Any) -> Any:
    """Give what whoever made the value cannot change any more; no field lies deeper than this."""
    if type(value) is dict:
        return dict(value)
    return tuple(value) if type(value) is list else value
