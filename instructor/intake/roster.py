"""A class's roster: a CSV that says who hands in, and where each attempt lies."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import category, normalize

from instructor import CourseError
from instructor.intake.landing import Remark

SEPARATORS = ",;\t"
FETCHED = ("https", "http", "file")
# How a gradebook of another program knows somebody: our word, and what columns are called.
IDENTITIES = {
    "email": ("email", "email_address", "e_mail"),
    "idnumber": ("idnumber", "id_number"),
    "canvas_id": ("canvas_id",),
    "sis_user_id": ("sis_user_id", "sis_id"),
    "sis_login": ("sis_login", "sis_login_id"),
}
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SSH = re.compile(r"[\w.-]+@[\w.-]+:")


@dataclass(frozen=True)
class Source:
    """Where work lies: a ``folder``, a ``zip``, a ``git`` repository, or ``nothing``.

    ``place`` is a path or an address, which may hold a password and is never shown; ``written`` is
    the path of a roster that leads to nothing.
    """

    kind: str
    place: str = ""
    written: str = ""


@dataclass(frozen=True)
class Attempt:
    """One time that somebody handed in."""

    label: str
    source: Source


@dataclass(frozen=True)
class Entry:
    """Somebody who hands in: attempts in order, and ids for gradebooks of other programs."""

    name: str
    attempts: tuple[Attempt, ...]
    ids: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


def read_roster(path: Path, base: Path) -> list[Entry]:
    """Read a roster, in order of first mention; paths in it start at ``base``.

    Raises ``CourseError`` with the line where anything in it cannot be meant.
    """
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for line, row in _rows(path):
        rows.setdefault(_name(row["name"], f"{path}, line {line}"), []).append((line, row))
    if not rows:
        raise CourseError(f"{path} lists nobody. Write one row for each submission below the head.")
    return [_entry(name, own, path, base) for name, own in rows.items()]


def public(address: str) -> str:
    """Give an address without the name, the password and the query in it."""
    return re.sub(r"//.*@", "//", re.split(r"[?#]", address, maxsplit=1)[0], flags=re.DOTALL)


def source_of(written: str, base: Path, where: str) -> Source:
    """Tell what a roster's source is; raise ``CourseError`` for an address that is not fetched."""
    address = _ADDRESS.match(written)
    scheme = address[1].lower() if address else "ssh" if _SSH.match(written) else ""
    if scheme in FETCHED:
        return Source("git", written)
    if not written:
        return Source("nothing")
    if path := _found(written, base):
        return local_source(path)
    if scheme:
        raise CourseError(
            f"{where}: the source is an address with {scheme}, which is not fetched. "
            f"Write it with {', '.join(FETCHED)}, or clone it and write the folder."
        )
    return Source("nothing", written=written)


def _found(written: str, base: Path) -> Path | None:
    """Find a path, whichever way its accents are encoded on this disk."""
    for form in dict.fromkeys((written, *(normalize(form, written) for form in ("NFC", "NFD")))):
        try:
            if (base / form).exists():
                return base / form
        except (OSError, ValueError):  # too long, or in a folder that is closed to us
            continue
    return None


def local_source(path: Path) -> Source:
    """Tell what lies at a path that is there."""
    place = str(path.resolve())
    if not path.is_dir():
        return Source("zip", place)
    bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    return Source("git" if bare else "folder", place)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Read the rows that are not blank, each with its line, as texts by the names of columns."""
    text = _text(path)
    file = io.StringIO(text, newline="")
    reader = csv.reader(file, delimiter=_separator(text), strict=True)
    head: list[str] = []
    try:
        for cells in reader:
            texts = [cell.strip() for cell in cells]
            if not any(texts):
                continue
            if not head:
                head = _head(texts, f"{path}, line {reader.line_num}")
                continue
            _check_width(texts, head, f"{path}, line {reader.line_num}")
            yield reader.line_num, dict.fromkeys(head, "") | dict(zip(head, texts, strict=False))
    except csv.Error as error:
        raise CourseError(
            f"{path}, line {reader.line_num}: this is no CSV ({error}). Save it again as CSV."
        ) from error


def _check_width(texts: list[str], head: list[str], where: str) -> None:
    if any(texts[len(head) :]):
        raise CourseError(
            f"{where}: a row with {len(texts)} cells, and the head names {len(head)}. "
            "Put a cell that holds a separator between quotes."
        )


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read ({error.strerror}). Give --roster a CSV."
        ) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CourseError(
            f"{path}, line {line}: this is not UTF-8 text. Save it again as CSV in UTF-8."
        ) from error
    if not text.strip():
        raise CourseError(f"{path} is empty. Expected: a head with at least name, then rows.")
    return text


def _separator(text: str) -> str:
    """Give the separator that the head has most of."""
    return max(SEPARATORS, key=text.lstrip().splitlines()[0].count)


def _head(texts: list[str], where: str) -> list[str]:
    """Give the names of the columns; raise ``CourseError`` for one missing or doubled."""
    head = [_column(text) for text in texts]
    if "name" not in head:
        shown = ", ".join(map(repr, texts))
        raise CourseError(
            f"{where}: there is no column name, only {shown}. Expected: name, and most often "
            "source, separated by commas, semicolons or tabs."
        )
    for column in ("name", "source", "attempt", *IDENTITIES):
        if head.count(column) > 1:
            raise CourseError(f"{where}: there are two columns {column}. Keep one of them.")
    return head


def _column(text: str) -> str:
    """Give a column one name, however it is written: ``SIS Login ID`` is ``sis_login``."""
    name = re.sub(r"[\s-]+", "_", text.casefold())
    return next((own for own, names in IDENTITIES.items() if name in names), name)


def _name(name: str, where: str) -> str:
    if not name:
        raise CourseError(f"{where}: the name is blank. Name everybody who is listed.")
    if name in {".", ".."} or any(
        letter in "/\\" or category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in name
    ):
        raise CourseError(
            f"{where}: {name!r} cannot be the name of a folder. Write it without slashes, "
            "line breaks and control characters."
        )
    return name


def _entry(name: str, rows: list[tuple[int, dict[str, str]]], path: Path, base: Path) -> Entry:
    attempts: dict[str, Attempt] = {}
    ids: dict[str, str] = {}
    for number, (line, row) in enumerate(rows, 1):
        where = f"{path}, line {line}"
        label = row.get("attempt") or str(number)
        if label in attempts:
            raise CourseError(f"{where}: {name!r} has an attempt {label!r} already. Rename one.")
        attempts[label] = Attempt(label, source_of(row.get("source", ""), base, where))
        for kind in IDENTITIES:
            value = row.get(kind, "")
            if value and ids.setdefault(kind, value) != value:
                raise CourseError(
                    f"{where}: {name!r} has another {kind} in a row before. Write one, or leave "
                    "the later ones blank."
                )
    return Entry(name, tuple(attempts.values()), ids)
