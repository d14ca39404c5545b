"""Your tests of the toy gate."""

from pathlib import Path

import pytest
from lab.toy_gate import Log, ReadingRefused, gate_reading


def test_a_reading_without_a_unit_is_refused() -> None:
    """Ask for ReadingRefused, and for the word unit in its text."""
    ### BEGIN SOLUTION
    with pytest.raises(ReadingRefused, match="unit"):
        gate_reading({"value": 4}, ["celsius"])
    ### STUB
    # pytest.fail("not written yet")
    ### END SOLUTION


def test_a_reading_is_in_the_log_and_in_its_file(tmp_path: Path) -> None:
    """Add a reading, look at the log, open it again."""
    ### BEGIN SOLUTION
    log = Log(tmp_path / "log", ["celsius"])

    assert log.add({"value": 4, "unit": "celsius"}) == 1
    assert log.readings == [{"value": 4, "unit": "celsius"}]
    assert Log(tmp_path / "log", ["celsius"]).add({"value": 5, "unit": "celsius"}) == 2
    assert len((tmp_path / "log").read_text(encoding="utf-8").splitlines()) == 2
    with pytest.raises(ReadingRefused):
        log.add({"value": "5", "unit": "celsius"})
    assert len(log.readings) == 2
    ### STUB
    # pytest.fail("not written yet")
    ### END SOLUTION
