"""A dry run writes down what it would call, and calls nothing."""

import logging
from pathlib import Path
from typing import Any

import pytest

from lab.dry_run import dry_run
from lab.plan_gate import PlanRejected
from tests.kit.command import python
from tests.kit.lab.plans import FIXTURES, changed, inventory, notify_plan, read, valid_plan

REFUSED = {
    "an invented identifier": read("assumed_plan.json"),
    "the live flag": read("live_plan.json"),
    "no facts": {**valid_plan(), "facts": []},
    "an invented value in the second step": changed(
        notify_plan(), (("steps", 1, "args", "email"), "someone@example.org")
    ),
    "no plan": None,
}


@pytest.mark.parametrize("plan", REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_plan_leaves_no_line(plan: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    with pytest.raises(PlanRejected):
        dry_run(plan)

    assert caplog.records == []


def test_a_plan_that_only_the_inventory_refuses_leaves_no_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)

    with pytest.raises(PlanRejected, match="step_2 is missing required arg email"):
        dry_run(read("notify_without_email_plan.json"), inventory())

    assert caplog.records == []


def test_an_accepted_plan_leaves_one_line_for_each_tool(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    tools = dry_run(notify_plan(), inventory())

    assert tools == ["create_support_credit", "notify_account_email"]
    assert [record.getMessage() for record in caplog.records] == [
        "dry run, step 1 of 2: would call create_support_credit",
        "dry run, step 2 of 2: would call notify_account_email",
    ]
    assert {(record.name, record.levelno) for record in caplog.records} == {
        ("lab.dry_run", logging.INFO)
    }


def test_the_dry_run_needs_no_inventory(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    tools = dry_run(valid_plan())

    assert tools == ["create_support_credit"]
    assert len(caplog.records) == 1


def test_the_dry_run_leaves_the_plan_as_it_is() -> None:
    plan = notify_plan()

    dry_run(plan, inventory())

    assert plan == notify_plan()


WATCHED = """
import json, socket, sys
from lab.dry_run import dry_run
plan = json.load(open(sys.argv[1], encoding="utf-8"))
watched = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith(watched) else None)
tools = dry_run(plan)
print(json.dumps([tools, seen]))
socket.socket().close()
print(len(seen))
"""


def test_the_dry_run_opens_no_socket_and_starts_no_process(tmp_path: Path) -> None:
    plan = FIXTURES / "valid_plan.json"

    ended = python("-c", WATCHED, str(plan), cwd=tmp_path)

    before, after = ended.out.splitlines()
    assert before == '[["create_support_credit"], []]'
    # The watch does see a socket where there is one.
    assert int(after) > 0
