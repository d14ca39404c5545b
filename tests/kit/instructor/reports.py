"""Reports made by hand, for tests of points and exports."""

from typing import Any

from instructor.report.model import (
    BlockReport,
    EvidenceReport,
    RemarkReport,
    Report,
    WorkshopReport,
    block_outcome,
)

TITLES = {"plan_gate": "Refuse a plan", "result_gate": "Validate a result"}
# What a folder's name or a student's text may hold.
HOSTILE = [
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@SUM(A1)",
    "\ttab",
    "\rreturn",
    'comma, "quote"; semicolon',
    "line\nbreak\r\nand\rreturn",
    "<script>alert(1)</script>&amp;",
    "]]> <!-- -->",
    "::error file=x::y%0A",
    "| a | `b` | [c](http://d) | ![e](f)",
    "Points Possible",
    "Zoë 日本語 \U0001f600",
    "\x00\x08\x1b[31m\x7f\ufffe",
]


def comparable(value: Any) -> Any:
    """Set alike what depends on the time (all ``seconds``) and on the machine (the sandbox)."""
    alike = {"seconds": 0, "sandbox": "C"}
    if isinstance(value, dict):
        return {key: alike.get(key, comparable(part)) for key, part in value.items()}
    return [comparable(part) for part in value] if isinstance(value, list) else value


def item(
    outcome: str, name: str = "a.b", *, graded: bool = True, found: str = ""
) -> EvidenceReport:
    found = found or f"{outcome} was found"
    return EvidenceReport(
        name, "suite", f"title of {name}", outcome, graded, found, "what", "do this"
    )


def block(name: str, *items: EvidenceReport) -> BlockReport:
    return BlockReport(name, f"Block {name}", block_outcome(items), items)


def workshop_report(
    name: str, outcomes: dict[str, list[str]], *, found: str = "", extras: tuple[str, ...] = ()
) -> WorkshopReport:
    """Make a workshop's report from the outcomes of each block's graded evidence."""
    blocks = tuple(
        block(key, *(item(o, f"{key}.{n}", found=found) for n, o in enumerate(row)))
        for key, row in outcomes.items()
    )
    more = tuple(item(outcome, "station.x", graded=False) for outcome in extras)
    return WorkshopReport(name, TITLES[name], blocks, more)


def report(name: str, *workshops: WorkshopReport, remark: str = "") -> Report:
    remarks = (RemarkReport("left-out", remark, "next"),) if remark else ()
    return Report(name, "C", remarks, workshops)
