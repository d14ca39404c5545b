"""How far grading has come and how long the rest may take: a bar, or a line a submission."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from instructor.judging import plain
from instructor.report.model import Report

# The pace is that of the last few: what is kept from before comes first, and at once.
LAST = 20
FEWEST = 3


class Estimate:
    """The time that the rest may take, by the pace of the last few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin now."""
        self._clock = clock
        self._times = deque([clock()], maxlen=LAST + 1)

    def left(self, done: int, total: int) -> str:
        """Note that one more is done, and say how long the rest may take; "" when nobody can."""
        self._times.append(self._clock())
        if done < FEWEST or done == total:
            return ""
        each = (self._times[-1] - self._times[0]) / (len(self._times) - 1)
        return in_words(each * (total - done))


def in_words(seconds: float) -> str:
    """Say a length of time as a person would."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    if minutes < 90:
        return f"about {minutes} min left"
    return f"about {minutes // 60} h {minutes % 60} min left"


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Report, int, int], None]]:
    """Give the function that shows each report as it comes."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    estimate = Estimate()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("grading", total=None, left="")

        def progress(report: Report, done: int, total: int) -> None:
            left = estimate.left(done, total)
            bar.update(task, completed=done, total=total, left=left)
            if not console.is_terminal:
                more = f" ({left})" if left else ""
                text = f"{done}/{total} {plain(report.submission)}{more}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield progress
