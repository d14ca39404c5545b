"""The toy gate: refuse a reading without a unit, and keep the rest in a log."""

import json
from pathlib import Path
from typing import Any

from lab.strict_json import NotStrictJson, load_json, structure_problem


class ReadingRefused(ValueError):  # noqa: N818  the contract's name
    """A reading that must not enter the log."""


def load_reading(path: str | Path) -> Any:
    """Read one reading from a file of strict JSON."""
    try:
        return load_json(path)
    except NotStrictJson as error:
        raise ReadingRefused(str(error)) from error


def gate_reading(reading: Any, units: list[str]) -> dict[str, Any]:
    """Give the reading's value and unit, or raise ``ReadingRefused``."""
    ### BEGIN SOLUTION
    problem = structure_problem(reading)
    if problem or type(reading) is not dict:
        raise ReadingRefused(problem or "a reading is an object")
    if type(reading.get("value")) not in (int, float):
        raise ReadingRefused("value must be a number")
    if reading.get("unit") not in units:
        raise ReadingRefused(f"unit must be one of {units}")
    return {"value": reading["value"], "unit": reading["unit"]}
    ### STUB
    # raise ReadingRefused("gate_reading is not written yet")
    ### END SOLUTION


class Log:
    """The readings that were let in, one line each in a file."""

    def __init__(self, file: Path, units: list[str]) -> None:
        """Keep readings in ``file``, in one of the ``units``."""
        self._file = file
        self._units = units

    def add(self, reading: Any) -> int:
        """Let a reading in and give the number of readings."""
        clean = gate_reading(reading, self._units)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(clean) + "\n")
        return len(self.readings)

    @property
    def readings(self) -> list[Any]:
        """Give every reading that was let in."""
        if not self._file.is_file():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
