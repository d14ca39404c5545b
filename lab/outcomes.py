"""What the visible checks of every workshop share: read a pair's files, and say what was found.

A check stops with a sentence and never with a traceback, whatever state a file is in.
"""

import functools
import importlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from lab.strict_json import differences

ROOT = Path(__file__).resolve().parents[1]


def stop(message: str) -> NoReturn:
    """End a check with a sentence for the pair."""
    pytest.fail(message, pytrace=False)


@functools.lru_cache(maxsize=16)
def _schema_problem(text: str) -> str:
    """Say what keeps a JSON text from being a schema; "" for a schema.

    Remembered, because validating a schema takes far longer than using it, and most checks of one
    run ask about the same one.
    """
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError as error:
        return f"at {error.json_path}: {error.message}."
    return ""


class Fixtures:
    """The files of one workshop; a name with a slash in it is a path from the workspace's root."""

    def __init__(self, workshop: str) -> None:
        """Look below ``fixtures/<workshop>/``."""
        self._folder = f"fixtures/{workshop}"

    def read(self, name: str) -> Any:
        """Read a JSON file, or stop with what keeps it from being read."""
        path = ROOT / self._file(name)
        try:
            return json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError:
            stop(f"{path.name} is missing.")
        except (ValueError, RecursionError) as error:
            stop(f"{path.name} is not JSON: {error}.")

    def get_back(self, name: str) -> str:
        """Say how a file comes back as it was last committed."""
        return f"Get it back: git checkout -- {self._file(name)}"

    def rows(self, name: str) -> dict[str, Any]:
        """Read a table, an object of rows that are objects; stop where it is none."""
        table = self.read(name)
        if not isinstance(table, dict) or not table:
            stop(f"{name} has lost its rows. {self.get_back(name)}")
        if not all(isinstance(row, dict) for row in table.values()):
            stop(f"{name} has a row that is no object. {self.get_back(name)}")
        return table

    def expect_words(
        self, name: str, column: str, words: Sequence[str], keys: Collection[str] | None = None
    ) -> None:
        """Stop where a row of a table, or one of those named, has none of the words."""
        rows = {key: row for key, row in self.rows(name).items() if keys is None or key in keys}
        open_rows = [key for key, row in rows.items() if row.get(column) not in words]
        if open_rows:
            said = f"{open_rows[0]} says {rows[open_rows[0]].get(column)!r} under {column}"
            shown = ", ".join(words)
            many = f"{len(open_rows)} of {len(rows)} rows"
            stop(f"{many} of {name} are open: {said}. Write: {shown}.")

    def expect_differences(self, name: str, other: str, *places: str) -> None:
        """Stop where two files differ elsewhere than at these JSON Pointers (RFC 6901)."""
        found = differences(self.read(other), self.read(name))
        if found != list(places):
            shown, wanted = ", ".join(found) or "nowhere", " and ".join(places)
            stop(f"{name} and {other} differ at: {shown}. They must differ only at {wanted}.")

    def expect_schema(self, file: str, title: str = "") -> Any:
        """Give a schema; stop where it is no draft 2020-12 schema of that title."""
        schema, name = self.read(file), Path(file).name
        if problem := _schema_problem(json.dumps(schema)):
            stop(f"{name}, {problem}")
        if title and (not isinstance(schema, dict) or schema.get("title") != title):
            stop(f"{name} is not titled {title}.")
        return schema

    def schema_errors(self, file: str, document: Any) -> list[str]:
        """Validate with a schema file: ``<path as a list>: <message>``, one text an error."""
        errors = Draft202012Validator(self.expect_schema(file)).iter_errors(document)
        return [f"{list(error.absolute_path)}: {error.message}" for error in errors]

    def _file(self, name: str) -> str:
        return name if "/" in name else f"{self._folder}/{name}"


def lab_module(name: str) -> Any:
    """Import ``lab.<name>``, or stop with what keeps it from being imported."""
    try:
        return importlib.import_module(f"lab.{name}")
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's module may raise anything
        stop(f"lab/{name}.py cannot be imported: {type(error).__name__}: {error}")
