"""Names of resources and paths of files, read the way the systems behind the tools read them.

``LEDGER.charges``, ``"ledger".charges`` and ``warehouse.ledger.charges`` are one table to a
database and three texts to ``startswith``. So a name is taken apart, and its parts are compared.
``staging.ledger`` is another table: there ``ledger`` is the last part, and no schema.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from lab.plain_text import name_problem
from lab.plan_policy import Policy, Tool

SHOWN_CHARACTERS = 80
# Letters that are drawn like a Latin one, and the letter that a reader takes them for.
_READ_AS = str.maketrans(
    "асеіјорѕухһԁԛԝѵӏкмтνοαρτυικχγεϲϳАВЕЅІЈКМНОРСТУХԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡɩɪʟʀıǀօոսհ",
    "aceijopsyxhdqwvlkmtvoaptuikxyecjABESIJKMHOPCTYXGABEZHIKMNOPTYXagiilrilonuh",
)
_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_BETWEEN_NAMES = re.compile(r"[\s,;|&+=<>()]+")
_QUOTES = re.compile("[\"'`\\[\\]{}“”‘’]")
_PART = r'(?:[a-z0-9_-]+|"[a-z0-9_-]+"|`[a-z0-9_-]+`|\[[a-z0-9_-]+\])'
_PLAIN = re.compile(rf"(?:[a-z][a-z0-9+]*://)?{_PART}(?:\s*[.:/]\s*{_PART})*", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True)
class Name:
    """One name: its segments (between slashes or colons), and the parts of each (between dots)."""

    segments: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        """Give the name in its canonical spelling."""
        return shown("/".join(".".join(parts) for parts in self.segments))

    @property
    def containers(self) -> Iterator[str]:
        """Yield the parts that hold something: all but the last, or the only one there is."""
        *before, last = self.segments
        yield from (part for parts in before for part in parts)
        yield from last[:-1] if len(last) > 1 else last

    def begins_with(self, prefix: str) -> bool:
        """Tell whether a part that holds something is what a prefix of the policy means."""
        return any(_is_meant(part, prefix) for part in self.containers)


def names_in(text: str) -> list[Name]:
    """List every name that a text can be read as, in its canonical spelling."""
    plain = _folded(text)
    names: dict[Name, None] = {}
    # A comment can stand between two words or inside of one.
    for filler in (" ", "") if _COMMENT.search(plain) else ("",):
        read = re.sub(r"\s*([.:/])\s*", r"\1", _COMMENT.sub(filler, plain))
        names |= {_name(word): None for word in _BETWEEN_NAMES.split(_QUOTES.sub("", read)) if word}
    return list(names)


def is_plain(text: str) -> bool:
    """Tell whether a text names one resource and can be read in one way only."""
    return bool(_PLAIN.fullmatch(text.strip(" "))) and "--" not in text


def canonical(text: str) -> str:
    """Give a text's one spelling, to compare it with others."""
    return " ".join(map(str, names_in(text)))


def protected_name(text: str, prefixes: Iterable[str]) -> str | None:
    """Give the protected name that a text can be read as, or None."""
    prefixes = tuple(prefixes)
    return next((str(n) for n in names_in(text) if any(map(n.begins_with, prefixes))), None)


def protected_targets(step: Mapping[str, Any], policy: Policy) -> list[str]:
    """List the protected names among a step's targets, each in its canonical spelling."""
    kinds = kinds_of_targets(step, policy.tool(step["tool"]))
    names = (protected_name(text, policy.protected) for text, kind in kinds if kind == "resource")
    return list(dict.fromkeys(name for name in names if name))


def kinds_of_targets(step: Mapping[str, Any], tool: Tool) -> list[tuple[str, str]]:
    """Give each target with its kind, which follows from the tool: resource, path, recipient."""
    paths = {posixpath.normpath(text) for _, text in texts_of(step, tool.path_args)}
    recipients = {text for _, text in texts_of(step, tool.recipient_args)}
    only_paths = bool(tool.path_args) and set(tool.path_args) == set(tool.target_args)

    def kind(text: str) -> str:
        if only_paths or posixpath.normpath(text) in paths:
            return "path"
        return "recipient" if text in recipients and is_address(text) else "resource"

    return [(text, kind(text)) for text in step.get("targets", [])]


def texts_of(step: Mapping[str, Any], names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield (argument, value) for some of a step's arguments, a list element by element."""
    for name in names:
        value = step["args"].get(name, [])
        for text in value if type(value) is list else [value]:
            yield name, text if type(text) is str else ""


def is_address(text: str) -> bool:
    """Tell whether a text is one plain e-mail address."""
    return bool(_ADDRESS.fullmatch(text))


def is_outside(path: str, root: str) -> bool:
    """Tell whether a path does not lie below the root, or may not: it is resolved as text only."""
    if name_problem(path) or re.search(r"[\\~$%*?]|://", path):
        return True
    inside = posixpath.normpath(posixpath.join(root, path))
    return not inside.startswith(f"{root}/")


def shown(text: str) -> str:
    """Give a text as a message may show it: short, and without anything that does not print."""
    plain = text if text.isascii() and text.isprintable() else ascii(text)
    return plain if len(plain) <= SHOWN_CHARACTERS else f"{plain[:SHOWN_CHARACTERS]}…"


def _folded(text: str) -> str:
    """Take off what changes no name: case, invisible characters, accents, borrowed letters."""
    for _ in range(5):
        if not re.search("%[0-9a-fA-F]{2}", text):
            break
        text = unquote(text)
    kept = "".join(map(_visible, unicodedata.normalize("NFKC", text)))
    letters = unicodedata.normalize("NFKD", kept.translate(_READ_AS))
    return "".join(c for c in letters if not unicodedata.combining(c)).casefold().strip()


def _visible(character: str) -> str:
    if character in "\t\n\r\v\f" or unicodedata.category(character)[0] == "Z":
        return " "
    return "" if unicodedata.category(character)[0] == "C" else character


def _name(word: str) -> Name:
    place = word.split("://", 1)[-1].rstrip("/:.") or word
    return Name(tuple(tuple(part.split(".")) for part in re.split(r"[/:\\@#]+", place)))


def _is_meant(part: str, prefix: str) -> bool:
    """Compare one part of a name with a prefix: ``ledger.`` is the whole part, ``prod_`` begins it.

    A wildcard counts as whatever it may stand for.
    """
    body = prefix.rstrip(".")
    head = re.split(r"[*%?]", part, maxsplit=1)[0]
    if head == part:
        return part == body if prefix.endswith(".") else part.startswith(body)
    if prefix.endswith("."):
        return fnmatchcase(body, part.replace("%", "*"))
    return body.startswith(head) or head.startswith(body)
