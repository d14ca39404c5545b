"""The check that you can see."""

import importlib

import pytest


def test_the_gate_accepts_a_reading() -> None:
    """gate_reading gives value and unit of a reading in celsius."""
    gate = importlib.import_module("lab.toy_gate")
    try:
        assert gate.gate_reading({"value": 4, "unit": "celsius"}, ["celsius"])
    except gate.ReadingRefused as error:
        pytest.fail(f"refused: {error}", pytrace=False)
