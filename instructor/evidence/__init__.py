"""One module per kind of evidence. Each judges outside the sandbox what a submission decides."""

from instructor.evidence import cases, fixtures, notebooks, suites, tables, wrong_gates
from instructor.evidence.bench import Bench, Finding, Judge

KINDS: dict[str, Judge] = {
    "cases": cases.judge,
    "fixture": fixtures.judge,
    "notebook": notebooks.judge,
    "suite": suites.judge,
    "table": tables.judge,
    "wrong_gates": wrong_gates.judge,
}

__all__ = ["KINDS", "Bench", "Finding", "Judge"]
