"""Names of resources and paths of files, read the way the systems behind the tools read them.

``LEDGER.charges``, ``"ledger".charges`` and ``warehouse.ledger.charges`` are one table to a
database and three texts to ``startswith``. So a name is taken apart, and its parts are compared.
``staging.ledger`` is another table: there ``ledger`` is the last part, and no schema.
"""

import functools
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from lab.plain_text import shown_length, text_problem
from lab.plan_policy import Policy, Tool

SHOWN_CHARACTERS = 80
# Letters that are drawn like a Latin one, and the letter that a reader takes them for.
_READ_AS = str.maketrans(
    "асеіјорѕухһԁԛԝѵӏкмтνοαρτυικχγεϲϳАВЕЅІЈКМНОРСТУХԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡɩɪʟʀıǀօոսհłŁøØđĐ",
    "aceijopsyxhdqwvlkmtvoaptuikxyecjABESIJKMHOPCTYXGABEZHIKMNOPTYXagiilrilonuhlLoOdD",
)
# ASCII characters that a reader takes for one another: both sides of a comparison are mapped.
_LOOKS_LIKE = str.maketrans("i1|0", "lllo")
_BETWEEN_NAMES = re.compile(r"[\s,;|&+=<>()]+")
_QUOTES = re.compile("[\"'`\\[\\]{}“”‘’]")
_PART = r'(?:[a-z0-9_-]+|"[a-z0-9_-]+"|`[a-z0-9_-]+`|\[[a-z0-9_-]+\])'
_PLAIN = re.compile(rf"(?:[a-z][a-z0-9+]*://)?{_PART}(?:\s*[.:/]\s*{_PART})*", re.IGNORECASE)
_WEB = r"https?://[a-z0-9_~%-]+(?:[.:/][a-z0-9_~%-]+)*/?(?:\?[a-z0-9_.~%=&+-]*)?"
_FOLDER = r"[a-z][a-z0-9+]*://[a-z0-9_-]+(?:[.:/][a-z0-9_-]+)*/"
_URL = re.compile(rf"{_WEB}|{_FOLDER}", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z0-9._+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
# An address in a text, but for one whose first half could be a table: ledger.charges@dwh.example.
_ADDRESS_IN_TEXT = re.compile(
    r"(?<![A-Za-z0-9_.@+'-])[A-Za-z0-9_+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
)
# In the name of an argument that may well take a schema or a table by its bare name.
_PLACE = re.compile(
    r"schema|database|catalog|dataset|space|table|source|(?<![a-z])(?:db|into?|to|from)(?![a-z])"
)


@dataclass(frozen=True)
class Name:
    """One name: its segments (between slashes or colons), and the parts of each (between dots)."""

    segments: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        """Give the name as a message may show it."""
        return shown(self.spelling)

    @property
    def spelling(self) -> str:
        """Give the name in its canonical spelling: whole, since long names differ at their end."""
        return "/".join(".".join(parts) for parts in self.segments)

    @property
    def containers(self) -> Iterator[str]:
        """Yield the parts that hold something: all but the last, or the only one there is."""
        *before, last = self.segments
        yield from (part for parts in before for part in parts)
        yield from last[:-1] if len(last) > 1 else last

    def begins_with(self, prefix: str) -> bool:
        """Tell whether a part that holds something is what a prefix of the policy means.

        A prefix without a dot begins a table as well, whatever stands in front of it.
        """
        if any(_is_meant(part, prefix) for part in self.containers):
            return True
        return not prefix.endswith(".") and _alike(self.segments[-1][-1]).startswith(_alike(prefix))

    @property
    def is_punctuation(self) -> bool:
        """Tell whether a name's wildcards are none in a sentence: 5 %, why ?, * item, **total**."""
        parts = [part for segment in self.segments for part in segment]
        return not "".join(parts).strip("*%?") or (len(parts) == 1 and parts[0][0] in "*%?")


def names_in(text: str) -> list[Name]:
    """List every name that a text can be read as, in its canonical spelling."""
    return list(_names_in(text))


@functools.lru_cache(maxsize=256)
def _names_in(text: str) -> tuple[Name, ...]:
    """List them once: a plan's texts are read by one check after the other."""
    plain = _folded(text)
    names: dict[Name, None] = {}
    for reading in _readings(plain):
        read = re.sub(r" ?([.:/]) ?", r"\1", re.sub(r"\s+", " ", reading))
        names |= {_name(word): None for word in _BETWEEN_NAMES.split(_QUOTES.sub("", read)) if word}
    return tuple(names)


def _readings(text: str) -> list[str]:
    """List a text without its comments, with what stands in them, and with each | as an l."""
    opened = re.sub(r"/\*|\*/|--", " ", text)
    readings = [_without_comments(text), opened, opened.replace("|", "l")]
    return list(dict.fromkeys(readings))


def _without_comments(text: str) -> str:
    """Take comments out and join what they part: led/**/ger is ledger."""
    kept: list[str] = []
    start = 0
    while (begin := text.find("/*", start)) >= 0 and (end := text.find("*/", begin + 2)) >= 0:
        kept.append(text[start:begin])
        start = end + 2
    return re.sub(r"--[^\n]*", "", "".join([*kept, text[start:]]))


def is_plain(text: str) -> bool:
    """Tell whether a text names one resource and can be read in one way only."""
    named = text.strip(" ")
    if "--" in text:
        return False
    return bool(_PLAIN.fullmatch(named) or _URL.fullmatch(named) or is_address(named))


def canonical(text: str) -> str:
    """Give a text's one spelling, to compare it with others."""
    return " ".join(name.spelling for name in names_in(text))


def protected_name(text: str, prefixes: Iterable[str]) -> str | None:
    """Give the protected name that a text can be read as, or None."""
    prefixes = tuple(prefixes)
    return next((str(n) for n in names_in(text) if any(map(n.begins_with, prefixes))), None)


def protected_in_free_text(text: str, argument: str, prefixes: Iterable[str]) -> str | None:
    """Give the protected name in a text that may be about anything, or None.

    A lone * or %, a **word** and an e-mail address are no names there. Nor is a value that is one
    plain word or address, unless its argument is called schema, table or the like.
    """
    is_word = text.isascii() and text.isalpha()
    if (is_word or is_address(text)) and not _PLACE.search(argument.lower()):
        return None
    prefixes = tuple(prefixes)
    names = (name for name in names_in(_ADDRESS_IN_TEXT.sub(" ", text)) if not name.is_punctuation)
    return next((str(name) for name in names if any(map(name.begins_with, prefixes))), None)


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


def texts_of(step: Mapping[str, Any], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (argument, value) for some of a step's arguments, a list element by element.

    A whole number is the text of its digits, and anything else that is no text is "".
    """
    for name in names:
        value = step["args"].get(name, [])
        for item in value if type(value) is list else [value]:
            yield name, str(item) if type(item) in (str, int) else ""


def is_address(text: str) -> bool:
    """Tell whether a text is one plain e-mail address."""
    return bool(_ADDRESS.fullmatch(text))


def is_outside(path: str, root: str) -> bool:
    """Tell whether a path does not lie below the root, or may not: it is resolved as text only."""
    plain = unicodedata.normalize("NFKC", path)
    if text_problem(path) or re.search(r"^~|[\\$*?]|://|%[0-9a-fA-F]{2}|%\w+%", plain):
        return True
    inside = (posixpath.normpath(posixpath.join(root, spelt)) for spelt in (path, plain))
    return not all(place.startswith(f"{root}/") for place in inside)


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
    letters = unicodedata.normalize("NFKD", without_hidden(text).translate(_READ_AS))
    return "".join(c for c in letters if not unicodedata.combining(c)).casefold().strip()


def without_hidden(text: str) -> str:
    """Give a text without what does not show, and with the plain letter for each drawn variant."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, unicodedata.normalize("NFKC", text)))


def _visible(character: str) -> str:
    if character in "\n\r\u2028\u2029":
        return "\n"
    if character in "\t\v\f" or unicodedata.category(character)[0] == "Z":
        return " "
    hidden = unicodedata.category(character) in ("Mn", "Me") or not shown_length(character)
    return "" if hidden else character


def _name(word: str) -> Name:
    if re.match("https?://", word):
        word = word.replace("?", "/")
    place = word.split("://", 1)[-1].rstrip("/:.") or word
    return Name(tuple(tuple(part.split(".")) for part in re.split(r"[/:\\@#]+", place)))


def _is_meant(part: str, prefix: str) -> bool:
    """Compare one part of a name with a prefix: ``ledger.`` is the whole part, ``prod_`` begins it.

    A wildcard counts as whatever it may stand for.
    """
    body, part = _alike(prefix.rstrip(".")), _alike(part)
    head = re.split(r"[*%?]", part, maxsplit=1)[0]
    if head == part:
        return part == body if prefix.endswith(".") else part.startswith(body)
    if prefix.endswith("."):
        # Longer than the name without its stars: no match, and no long pattern to work on.
        if len(re.sub("[*%]", "", part)) > len(body):
            return False
        return fnmatchcase(body, part.replace("%", "*"))
    return body.startswith(head) or head.startswith(body)


def _alike(part: str) -> str:
    return part.translate(_LOOKS_LIKE)
