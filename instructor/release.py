"""From this course to a workspace: copy an allow-list, take solutions out, look for leaks."""

import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import jinja2

from instructor import COURSE, CourseError
from instructor.commits import commit_all, start_repository
from instructor.extras import Extra, extras_for
from instructor.solutions import BEGIN, END, STUB, without_solutions
from lab.originals import ORIGINALS
from lab.workshop import Workshop

TEMPLATE = COURSE / "instructor" / "workspace"
# What every workspace holds, whatever its workshops.
COMMON = (
    "lab/__init__.py", "lab/__main__.py", "lab/cards.py", "lab/checks.py", "lab/clock.py",
    "lab/coach.py", "lab/commands.py", "lab/digests.py", "lab/fresh.py", "lab/guidance.py",
    "lab/hints.py", "lab/hole_probes.py", "lab/holes.py", "lab/originals.py", "lab/outcomes.py",
    "lab/parts.py", "lab/progress.py", "lab/quick_start.py", "lab/replay.py", "lab/report.py",
    "lab/report_command.py", "lab/report_style.py", "lab/slips.py", "lab/solutions.py",
    "lab/strict_json.py", "lab/study.py", "lab/suite.py", "lab/tries.py", "lab/watch.py",
    "lab/whole_file.py", "lab/workshop.py", "LICENSE",
)  # fmt: skip
# A line of a solution shorter than this says nothing by itself, so it is no leak.
TELLING_CHARACTERS = 40
# What a workspace for self-study has beside the rest: file to content. A classroom's has none.
Study = Mapping[str, bytes]
NO_STUDY: Study = MappingProxyType({})
# A word as long as this, with letters of both cases and digits throughout, is no word.
ENCODED = re.compile(r"(?=[A-Za-z+/]{0,40}[0-9])(?=[a-z0-9+/]{0,20}[A-Z])[A-Za-z0-9+/]{60,}={0,2}")


@dataclass(frozen=True)
class Leak:
    """Something in a release that must stay with the teacher."""

    file: str
    found: str


def release(
    workshops: list[Workshop], target: Path, now: datetime, study: Study = NO_STUDY
) -> None:
    """Build one workspace at ``target``: all of it, or nothing.

    Raises ``CourseError`` where the target is taken or a leak is found.
    """
    release_many(workshops, {target: target.name}, now, study)


def release_many(
    workshops: list[Workshop], targets: dict[Path, str], now: datetime, study: Study = NO_STUDY
) -> None:
    """Build several workspaces (target folder to the pair's name): all of them, or none.

    ``study`` is what workspaces for self-study have beside it (``instructor/study.py``).
    """
    for target in targets:
        _check_free(target)
    first = next(iter(targets))
    parent = _existing_parent(first)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".release-") as folder:
        built = {}
        for number, target in enumerate(targets):
            built[target] = Path(folder) / str(number)
            build(workshops, built[target], study)
            start_repository(built[target])
            commit_all(built[target], now, "Start the workshop")
        for target, workspace in built.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                target.rmdir()
            workspace.replace(target)


def build(workshops: list[Workshop], target: Path, study: Study = NO_STUDY) -> None:
    """Write a workspace's files into a new folder and refuse to go on if anything leaks."""
    target.mkdir(parents=True)
    for file, data in (*workspace_files(workshops), *study.items()):
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    leaks = list(find_leaks(workshops, target, study))
    if leaks:
        rows = "; ".join(f"{leak.file}: {leak.found}" for leak in leaks[:5])
        raise CourseError(f"The release holds what must stay with the teacher: {rows}.")


def workspace_files(
    workshops: list[Workshop], *, solved: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a workspace with its content; ``solved`` leaves the solutions in."""
    extras = extras_for(workshops)
    for path in sorted(TEMPLATE.rglob("*")):
        if path.is_file():
            file = path.relative_to(TEMPLATE).as_posix().replace("dot-", ".")
            data = path.read_bytes()
            if file.endswith(".j2"):
                data = _rendered(data.decode(), workshops, extras)
            yield file.removesuffix(".j2"), data
    files = [*COMMON, *(file for workshop in workshops for file in workshop.files)]
    files += [file for extra in extras for file in extra.files]
    starts = {file: source for workshop in workshops for file, source in workshop.start.items()}
    own = {file for workshop in workshops for file in workshop.files}
    for file in dict.fromkeys(files):
        released = without_solutions(file, (COURSE / starts.get(file, file)).read_bytes())
        yield file, (COURSE / file).read_bytes() if solved else released
        if file in own:  # what coach.reset() gives back
            yield f"{ORIGINALS}/{file}", released


def _rendered(text: str, workshops: list[Workshop], extras: list[Extra]) -> bytes:
    template = jinja2.Template(text, trim_blocks=True, keep_trailing_newline=True)
    return str(template.render(workshops=workshops, extras=extras)).encode()


def find_leaks(
    workshops: Iterable[Workshop], workspace: Path, study: Study = NO_STUDY
) -> Iterator[Leak]:
    """Look through a built workspace for solutions, answers and anything not on the allow-list.

    Without ``study`` it is a classroom's, in which nothing encoded may stand either.
    """
    workshops = list(workshops)
    allowed = {file for file, _ in workspace_files(workshops)} | study.keys()
    secrets = {line for workshop in workshops for line in _solution_lines(workshop)}
    for path in sorted(workspace.rglob("*")):
        file = path.relative_to(workspace).as_posix()
        if not path.is_file() or file.startswith(".git/"):
            continue
        if file not in allowed:
            yield Leak(file, "it is not on the list of what a workspace holds")
        text = path.read_text(encoding="utf-8")
        if file not in study and ENCODED.search(text):
            yield Leak(file, "it holds encoded text, which nobody can look through")
        yield from (Leak(file, found) for found in _hidden_lines(text, secrets))
        if _is_finished(file.removeprefix(f"{ORIGINALS}/"), path.read_bytes(), workshops):
            yield Leak(file, "it is the finished version")


def _hidden_lines(text: str, secrets: set[str]) -> Iterator[str]:
    for mark in (BEGIN, STUB, END):
        if mark in text:
            yield f"{mark!r} stands in it"
    if secret := next((line for line in text.splitlines() if line.strip() in secrets), None):
        yield f"it holds a line of a solution: {secret.strip()!r}"


def read_pairs(file: Path) -> list[str]:
    """Read one name a line; raise ``CourseError`` naming every line that cannot be a folder."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(
            f"{file} cannot be read: {error}. Give a text file, one name a line."
        ) from error
    names = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    seen: dict[str, int] = {}
    problems = []
    for number, name in names:
        folded = unicodedata.normalize("NFC", name).casefold()
        if name.startswith((".", "-")) or re.search(r'[\\/:*?"<>|\x00-\x1f]', name):
            problems.append(f"line {number}: {name!r} cannot be a folder's name")
        elif folded in seen:
            problems.append(f"line {number}: {name!r} stands in line {seen[folded]} already")
        seen.setdefault(folded, number)
    if problems or not names:
        found = "; ".join(problems) or "no name in it"
        raise CourseError(f"{file}: {found}. Nothing was written; mend the file and run it again.")
    return [name for _, name in names]


def _solution_lines(workshop: Workshop) -> Iterator[str]:
    """Yield the telling lines that stand in a solution and nowhere outside of one."""
    for file in (*workshop.stripped, *(f for f in workshop.files if f.endswith(".ipynb"))):
        text = (COURSE / file).read_text(encoding="utf-8")
        public = {
            line.strip() for line in without_solutions(file, text.encode()).decode().splitlines()
        }
        for line in text.splitlines():
            bare = line.strip()
            if len(bare) >= TELLING_CHARACTERS and bare not in public and not bare.startswith("#"):
                yield bare


def _is_finished(file: str, data: bytes, workshops: list[Workshop]) -> bool:
    starts = {file for workshop in workshops for file in workshop.start}
    return file in starts and data == (COURSE / file).read_bytes()


def _check_free(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise CourseError(f"{target} is a file. Name a folder that is free.")
    if target.is_dir() and any(target.iterdir()):
        raise CourseError(
            f"{target} is not empty. Nothing was written; name a folder that is free."
        )
    if target.resolve().is_relative_to(COURSE) and not _ignored(target):
        raise CourseError(
            f"{target} lies inside the course. Name a folder outside of {COURSE.name}."
        )


def _ignored(target: Path) -> bool:
    return target.resolve().relative_to(COURSE).parts[:1] == ("build",)


def _existing_parent(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.parent
