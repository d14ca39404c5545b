"""The finer rules of the plan check, given: arguments against targets, caps, bounds, paths, order.

Each rule yields texts that begin after "step N: ". None of them looks at anything in the plan to
find out what is allowed; that stands in the policy.
"""

import functools
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lab.plain_text import shown_length
from lab.plan_policy import Policy, worst_effect
from lab.plan_resources import (
    canonical,
    is_address,
    is_outside,
    is_plain,
    kinds_of_targets,
    names_in,
    protected_in_free_text,
    protected_name,
    shown,
    texts_of,
    without_hidden,
)
from lab.strict_json import structure_problem

Step = dict[str, Any]

MAX_PLAN_CHARACTERS = 200_000
_REFERENCE = re.compile(r"\$step_([1-9][0-9]{0,8})\.output")
# With a sign in front, a number or .output is enough: ${step_7}; without one it takes both.
_LIKE_A_REFERENCE = re.compile(
    r"(?:\$[{(\[\s]*|\{\{\s*)steps?(?:[._\[-]?\d\w*|\w*(?=\.outputs?\b))\]?(?:\.\w+)*"
    r"|(?<!\w)steps?[._\[-]?\d+\]?\.outputs?\b(?:\.\w+)*",
    re.IGNORECASE,
)


def shape_problems(plan: Any, schema_file: Path) -> list[str]:
    """Check the shape of a plan, any value whatever: ``<path as a list>: <message>``, sorted."""
    structure = structure_problem(plan)
    if structure:
        return [f"[]: {structure}"]
    if len(json.dumps(plan)) > MAX_PLAN_CHARACTERS:
        return [f"[]: longer than {MAX_PLAN_CHARACTERS:,} characters"]
    errors = _validator(schema_file.read_text(encoding="utf-8")).iter_errors(plan)
    return sorted(f"{list(error.absolute_path)}: {error.message}" for error in errors)


@functools.lru_cache(maxsize=4)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def plan_problems(plan: dict[str, Any]) -> list[str]:
    """Check what no step shows by itself: the steps' numbers, and what they take from each other.

    These problems are whole texts, with "step N: " in front where a step is meant.
    """
    problems = [] if shown_length(plan["goal"]) else ["['goal']: is blank"]
    if not plan["steps"]:
        problems.append("the plan has no steps")
    produced: set[int] = set()
    for step in plan["steps"]:
        number = step["n"]
        if type(number) is not int:
            problems.append(f"step number {number} is not written as a whole number")
        elif number in produced:
            problems.append(f"step number {number} is used twice")
        texts = sorted(set(_missing_artifacts(step, produced)))
        problems += [f"step {number}: {text}" for text in texts]
        produced.add(number)
    return problems


def finer_problems(step: Step, policy: Policy) -> Iterator[str]:
    """Yield what is wrong with a step beside its tool, its effect and its protected targets."""
    yield from _unnamed(step, policy)
    if worst_effect(step, policy) != "read":
        yield from _unreadable(step, policy)
        yield from _hidden(step, policy)
        yield from _money(step, policy)
        yield from _recipients(step, policy)
        yield from _paths(step, policy)


def snapshots(step: Step, policy: Policy) -> dict[str, float]:
    """Give the resources of a step that have a lifetime, each with its hours.

    What was checked about them is true only of the moment in which it was checked.
    """
    named = texts_of(step, policy.tool(step["tool"]).target_args)
    texts = [*step.get("targets", []), *(text for _, text in named)]
    return {
        name.spelling: hours
        for text in texts
        for name in names_in(text)
        for prefix, hours in policy.lifetimes.items()
        if name.begins_with(prefix)
    }


def _missing_artifacts(step: Step, produced: set[int]) -> Iterator[str]:
    for text in _strings([step["args"], step.get("targets", [])]):
        for found in _LIKE_A_REFERENCE.finditer(without_hidden(text)):
            reference = _REFERENCE.fullmatch(found.group())
            name = shown(found.group())
            if reference is None or found.group() not in text:
                yield f"consumes {name}, which names no artifact: write $step_N.output"
            elif int(reference.group(1)) not in produced:
                yield f"consumes {name}, which no earlier step produces"


def _unnamed(step: Step, policy: Policy) -> Iterator[str]:
    """Yield the resources that arguments name and targets leave out; a read may have no targets."""
    if worst_effect(step, policy) == "read" and "targets" not in step:
        return
    tool = policy.tool(step["tool"])
    spell: dict[str, Callable[[str], str]] = {
        "path": posixpath.normpath,
        "recipient": str,
        "resource": canonical,
    }
    named = {spell[kind](text) for text, kind in kinds_of_targets(step, tool)}
    for argument, text in dict.fromkeys(texts_of(step, tool.target_args)):
        if argument in tool.path_args:
            name = posixpath.normpath(text)
        else:
            name = text if argument in tool.recipient_args else canonical(text)
        if name not in named and not _is_open_in_a_read(text, step, policy):
            yield f"args name {shown(name) or repr(text)}, which targets leave out"


def _is_open_in_a_read(text: str, step: Step, policy: Policy) -> bool:
    """Tell whether a read takes its resource from an earlier step, which harms nobody."""
    return worst_effect(step, policy) == "read" and bool(_REFERENCE.fullmatch(text))


def _unreadable(step: Step, policy: Policy) -> Iterator[str]:
    tool = policy.tool(step["tool"])
    for text, kind in kinds_of_targets(step, tool):
        plain = kind != "resource" or is_plain(text)
        # A protected name has a problem of its own, however it is spelt.
        if not plain and protected_name(text, policy.protected) is None:
            yield f"target {shown(text)!r} cannot be read as one resource"
    for argument, text in texts_of(step, tool.target_args):
        if argument not in (*tool.path_args, *tool.recipient_args) and not is_plain(text):
            yield f"arg {argument} cannot be read as one resource"


def _hidden(step: Step, policy: Policy) -> Iterator[str]:
    """Yield the arguments that nobody knows, and the protected names within those that may come."""
    tool = policy.tool(step["tool"])
    known = {*tool.target_args, tool.amount_arg, *(tool.free_args or ())}
    others = {name: value for name, value in step["args"].items() if name not in known}
    if tool.free_args is not None:
        yield from (f"{step['tool']} takes no argument {shown(name)}" for name in others)
        return
    targets = {canonical(text) for text in step.get("targets", [])}
    for argument, text in _named_strings(others):
        name = protected_in_free_text(text, argument, policy.protected)
        if name and name not in targets:
            yield f"args name {name}, which targets leave out"


def _money(step: Step, policy: Policy) -> Iterator[str]:
    if worst_effect(step, policy) != "money":
        return
    name = step["tool"]
    cap = policy.caps.get(name)
    amount = step["args"].get(policy.tool(name).amount_arg)
    if cap is None:
        yield f"{name} has no cap in the policy"
    elif type(amount) not in (int, float) or amount <= 0:
        yield f"{name} names no amount to hold against its cap of {cap}"
    elif amount > cap:
        yield f"{name} asks for {shown(str(amount))}, above its cap of {cap}"
    accounts = len(list(texts_of(step, policy.tool(name).target_args)))
    if cap is not None and (accounts != 1 or len(step.get("targets", [])) > 1):
        yield f"{name} must name exactly one account: its cap of {cap} is for one"


def _recipients(step: Step, policy: Policy) -> Iterator[str]:
    tool = policy.tool(step["tool"])
    if not tool.recipient_args:
        return
    name, bound = step["tool"], policy.recipient_bounds.get(step["tool"])
    texts = [text for _, text in texts_of(step, tool.recipient_args)]
    if bound is None:
        yield f"{name} has no bound on its recipients in the policy"
    elif not texts or not all(map(is_address, texts)):
        yield f"{name} names no list of addresses to hold against its bound of {bound} recipients"
    elif len(texts) > bound:
        yield f"{name} writes to {len(texts)} recipients, above its bound of {bound}"


def _paths(step: Step, policy: Policy) -> Iterator[str]:
    tool = policy.tool(step["tool"])
    paths = [text for _, text in texts_of(step, tool.path_args)]
    paths += [text for text, kind in kinds_of_targets(step, tool) if kind == "path"]
    for path in dict.fromkeys(paths):
        if is_outside(path, policy.root):
            yield f"writes outside the working directory: {shown(path) or repr(path)}"


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, the names of fields included."""
    yield from (text for _, text in _named_strings(value))


def _named_strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the name of the field that it stands in."""
    if type(value) is str:
        yield name, value
    elif type(value) is dict:
        for key, item in value.items():
            yield name, key
            yield from _named_strings(item, key)
    elif type(value) is list:
        for item in value:
            yield from _named_strings(item, name)
