"""All suites of a workshop in one child, for whoever judges the same files again and again.

The same tests as evidence ``suite`` runs, judged by it, in less time; and what each suite has read
is told, so that it need not run again before one of these files changes.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from instructor.evidence.bench import START_SECONDS, Bench
from instructor.evidence.desk import Rows
from instructor.sandbox import Limits, run_child
from instructor.sandbox.process import Message
from lab.workshop import Evidence


@dataclass(frozen=True)
class Ran:
    """What one suite said, and which files and folders of the workspace it has read."""

    said: Rows
    reads: frozenset[str]


def run_parts(
    bench: Bench, suites: Iterable[Evidence], apart: Collection[str] = ()
) -> dict[str, Ran]:
    """Run suites in the snapshot itself, by the id of their evidence.

    Those of one file run one after another in one process, but for those that are to run ``apart``
    and tell what each alone has read. One that does not come to its end is left out, and so is one
    whose file is not there. Whoever reads the snapshot afterwards has to see that it is still what
    it was.
    """
    files: dict[str, list[Message]] = {}
    for item in suites:
        if (bench.snapshot / item.options["file"]).is_file():
            tests = item.options.get("tests", [])
            part = {"id": item.id, "tests": tests, "apart": item.id in apart}
            files.setdefault(item.options["file"], []).append(part)
    rows = [{"file": file, "parts": parts} for file, parts in files.items()]
    if not rows:
        return {}
    wanted = {part["id"] for parts in files.values() for part in parts}
    total = START_SECONDS + bench.seconds * (len(rows) + len(wanted))
    limits = Limits(wall_seconds=total, cpu_seconds=math.ceil(total))
    job = {"kind": "parts", "files": rows, "seconds": bench.seconds}
    run = run_child({**job, "workspace": str(bench.snapshot)}, bench.scratch / "scratch", limits)
    said = _joined(run.messages, wanted)
    return {name: Ran(Rows({name: own}), _reads(own)) for name, own in said.items() if _whole(own)}


def _joined(messages: Iterable[Message], wanted: set[str]) -> dict[str, Message]:
    said: dict[str, Message] = {}
    for message in messages:
        name = message.get("id")
        if isinstance(name, str) and name in wanted:
            said[name] = message
    return said


def _whole(said: Message) -> bool:
    return "report" in said and "reads" in said


def _reads(said: Message) -> frozenset[str]:
    reads: Any = said.get("reads")
    return frozenset(map(str, reads)) if isinstance(reads, list) else frozenset()
