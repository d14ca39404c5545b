"""What was found in a pair's files the last time, and what each finding depends on."""

import contextlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from instructor.evidence import Finding
from instructor.report.model import write_text
from instructor.session.mirror import Mirror
from lab.workshop import Evidence

FILE = "memory.json"
SHARED = "shared.json"


class Memory:
    """One pair's findings, each with the digests of the files that it has been made from.

    A suite depends on what it has read, and on the names in folders that it has listed. Should it
    only have asked whether a file is there, and do so in vain, then it is not run again when that
    file appears; no suite of the course does that.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Take up what ``write`` has written, or nothing."""
        self.laid: Mapping[str, Any] = data.get("laid", {})
        self._found: dict[str, Any] = dict(data.get("found", {}))
        self._open: set[str] = set(data.get("open", ()))
        self._reads: dict[str, Collection[str]] = {}
        self._grew = False

    @classmethod
    def of(cls, place: Path) -> "Memory":
        """Read a pair's memory; where there is none, begin with what was found in another's files.

        What a finding depends on is named by content, so it is as true of one pair as of another.
        """
        for path in (place / FILE, place.parent / FILE):
            with contextlib.suppress(OSError, ValueError):
                return cls(json.loads(path.read_text(encoding="utf-8")))
        return cls({})

    def write(self, place: Path) -> None:
        """Write it, for whichever process looks at the pair next."""
        data = {"laid": self.laid, "found": self._found, "open": sorted(self._open)}
        write_text(place / FILE, json.dumps(data))
        if self._grew:
            # Another process may write it at this moment: each has a file of its own to rename.
            write_text(place / SHARED, json.dumps({**data, "laid": {}}))
            (place / SHARED).replace(place.parent / FILE)

    def known(self, mirror: Mirror) -> dict[str, Finding]:
        """Give the findings that depend on nothing that has changed."""
        return {
            name: Finding(**row["finding"])
            for name, row in self._found.items()
            if all(mirror.digest_of(path) == digest for path, digest in row["from"].items())
        }

    def is_open(self, item: Evidence) -> bool:
        """Tell whether evidence was not blocked the last time, as far as that is known."""
        return not item.needs or item.id in self._open

    def is_new(self, name: str) -> bool:
        """Tell whether nobody knows yet what this evidence depends on."""
        return name not in self._found

    def read(self, name: str, reads: Collection[str]) -> None:
        """Note what a suite has read just now; another may have read for it what it did before."""
        before = self._found[name]["from"] if name in self._found else {}
        self._reads[name] = {*reads, *before}

    def keep(
        self,
        evidence: Iterable[Evidence],
        mirror: Mirror,
        found: Mapping[str, Finding],
        known: Collection[str],
    ) -> None:
        """Keep what was found, and what is laid down; ``known`` was found before."""
        before = set(self._found)
        for item in evidence:
            finding = None if item.id in known else found.get(item.id)
            if finding is None or finding.outcome in {"blocked", "error"}:
                continue
            if paths := self._paths(item):
                row = asdict(finding)
                said = {name: row[name] for name in ("outcome", "found", "expected", "next")}
                digests = {path: mirror.digest_of(path) for path in paths}
                self._found[item.id] = {"finding": said, "from": digests}
        self._grew = not before.issuperset(self._found)
        self._open = {name for name, finding in found.items() if finding.outcome != "blocked"}
        self.laid = mirror.to_json()

    def _paths(self, item: Evidence) -> Collection[str]:
        """List what a finding depends on; nothing where that is not known."""
        if item.kind == "suite":
            return self._reads.get(item.id, ())
        return [path for path in item.options.values() if isinstance(path, str) and "/" in path]
