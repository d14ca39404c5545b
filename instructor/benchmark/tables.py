"""The tables of a benchmark, 80 columns wide."""

from collections.abc import Iterator
from statistics import median

from rich.console import Console
from rich.table import Table

from instructor.benchmark import Results
from instructor.benchmark.spent import CASES, NOTEBOOKS, RUNS, SUITES

NOTE = (
    "Stock: nbclient (imported once) with its own kernel, python -m pytest in a process for each "
    "file of checks and for each gate, all cases in one process; no sandbox, no limits. Ours: in "
    "the sandbox, with limits, and a pair's tests three times on the reference. Both at their "
    "pace: workers and our fork servers are started. Times are by the clock, in turns, so that "
    "whatever else runs on this machine slows both."
)
NAMES = {
    NOTEBOOKS: "a notebook",
    SUITES: "a file of visible checks",
    RUNS: "a pair's tests on one gate",
    CASES: "a replayed case",
}


def rows(results: Results) -> Iterator[tuple[str, float | None, float | None]]:
    """Yield each row of the comparison: what, seconds by plain means, seconds by ours."""
    for kind, name in NAMES.items():
        yield name, results.plain.each(kind), results.pieces.each(kind)
    for workers, found in results.whole.items():
        name = f"a submission, {workers} at once"
        yield name, median(found.stock), median(found.ours)


def print_results(results: Results, console: Console) -> None:
    """Print what was measured, and what the two ways judged otherwise."""
    console.print()
    console.print(
        f"{results.workshop}, {_count(results.submissions, 'submission')}, "
        f"{_count(results.rounds, 'round')}; "
        f"{results.cores} cores, load {results.load:.1f} at the start; sandbox: {results.sandbox}",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in ("stock", "ours", "ratio"):
        table.add_column(name, justify="right")
    for name, stock, ours in rows(results):
        ratio = f"{stock / ours:.1f}" if stock and ours else "-"
        table.add_row(name, in_ms(stock), in_ms(ours), ratio)
    console.print(table, highlight=False)
    _print_agreement(results, console)
    if results.rivals:
        console.print(_rivals_table(results), highlight=False)
    if results.growth:
        console.print(_growth_table(results), highlight=False)
    console.print(NOTE, style="dim", highlight=False)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def in_ms(seconds: float | None) -> str:
    """Write seconds as milliseconds."""
    if seconds is None:
        return "-"
    return f"{seconds * 1000:,.2f} ms" if seconds < 0.01 else f"{seconds * 1000:,.0f} ms"


def _print_agreement(results: Results, console: Console) -> None:
    other = results.differing
    alike = results.outcomes - len(other)
    console.print(f"Judged alike: {alike} of {results.outcomes} outcomes.", highlight=False)
    for line in other:
        console.print(f"  {line}", markup=False, highlight=False)


def _rivals_table(results: Results) -> Table:
    """Compare each grader with the last, which is ours."""
    table = Table(box=None, pad_edge=False)
    table.add_column("one notebook with five checks")
    for name in ("each", "ratio", "right from wrong"):
        table.add_column(name, justify="right")
    ours = results.rivals[-1].seconds
    for grader in results.rivals:
        told = "told" if grader.right else "not told"
        table.add_row(grader.name, in_ms(grader.seconds), f"{grader.seconds / ours:.1f}", told)
    return table


def _growth_table(results: Results) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("class of", "seconds", "each", "main process", "largest worker"):
        table.add_column(name, justify="right")
    for size in results.growth:
        each = in_ms(size.seconds / size.submissions)
        memory = (f"{size.main_mib:.0f} MiB", f"{size.worker_mib:.0f} MiB")
        table.add_row(str(size.submissions), f"{size.seconds:.0f}", each, *memory)
    return table
