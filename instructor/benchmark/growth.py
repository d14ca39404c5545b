"""Time and memory of a class as it grows: from nothing to the last report, each size anew."""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psutil

from instructor.grade import Options, grade_class
from lab.workshop import Workshop

MIB = 1 << 20
LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Size:
    """One class: how many, how long, and the most memory of the main process and of a worker."""

    submissions: int
    seconds: float
    main_mib: float
    worker_mib: float


def grow(
    sizes: Sequence[int],
    folders: Sequence[Path],
    workshop: Workshop,
    place: Path,
    options: Options,
    said: Callable[[str], None],
) -> list[Size]:
    """Grade a class of each size, built of these submissions; no two submissions are alike."""
    found = []
    for size in sorted(sizes):
        class_ = place / f"class-{size}"
        for number in range(size):
            copy_of(folders[number % len(folders)], class_ / f"pair-{number}", workshop, number)
        began = time.monotonic()
        with Watch() as watch:
            grade_class(class_, place / f"out-{size}", options, lambda *_: None)
        seconds = time.monotonic() - began
        found.append(Size(size, seconds, watch.main / MIB, watch.worker / MIB))
        said(f"growth: {size} submissions graded in {seconds:.0f} s")
        shutil.rmtree(class_)
        shutil.rmtree(place / f"out-{size}")
    return found


def copy_of(folder: Path, target: Path, workshop: Workshop, number: int) -> None:
    """Copy a submission and add a line that changes nothing, so that it is not known already."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(".git"))
    with (target / workshop.gate.file).open("a", encoding="utf-8") as file:
        file.write(f"\n# submission {number}\n")


class Watch:
    """Looks at the memory of this process and of its workers, now and then, and keeps the most."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.main = self.worker = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Look a last time."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        here = psutil.Process()
        while True:
            self.main = max(self.main, here.memory_info().rss)
            for process in here.children():
                try:
                    self.worker = max(self.worker, process.memory_info().rss)
                except psutil.Error:
                    continue
            if self._ended.wait(LOOK_SECONDS):
                return
