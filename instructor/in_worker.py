"""What a worker does, whoever runs it: a parcel of plain data in, a report as plain JSON out.

Any executor may call this: a process of its pool, a thread of a worker on another machine. So
nothing here relies on the main thread or on an initializer, and what is needed is imported when it
is first called.
"""

import atexit
import contextlib
import functools
import platform
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instructor import CourseError
from instructor.sandbox.confine import leave_out_slow_formats
from instructor.sandbox.quota import clear_away

if TYPE_CHECKING:
    from instructor.judging import Job
    from instructor.report.model import Report

# One submission travelling: a dict of JSON values, and of bytes under ``files``.
Parcel = dict[str, Any]

leave_out_slow_formats()
# A process judges one submission at a time: what is left running then belongs to that one.
_ONE_AT_A_TIME = threading.Lock()


def pack(job: "Job") -> Parcel:
    """Pack a job whose folder and scratch can be reached where it is judged."""
    kept = job.kept and [str(job.kept.folder), job.kept.settings, job.kept.read_old]
    return {
        "name": job.name,
        "folder": str(job.folder),
        "scratch": str(job.scratch),
        "workshops": [workshop.id for workshop in job.workshops],
        "cell_seconds": job.cell_seconds,
        "seconds": job.seconds,
        "remarks": [[remark.id, remark.found, remark.next] for remark in job.remarks],
        "kept": kept,
    }


def judge_in_worker(parcel: Parcel) -> Parcel:
    """Judge one parcel: ``{"report": …}``, or ``{"refused": why}`` where it cannot be done."""
    with _ONE_AT_A_TIME:
        _prepare()
        try:
            _check_versions(parcel.get("versions", {}))
            _check_tier(parcel.get("tier", ""))
        except CourseError as error:
            return {"refused": str(error)}
        if "files" in parcel:
            report = _judge_files(parcel)
        else:
            report = judge_job(_unpacked(parcel, Path(parcel["scratch"])))
        return {"report": report.to_json()}


def judge_job(job: "Job") -> "Report":
    """Judge one submission; end every process that it left behind, whatever happened."""
    from instructor.judging import judge_submission

    return guarded(job, functools.partial(judge_submission, job))


def guarded(job: "Job", judge: "functools.partial[Report]") -> "Report":
    """Have a submission judged; whatever happens, give a report and end what is left running."""
    from instructor.judging import failed_report
    from instructor.sandbox.strays import end_strays, running_below

    before = running_below()
    try:
        return judge()
    except Exception as error:  # noqa: BLE001  one submission must never stop the class
        return failed_report(job, f"It could not be graded: {type(error).__name__}: {error}")
    finally:
        end_strays(before)


def made_with() -> dict[str, str]:
    """Give what decides a verdict on this machine beside the submission; see ``kept.made_with``."""
    return dict(_made_with())


def difference(here: dict[str, str], wanted: dict[str, str]) -> str:
    """Say how a worker differs from the machine that asks, and what to do; "" for not at all."""
    for name, value in wanted.items():
        if name == "the course" and here.get(name) != value:
            return "it has other files of the course; check out the same version there"
        if here.get(name) != value:
            has = here.get(name, "no version")
            return f"it has {name} {has}, and this machine has {value}; install the same there"
    return ""


def _check_versions(wanted: dict[str, str]) -> None:
    """Raise ``CourseError`` where this worker's course or packages are not those wanted."""
    if wanted and (found := difference(_made_with(), wanted)):
        raise CourseError(f"A worker on {platform.node()} cannot be used: {found}.")


def _check_tier(wanted: str) -> None:
    from instructor.sandbox.tiers import expect_tier

    if wanted:
        expect_tier(wanted)


def _judge_files(parcel: Parcel) -> "Report":
    """Judge a snapshot that came along as bytes, in a folder of this worker's own."""
    from instructor.intake.landing import Snapshot
    from instructor.judging import judge_snapshot

    place = Path(tempfile.mkdtemp(dir=_folder()))
    try:
        job = _unpacked(parcel, place)
        for name, data in parcel["files"].items():
            path = place / "snapshot" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        snapshot = Snapshot(place / "snapshot", list(job.remarks))
        return guarded(job, functools.partial(judge_snapshot, job, snapshot, place))
    finally:
        clear_away(place)


@functools.cache
def _folder() -> Path:
    """Make the folder below which this worker judges what comes as bytes."""
    from instructor.sandbox.copies import folder_for_copies
    from instructor.sandbox.places import work_below

    disk = Path(tempfile.mkdtemp(prefix="graded-")).resolve()
    atexit.register(clear_away, disk)
    in_use = contextlib.ExitStack()
    folder = in_use.enter_context(folder_for_copies(disk, workers=1))
    atexit.register(in_use.close)
    work_below(folder)
    return folder


def _unpacked(parcel: Parcel, scratch: Path) -> "Job":
    from instructor.intake.landing import Remark
    from instructor.judging import Job
    from instructor.kept import Kept

    kept = parcel.get("kept")
    return Job(
        parcel["name"],
        Path(parcel["folder"]) if "folder" in parcel else scratch / "snapshot",
        tuple(_workshop(name) for name in parcel["workshops"]),
        scratch,
        parcel["cell_seconds"],
        parcel["seconds"],
        remarks=tuple(Remark(*row) for row in parcel["remarks"]),
        kept=Kept(Path(kept[0]), *kept[1:]) if kept else None,
    )


@functools.cache
def _workshop(name: str) -> Any:
    """Load a workshop once a process, so that its answers are read once too."""
    from instructor import COURSE
    from lab.workshop import load_workshop

    return load_workshop(COURSE, name)


@functools.cache
def _made_with() -> dict[str, str]:
    from instructor import kept

    return kept.made_with()


@functools.cache
def _prepare() -> None:
    """Make this process the one that ends whatever its submissions leave behind."""
    from instructor.sandbox.strays import adopt_orphans

    adopt_orphans()
