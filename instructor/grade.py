"""A class in, reports out: in parallel, one bad submission never stops it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from instructor import COURSE, CourseError
from instructor.answer_key import dump
from instructor.attempts import Tried, best_of
from instructor.cluster import judge_on_cluster
from instructor.intake.bring import Intake, take_in
from instructor.intake.landing import Remark
from instructor.intake.roster import Attempt, Entry, local_source, read_roster
from instructor.judging import Job
from instructor.kept import FOLDER as KEPT
from instructor.kept import Kept
from instructor.out_folder import check_out, places_for
from instructor.paces import read_paces
from instructor.report.exports import FOLDER, check_names, score, write_exports
from instructor.report.folders import report_folders
from instructor.report.model import Report, write_text
from instructor.report.pages import write_class_pages, write_feedback
from instructor.report.weights import Weights, load_weights
from instructor.sandbox import tier
from instructor.submission import find_submissions, holds
from instructor.workers import ending, judge_all
from lab.workshop import Workshop, load_workshop, workshop_ids

Progress = Callable[[Report, int, int], None]


@dataclass(frozen=True)
class Options:
    """How to grade: which workshops (what each submission shows when empty), how many at once.

    ``exports`` are names of ``EXPORTS``; ``weights`` is a teacher's file (without one the course's
    own); ``environment`` is what exports may read of the run's. ``history`` reads the commits too,
    with ``began`` as the start of the session where that is known; ``roster`` says who hands in.
    ``cluster`` is the address of a dask scheduler, whose workers judge in the place of this
    machine's; each has to have at least the ``tier``.
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
    roster: Path | None = None
    again: bool = False
    cluster: str = ""
    tier: str = ""


def grade_class(
    folder: Path | None, out: Path, options: Options, progress: Progress
) -> list[Report]:
    """Grade every submission in a folder or on a roster, and write the reports, in that order.

    Raises ``CourseError`` where nothing can be graded at all.
    """
    check_names(options.exports)
    weights = _load_weights(options.weights)
    known = known_workshops(options.workshops)
    entries = _entries(folder, options.roster, known)
    check_out(folder if options.roster is None else None, out, entries)
    folders = report_folders(entry.name for entry in entries)
    settings = (
        f"{options.tier if options.cluster else tier()} {options.cell_seconds} {options.seconds}"
    )
    kept = Kept((out / KEPT).resolve(), settings, read_old=not options.again)
    reports: dict[str, Report] = {}
    with places_for(out, options.workers) as places:
        workshops, jobs = _plan(entries, known, places, options, kept)
        for report in _judge_all(jobs, options):
            reports[report.submission] = report
            _write(report, out / folders[report.submission])
            progress(report, len(reports), len(entries))
        last = list(_last_work(jobs).values())
        paces = read_paces(last, options.workers, options.began) if options.history else []
    ordered = [reports[entry.name] for entry in entries]
    write_class_pages(ordered, workshops, folders, out, weights, paces)
    ids = {entry.name: entry.ids for entry in entries}
    book = score(ordered, folders, workshops, weights, options.environment, ids)
    write_exports(options.exports, book, out / FOLDER)
    return ordered


def _entries(folder: Path | None, roster: Path | None, known: list[Workshop]) -> list[Entry]:
    """List who hands in: those on the roster, or whatever lies in the folder."""
    if roster is not None:
        return read_roster(roster, folder or roster.parent)
    if folder is None:
        raise CourseError("There is nothing to grade. Give a folder of submissions, or --roster.")
    return [
        Entry(name, (Attempt("1", local_source(path)),), remarks=_same_name(name, path))
        for name, path in find_submissions(folder, known).items()
    ]


def _same_name(name: str, path: Path) -> tuple[Remark, ...]:
    """Remark on a zip that goes by its whole name, because its stem is another's."""
    if path.is_dir() or name == path.stem:
        return ()
    found = f"{name!r} lies beside another submission called {path.stem!r}; both were graded."
    advice = "Keep one of the two, or list both as attempts in a roster."
    return (Remark("same-name", found, advice),)


def _plan(
    entries: list[Entry],
    known: list[Workshop],
    places: tuple[Path, Path],
    options: Options,
    kept: Kept,
) -> tuple[tuple[Workshop, ...], list[Job]]:
    """Bring all work in; give the workshops of the class, and a job for each attempt.

    ``places`` are for what is brought in, and for copies of it.
    """
    brought, copies = places
    taken = _take_in(entries, brought, options.workers)
    shown = {
        entry.name: [w for w in known if any(_shows(item, w) for item in taken[entry.name])]
        for entry in entries
    }
    seen = [w for w in known if any(w in own for own in shown.values())]
    workshops = tuple(known if options.workshops else seen or known)
    jobs = [
        Job(
            entry.name,
            item.folder and item.folder.resolve(),
            # Where nothing of any workshop is to be seen, all of them are missing.
            workshops if options.workshops or not shown[entry.name] else tuple(shown[entry.name]),
            copies,
            options.cell_seconds,
            options.seconds,
            attempt.label,
            attempt.source.kind,
            item.finding,
            entry.remarks + item.remarks,
            kept,
        )
        for entry in entries
        for attempt, item in zip(entry.attempts, taken[entry.name], strict=True)
    ]
    return workshops, jobs


def _take_in(entries: list[Entry], scratch: Path, workers: int) -> dict[str, list[Intake]]:
    """Bring every attempt into a plain folder, several at once: most of it is waiting."""
    course = known_workshops(())
    attempts = [(entry.name, attempt) for entry in entries for attempt in entry.attempts]
    taken: dict[str, list[Intake]] = defaultdict(list)
    with ending(ThreadPoolExecutor(workers)) as pool:
        futures = [
            pool.submit(take_in, attempt.source, scratch / f"in-{number}", course)
            for number, (_, attempt) in enumerate(attempts)
        ]
        for (name, _), future in zip(attempts, futures, strict=True):
            taken[name].append(future.result())
    return taken


def _shows(item: Intake, workshop: Workshop) -> bool:
    return item.folder is not None and holds(item.folder, workshop)


def _last_work(jobs: list[Job]) -> dict[str, Job]:
    """Choose a submission's last attempt that there is anything of, or its last one."""
    every = {job.name: job for job in jobs}
    return every | {job.name: job for job in jobs if job.folder is not None}


def _judge_all(jobs: list[Job], options: Options) -> Iterator[Report]:
    """Yield each submission's report as soon as all its attempts are judged."""
    wanted = Counter(job.name for job in jobs)
    order = {job: number for number, job in enumerate(jobs)}
    judged: dict[str, list[tuple[int, Tried]]] = defaultdict(list)
    if options.cluster:
        come = judge_on_cluster(jobs, options.cluster, options.tier)
    else:
        come = judge_all(jobs, options.workers)
    for job, report in come:
        tried = Tried(job.label, job.source, job.folder is not None, report)
        judged[job.name].append((order[job], tried))
        if len(judged[job.name]) == wanted[job.name]:
            yield best_of([tried for _, tried in sorted(judged[job.name], key=lambda row: row[0])])


def _write(report: Report, folder: Path) -> None:
    write_text(folder / "report.json", dump(report.to_json()))
    write_feedback(report, folder / "feedback.html")


def known_workshops(wanted: tuple[str, ...]) -> list[Workshop]:
    """Load the workshops asked for, or all of the course."""
    known = workshop_ids(COURSE)
    for name in wanted:
        if name not in known:
            raise CourseError(f"There is no workshop {name!r}. Known: {', '.join(known)}.")
    return [load_workshop(COURSE, name) for name in (wanted or known)]


def _load_weights(path: Path | None) -> Weights:
    """Read the weights against every workshop of the course, also those that nobody asked for."""
    return load_weights(path, [load_workshop(COURSE, name) for name in workshop_ids(COURSE)])
