"""One pytest session, several rounds: the same tests against one gate after another.

Setting up pytest and importing a pair's tests costs far more than running them, so that is done
once. Each round runs as a run of its own would: fixtures are made anew, and it ends at the first
failure or with the test that the row names as the last.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest


class Rounds:
    """A pytest plugin that runs the collected tests once for each row."""

    def __init__(
        self,
        rows: Iterator[dict[str, Any]],
        recorder: Any,
        begin: Callable[[str], None],
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        """Take the rows, what keeps the reports, how to begin a row, and where its report goes."""
        self._rows = rows
        self._recorder = recorder
        self._begin = begin
        self._send = send

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the rounds in the place of pytest's own loop."""
        if session.testsfailed or not session.items:
            self._send({"trouble": "the tests cannot be collected"})
            return True
        for row in self._rows:
            self._begin(row["id"])
            self._recorder.begin()
            self._run(session, row.get("until"))
            report = self._recorder.report(complete=True)
            self._send({"id": row["id"], "report": report.to_json()})
        return True

    def _run(self, session: pytest.Session, until: str | None) -> None:
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            # What a test was given in the round before; pytest makes it once for each item.
            item._initrequest()  # type: ignore[attr-defined]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._recorder.failed or item.nodeid.partition("::")[2] == until:
                break
        # Fixtures of a wider scope than one test go away too.
        session._setupstate.teardown_exact(None)
