"""A class in, reports out: in parallel, one bad submission never stops it."""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from instructor import COURSE, CourseError
from instructor.answer_key import dump
from instructor.judging import Job, failed_report, judge_submission
from instructor.paces import read_paces
from instructor.report.exports import FOLDER, check_names, score, write_exports
from instructor.report.model import Report, write_text
from instructor.report.pages import write_class_pages, write_feedback
from instructor.report.weights import Weights, load_weights
from instructor.sandbox.process import end_strays
from instructor.submission import find_submissions, holds
from instructor.workers import open_pool
from lab.workshop import Workshop, load_workshop, workshop_ids

MAX_NAME_BYTES = 200
RESERVED = frozenset({"index.html", "gradebook.csv", "pace.json", ".work", FOLDER})
Progress = Callable[[Report, int, int], None]


@dataclass(frozen=True)
class Options:
    """How to grade: which workshops (what each submission shows when empty), how many at once.

    ``exports`` are names of ``EXPORTS``; ``weights`` is a teacher's file (without one the course's
    own); ``environment`` is what exports may read of the run's. ``history`` reads the commits too,
    with ``began`` as the start of the session where that is known.
    """

    workshops: tuple[str, ...] = ()
    workers: int = 2
    cell_seconds: float = 10.0
    seconds: float = 10.0
    exports: tuple[str, ...] = ()
    weights: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    history: bool = False
    began: datetime | None = None


def grade_class(folder: Path, out: Path, options: Options, progress: Progress) -> list[Report]:
    """Grade every submission in a folder and write the reports; give them in order of name.

    Raises ``CourseError`` where nothing can be graded at all.
    """
    check_names(options.exports)
    weights = _load_weights(options.weights)
    known = _known_workshops(options.workshops)
    submissions = find_submissions(folder, known)
    _check_out(folder, out, submissions)
    shown = {name: [w for w in known if holds(path, w)] for name, path in submissions.items()}
    seen = [w for w in known if any(w in own for own in shown.values())]
    workshops = tuple(known if options.workshops else seen or known)
    scratch = _make_scratch(out)
    jobs = [
        Job(
            name,
            path.resolve(),
            # Where nothing of any workshop is to be seen, all of them are missing.
            workshops if options.workshops or not shown[name] else tuple(shown[name]),
            scratch.resolve(),
            options.cell_seconds,
            options.seconds,
        )
        for name, path in submissions.items()
    ]
    reports: dict[str, Report] = {}
    try:
        for report in _judge_all(jobs, options.workers):
            reports[report.submission] = report
            _write(report, out)
            progress(report, len(reports), len(jobs))
        paces = read_paces(jobs, options.workers, options.began) if options.history else []
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    ordered = [reports[job.name] for job in jobs]
    folders = {job.name: report_folder(job.name) for job in jobs}
    write_class_pages(ordered, workshops, folders, out, weights, paces)
    book = score(ordered, folders, workshops, weights, options.environment)
    write_exports(options.exports, book, out / FOLDER)
    return ordered


def report_folder(name: str) -> str:
    """Name the folder of a submission's report; some names are taken, others are too long."""
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"{name[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return f"{name}-submission" if name in RESERVED else name


def judge_in_worker(job: Job) -> Report:
    """Judge one submission; end every process that it left behind, whatever happened."""
    try:
        return judge_submission(job)
    except Exception as error:  # noqa: BLE001  one submission must never stop the class
        return failed_report(job, f"It could not be graded: {type(error).__name__}: {error}")
    finally:
        end_strays(set())


def _write(report: Report, out: Path) -> None:
    folder = out / report_folder(report.submission)
    write_text(folder / "report.json", dump(report.to_json()))
    write_feedback(report, folder / "feedback.html")


def _judge_all(jobs: list[Job], workers: int) -> Iterator[Report]:
    """Yield reports as they come; a worker that dies costs only the submission that it held."""
    left = {job.name: job for job in jobs}
    with contextlib.suppress(BrokenProcessPool), open_pool(workers) as pool:
        for report in _results(pool, jobs):
            del left[report.submission]
            yield report
    for job in list(left.values()):
        with open_pool(1) as pool:
            try:
                yield pool.submit(judge_in_worker, job).result()
            except BrokenProcessPool:
                reason = "It could not be graded: it took the grader's own process down"
                yield failed_report(job, reason)


def _results(pool: ProcessPoolExecutor, jobs: list[Job]) -> Iterator[Report]:
    futures: list[Future[Report]] = [pool.submit(judge_in_worker, job) for job in jobs]
    for future in as_completed(futures):
        yield future.result()


def _check_out(folder: Path, out: Path, submissions: dict[str, Path]) -> None:
    folders = [path.resolve() for path in submissions.values()]
    places = [(out / report_folder(name)).resolve() for name in submissions]
    inside = any(out.resolve().is_relative_to(path) for path in (folder.resolve(), *folders))
    # Exports are written anew each time, so nothing that is graded may lie where they go.
    exports = (out / FOLDER).resolve()
    inside = inside or any(path.is_relative_to(exports) for path in folders)
    if inside or any(place in folders for place in places):
        raise CourseError(
            f"The reports would be written into what is graded ({out}). "
            "Give --out a folder outside the class."
        )
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is a file. Give --out a folder, or a name that is free.")


def _known_workshops(wanted: tuple[str, ...]) -> list[Workshop]:
    """Load the workshops asked for, or all of the course."""
    known = workshop_ids(COURSE)
    for name in wanted:
        if name not in known:
            raise CourseError(f"There is no workshop {name!r}. Known: {', '.join(known)}.")
    return [load_workshop(COURSE, name) for name in (wanted or known)]


def _load_weights(path: Path | None) -> Weights:
    """Read the weights against every workshop of the course, also those that nobody asked for."""
    return load_weights(path, [load_workshop(COURSE, name) for name in workshop_ids(COURSE)])


def _make_scratch(out: Path) -> Path:
    """Make the folder for copies, anew; it goes away when grading ends."""
    scratch = out / ".work"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        scratch.mkdir(parents=True)
    except OSError as error:
        raise CourseError(
            f"{out} cannot be written ({error.strerror}). Give --out a folder that can."
        ) from error
    return scratch
