"""From where work lies to a plain folder to judge: a folder, an unpacked zip, a fetched repository.

A submission that cannot be opened gets a finding in the place of a folder. Nothing is written
outside the folder that is given for it.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from instructor import COURSE
from instructor.evidence import Finding
from instructor.intake.landing import IGNORED_FOLDERS, Remark
from instructor.intake.roster import Source, local_source, public
from instructor.report.model import NOTHING
from instructor.sandbox import Limits
from instructor.sandbox.forks import ISOLATED
from instructor.sandbox.process import MIB, clean_environment
from instructor.submission import holds, is_zip
from lab.workshop import Workshop

LIMITS = Limits(wall_seconds=180.0, cpu_seconds=60, file_bytes=256 * MIB)
# Work lies at most this many folders below what was handed in.
DEEPEST = 2
# How this machine reaches the network is needed to fetch; nothing else of its environment is.
NETWORK = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")
HAND_IN = "Hand in the folder of your workspace, or a zip of it."


@dataclass(frozen=True)
class Intake:
    """A plain folder to judge, or a finding where there is none; and remarks on the way there."""

    folder: Path | None
    finding: Finding | None = None
    remarks: tuple[Remark, ...] = ()


def take_in(source: Source, place: Path, workshops: list[Workshop]) -> Intake:
    """Bring work into a plain folder; what has to be unpacked or fetched goes to ``place``.

    ``workshops`` are all of the course: where the folder holds none, the work may lie deeper.
    """
    try:
        return _bring(source, place, workshops)
    except Exception as error:  # noqa: BLE001  one submission must never stop the class
        reason = f"{type(error).__name__}, {getattr(error, 'strerror', None) or 'of the grader'}"
        return Intake(None, _problem(source, {"problem": reason, "outcome": "error"}))


def find_inside(folder: Path, workshops: list[Workshop]) -> Path:
    """Find work that lies deeper in a folder, else give the folder; nothing is unpacked."""
    try:
        return _look_inside(folder, folder, workshops, zips=False).folder or folder
    except OSError:
        return folder


def _bring(source: Source, place: Path, workshops: list[Workshop]) -> Intake:
    if source.kind == "nothing":
        return Intake(None, _nothing(source))
    if source.kind == "folder":
        return _look_inside(Path(source.place), place, workshops)
    said = _fetched(source, place)
    remarks = tuple(Remark(**remark) for remark in said.get("remarks", ()))
    if "problem" in said:
        return Intake(None, _problem(source, said), remarks)
    found = _look_inside(place / "files", place / "inner", workshops, zips=False)
    return replace(found, remarks=remarks + found.remarks)


def _look_inside(
    folder: Path, place: Path, workshops: list[Workshop], *, zips: bool = True
) -> Intake:
    """Find the work: in the folder, in the one folder below that holds some, or in its one zip."""
    level = [folder]
    for _ in range(DEEPEST + 1):
        holding = [path for path in level if any(holds(path, w) for w in workshops)]
        if holding:
            return _chosen(holding, folder)
        level = [below for path in level for below in _folders(path)]
    inner = [path for path in _entries(folder) if zips and is_zip(path) and path.is_file()]
    if len(inner) != 1:
        return Intake(folder)
    found = _bring(local_source(inner[0]), place, workshops)
    return replace(found, remarks=(_lies_in(inner[0].name), *found.remarks))


def _chosen(holding: list[Path], folder: Path) -> Intake:
    if holding == [folder]:
        return Intake(folder)
    names = [path.relative_to(folder).as_posix() for path in holding]
    if len(names) == 1:
        return Intake(holding[0], remarks=(_lies_in(names[0]),))
    shown = ", ".join(map(repr, names[:5]))
    found = f"{len(names)} folders hold work ({shown}), so none of them was graded."
    return Intake(folder, remarks=(Remark("several-folders", found, HAND_IN),))


def _lies_in(name: str) -> Remark:
    found = f"The work lies in {name!r}, not at the top of what was handed in; it was graded there."
    return Remark("lies-deeper", found, "Nothing, if that is the work that you mean.")


def _folders(folder: Path) -> list[Path]:
    return [
        path
        for path in _entries(folder)
        if path.is_dir() and path.name not in IGNORED_FOLDERS and not path.name.startswith(".")
    ]


def _entries(folder: Path) -> list[Path]:
    """List what lies in a folder, without links; one that cannot be read has nothing."""
    try:
        return [path for path in sorted(folder.iterdir()) if not path.is_symlink()]
    except OSError:
        return []


def _nothing(source: Source) -> Finding:
    if source.written:
        found = f"{NOTHING}: there is no {source.written!r}."
        return Finding("fail", found, "", f"{HAND_IN} If you did, tell your teacher.")
    return Finding("fail", f"{NOTHING}.", "", HAND_IN)


def _problem(source: Source, said: dict[str, Any]) -> Finding:
    """Judge what cannot be opened: what was handed in is the pair's, an address is not."""
    if said["outcome"] == "fail":
        advice = "Make it again, open it to see that your files are in it, and hand it in."
        return Finding("fail", said["problem"], "A zip or repository with your work.", advice)
    # A path would say where things lie on the grader's machine.
    what = public(source.place) if source.place.startswith("http") else "The repository"
    found = f"{what} could not be fetched: {said['problem']}."
    if source.kind == "zip":
        found = f"The zip was not unpacked: {said['problem']}."
    advice = (
        "Tell your teacher: this is not your work's fault. Teacher: look at the roster's source."
    )
    return Finding("error", found, "", advice)


def _fetched(source: Source, place: Path) -> dict[str, Any]:
    """Have a process of its own fill ``place``/files; give what it says."""
    target = place / "files"
    target.mkdir(parents=True)
    request = {
        "kind": source.kind,
        "place": source.place,
        "target": str(target),
        "limits": LIMITS.for_child(),
    }
    try:
        done = subprocess.run(  # noqa: S603  our own program, by its full name
            [sys.executable, *ISOLATED, "-m", "instructor.intake.fetch"],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
            env=clean_environment(place) | _environment(),
            cwd=place,
            timeout=LIMITS.wall_seconds,
            start_new_session=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        reason = f"it was not done after {LIMITS.wall_seconds:g} seconds"
        return {"problem": reason, "outcome": "error"}
    except ValueError:
        if source.kind == "zip":
            found = (
                "The zip cannot be opened: it takes more time or memory than work like this does."
            )
            return {"problem": found, "outcome": "fail"}
        return {"problem": "it takes more time or memory than is given", "outcome": "error"}
    return answer


def _environment() -> dict[str, str]:
    names = {*NETWORK, *(name.upper() for name in NETWORK)} & os.environ.keys()
    return {name: os.environ[name] for name in names} | {"PYTHONPATH": str(COURSE)}
