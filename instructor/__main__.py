"""The instructor's command line. It reads arguments, calls one function, prints; no logic here."""

import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from instructor.sandbox.confine import leave_out_slow_formats

leave_out_slow_formats()

import typer  # noqa: E402  jsonschema comes with what follows, and must find its formats left out
from rich.console import Console  # noqa: E402

from instructor import COURSE, CourseError  # noqa: E402
from instructor.classroom import build_demo  # noqa: E402
from instructor.commands.benchmark import benchmark  # noqa: E402
from instructor.commands.doctor import doctor  # noqa: E402
from instructor.commands.pace import pace  # noqa: E402
from instructor.commands.session import session  # noqa: E402
from instructor.commands.sheet import sheet  # noqa: E402
from instructor.grade import Options, grade_class  # noqa: E402
from instructor.judging import plain  # noqa: E402
from instructor.lint import check_course  # noqa: E402
from instructor.progress import shown  # noqa: E402
from instructor.release import NO_STUDY, read_pairs, release_many  # noqa: E402
from instructor.report.board import print_board  # noqa: E402
from instructor.report.exports import EXPORTS, FOLDER  # noqa: E402
from instructor.sandbox.tiers import expect_tier  # noqa: E402
from instructor.study import study_files  # noqa: E402
from instructor.submission import skipped  # noqa: E402
from lab.workshop import WorkshopError, load_workshop  # noqa: E402

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
console = Console()

PROBLEMS, USAGE, FAILED = 1, 2, 3
EXPORT_HELP = f"Also write this, repeatable: {', '.join(EXPORTS)}."
HISTORY_HELP = "Also read each git history: when each block was green, against the plan."
BEGAN_HELP = "With --history: when the session began, in this machine's time zone."
TIMES = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%z"]
FOLDER_HELP = "A folder of submissions, or one submission; with --roster, where its paths start."
ROSTER_HELP = "A CSV with name, source (a folder, a zip or a git address) and more; see README."
STUDY_HELP = "For somebody alone: with solutions and wrong gates, encoded."
AGAIN_HELP = "Also grade what is the same as when it was graded last."
TIER_HELP = "Run students' code in this tier or a better one: A, B, or C (limits only)."
DASK_HELP = "Grade on a cluster: its scheduler's address, tcp://HOST:8786; see README."
WEIGHTS_HELP = "What blocks count; by default instructor/weights.toml."
CORES = os.cpu_count() or 2
Workers = Annotated[int, typer.Option(min=1, help="How many submissions at once.")]
Pairs = Annotated[list[str] | None, typer.Option(help="Only this sample pair; repeatable.")]
# The sample class and the course are ours, so limits do where there is nothing better.
OWN_CODE = "C"
Tier = Annotated[str, typer.Option(help=TIER_HELP)]
Seconds = Annotated[
    float, typer.Option(min=0.1, help="CPU time of one run of tests; a hidden input gets a fifth.")
]
CellSeconds = Annotated[float, typer.Option(min=0.1, help="Time limit of a notebook cell.")]


@app.callback()
def instructor() -> None:
    """Release workshops, grade what comes back, and check the course itself."""


@app.command()
def release(
    workshops: Annotated[list[str], typer.Argument(help="For example plan_gate.")],
    to: Annotated[Path, typer.Option(help="The folder to make; it must be free.")],
    pairs: Annotated[Path | None, typer.Option(help="A text file, one name a line.")] = None,
    self_study: Annotated[bool, typer.Option("--self-study", help=STUDY_HELP)] = False,
) -> None:
    """Make a workspace for students, or one for each name in a file."""
    loaded = [load_workshop(COURSE, name) for name in dict.fromkeys(workshops)]
    targets = {to / name: name for name in read_pairs(pairs)} if pairs else {to: to.name}
    study = study_files(loaded) if self_study else NO_STUDY
    release_many(loaded, targets, datetime.now(UTC), study)
    number = len(targets)
    made = "1 workspace" if number == 1 else f"{number} workspaces, one for each name,"
    console.print(f"Made {made} in {to}. Students start with its README.md.", soft_wrap=True)


@app.command()
def grade(  # noqa: PLR0913, PLR0917  each is an option of the command
    out: Annotated[Path, typer.Option(help="Where the reports go.")],
    folder: Annotated[Path | None, typer.Argument(help=FOLDER_HELP)] = None,
    roster: Annotated[Path | None, typer.Option(help=ROSTER_HELP)] = None,
    workshop: Annotated[list[str] | None, typer.Option(help="Only this one; repeatable.")] = None,
    workers: Workers = CORES,
    cell_seconds: CellSeconds = 10.0,
    seconds: Seconds = 10.0,
    export: Annotated[list[str] | None, typer.Option(help=EXPORT_HELP)] = None,
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP)] = None,
    history: Annotated[bool, typer.Option("--history", help=HISTORY_HELP)] = False,
    began: Annotated[datetime | None, typer.Option(formats=TIMES, help=BEGAN_HELP)] = None,
    again: Annotated[bool, typer.Option("--again", help=AGAIN_HELP)] = False,
    require_tier: Tier = "B",
    dask: Annotated[str, typer.Option(help=DASK_HELP)] = "",
) -> None:
    """Grade a class block by block; exits with 0 whatever the scores."""
    if not dask:
        expect_tier(require_tier)
    limits = (workers, cell_seconds, seconds)
    exports = tuple(dict.fromkeys(export or ()))
    pace = (history or began is not None, began.astimezone() if began else None)
    options = Options(tuple(workshop or ()), *limits, exports, weights, os.environ, *pace, roster)
    _grade(folder, out, replace(options, again=again, cluster=dask, tier=require_tier))


@app.command()
def demo(
    to: Annotated[Path, typer.Option(help="Where the class and its reports go.")] = Path(
        "build/demo"
    ),
    pair: Pairs = None,
    workers: Workers = CORES,
    require_tier: Tier = OWN_CODE,
) -> None:
    """Build a sample class, grade it, and say where to look."""
    expect_tier(require_tier)
    folder = build_demo(to, datetime.now(UTC), pair or ())
    number = len(list(folder.iterdir()))
    console.print(
        f"Built a sample class of {number} in {folder}. On two cores, grading takes a few "
        "seconds for each.",
        soft_wrap=True,
    )
    _grade(folder, to / "report", Options(workers=workers, cell_seconds=20.0))


@app.command()
def check(
    workers: Workers = CORES,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out what needs grading.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="A free folder for what is graded, and its reports.")
    ] = None,
    pair: Pairs = None,
    require_tier: Tier = OWN_CODE,
) -> None:
    """Prove that timing plans, notebooks, fixtures, cases and release agree."""
    if not quick:
        expect_tier(require_tier)
    if keep and keep.exists():
        raise CourseError(f"{keep} is there already. Give --keep a name that is free.")
    found = 0
    for area, problems in check_course(workers, quick=quick, keep=keep, pairs=pair or ()):
        found += len(problems)
        mark = "[red]✗[/red]" if problems else "[green]✓[/green]"
        console.print(f"{mark} {area}", soft_wrap=True)
        for problem in problems:
            console.print(f"    {problem}", markup=False, soft_wrap=True)
    if found:
        console.print(f"{found} problem{'' if found == 1 else 's'} found.")
        raise typer.Exit(PROBLEMS)
    console.print("The course agrees with itself.")


app.command()(doctor)
app.command()(benchmark)
app.command()(pace)
app.command()(session)
app.command()(sheet)


def _grade(folder: Path | None, out: Path, options: Options) -> None:
    with shown(console) as progress:
        try:
            reports = grade_class(folder, out, options, progress)
        except KeyboardInterrupt:
            print("instructor: stopped; the reports written so far are kept.", file=sys.stderr)
            raise typer.Exit(FAILED) from None
    print_board(reports, console)
    if folder and folder.is_dir() and options.roster is None:
        alone = reports[0].submission == folder.resolve().name
        _say_skipped([] if alone else skipped(folder))
    console.print(f"Class page: {out / 'index.html'}", markup=False, soft_wrap=True)
    console.print(f"Gradebook:  {out / 'gradebook.csv'}", markup=False, soft_wrap=True)
    for name in options.exports:
        console.print(f"Export:     {out / FOLDER / name}", markup=False, soft_wrap=True)
    console.print(f"Feedback:   {out}/<submission>/feedback.html", markup=False, soft_wrap=True)


def _say_skipped(left: list[str]) -> None:
    if left:
        names = ", ".join(map(plain, left[:10]))
        text = f"Not graded, because neither folder nor zip: {names}"
        console.print(text, markup=False, soft_wrap=True)


def main() -> None:
    """Run the command line; say in one line what went wrong, without a traceback."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except (CourseError, WorkshopError) as error:
        print(f"instructor: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except Exception as error:  # the top of the command line
        if os.environ.get("INSTRUCTOR_TRACEBACK"):
            raise
        print(
            f"instructor: {type(error).__name__}: {error}. This is a fault of the kit; "
            "set INSTRUCTOR_TRACEBACK=1 to see where.",
            file=sys.stderr,
        )
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
