"""Reports that need not be made again: the same files, judged by the same course and settings.

A report is kept under a digest of all that it depends on, so a run that was stopped goes on where
it was, and only what has changed is graded.
"""

import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from jsonschema import Draft202012Validator

from instructor import COURSE
from instructor.answer_key import dump
from instructor.intake.landing import Snapshot
from instructor.report.model import Report, report_from_json, report_schema, write_text

FOLDER = ".kept"
# What decides a verdict beside the submission.
PARTS = ("instructor", "lab", "notebooks", "fixtures", "tests")
PACKAGES = ("pytest", "jsonschema", "nbclient", "ipykernel", "jsonpatch")


@dataclass(frozen=True)
class Kept:
    """Where reports are kept, what they are made with, and whether those that are there count."""

    folder: Path
    settings: str
    read_old: bool = True

    def key(self, snapshot: Snapshot, workshops: Iterable[str]) -> str:
        """Give the digest of one snapshot as it is judged here: 64 hexadecimal digits."""
        remarks = [(remark.id, remark.found, remark.next) for remark in snapshot.remarks]
        about = [_course(), self.settings, *workshops, json.dumps(remarks)]
        return _digest([*(part.encode() for part in about), *_contents(snapshot.path)])

    def read(self, key: str, name: str) -> Report | None:
        """Give the report that is kept under a key, in the name of a submission; None for none."""
        path = self.folder / f"{key}.json"
        if not self.read_old or not path.is_file():
            return None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return None
        if not Draft202012Validator(report_schema()).is_valid(data):
            return None
        return replace(report_from_json(data), submission=name)

    def write(self, key: str, report: Report) -> None:
        """Keep a report, unless something in it could not be judged."""
        if all(item.outcome != "error" for item in report.all_evidence):
            write_text(self.folder / f"{key}.json", dump(report.to_json()))


def digest_of(root: Path) -> str:
    """Digest the files below a folder, by their names and contents: 64 hexadecimal digits."""
    return _digest(_contents(root))


def _digest(parts: Iterable[bytes]) -> str:
    """Digest byte strings so that none can run over into the next."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def _contents(root: Path) -> Iterator[bytes]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix().encode("utf-8", "surrogateescape")
            yield path.read_bytes()


@functools.cache
def _course() -> str:
    """Digest the course and what it runs on, once a process."""
    about = {**made_with(), "Python": sys.version}
    return _digest(f"{name} {value}".encode() for name, value in about.items())


def made_with() -> dict[str, str]:
    """Give what decides a verdict beside the submission, by name; the course as a digest."""
    files = (part for folder in PARTS for part in _contents(COURSE / folder))
    packages = {package: version(package) for package in PACKAGES}
    python = ".".join(map(str, sys.version_info[:2]))
    return {"the course": _digest(files), "Python": python, **packages}
