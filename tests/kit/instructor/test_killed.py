"""A grader that is killed loses at most what it had in hand, and leaves nothing running."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.kit.instructor.toy_course import build_course, build_toy_class

SCRIPT = Path(__file__).with_name("grader_to_kill.py")
NAMES = "abcdefghijkl"
KILLS = 20
SEED = 20260905
# Of what runs below a grader, nothing may be there so long after it was killed.
GONE_SECONDS = 60


@contextmanager
def graders(course: Path, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "PYTHONPATH": str(course)}
    with subprocess.Popen(
        [sys.executable, "-P", str(SCRIPT), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Grader:
    """One run of the grader; its lines come through the process that forked it."""

    def __init__(self, forker: "subprocess.Popen[str]", out: Path) -> None:
        assert forker.stdin is not None
        assert forker.stdout is not None
        print(out, file=forker.stdin, flush=True)
        self._lines = forker.stdout
        # What the one before had said when it was killed comes first.
        began = next(line for line in self._lines if line.startswith("began"))
        self.pid = int(began.split()[1])

    def wait_for(self, told: int) -> bool:
        """Wait until a number of submissions are told; True when the grader has ended first."""
        for _ in range(told):
            line = next(self._lines)
            if line == "ended\n":
                return True
        return False

    def kill(self, rng: random.Random) -> None:
        """Kill it a moment later, alone or with its group; wait until all below it is gone."""
        process = psutil.Process(self.pid)
        with suppress(psutil.TimeoutExpired):
            process.wait(timeout=rng.uniform(0, 0.4))
        below = process.children(recursive=True) if process.is_running() else []
        with suppress(ProcessLookupError):
            rng.choice([os.kill, os.killpg])(self.pid, signal.SIGKILL)
        _, alive = psutil.wait_procs([process, *below], timeout=GONE_SECONDS)
        assert alive == []


def files(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


def test_a_grader_killed_at_twenty_random_moments_ends_as_one_that_was_left_alone(
    tmp_path: Path,
) -> None:
    course = build_course(tmp_path / "course")
    folder = build_toy_class(course, tmp_path / "class", NAMES)
    rng = random.Random(SEED)  # noqa: S311  moments, not secrets
    with graders(course, folder) as forker:
        assert Grader(forker, tmp_path / "alone").wait_for(len(NAMES) + 1)
        wanted = files(tmp_path / "alone")
        kills = runs = 0
        while kills < KILLS:
            runs += 1
            out = tmp_path / f"out-{runs}"
            kills += killed_until_done(forker, out, rng, KILLS - kills)
            assert files(out) == wanted

    assert len([name for name in wanted if name.endswith("report.json")]) == len(NAMES)
    assert runs > 1


def killed_until_done(
    forker: "subprocess.Popen[str]", out: Path, rng: random.Random, most: int
) -> int:
    """Kill one grader after another on the same reports, then let one end; give how many."""
    kills = 0
    while kills < most and (known := len(list(out.glob(".kept/*.json")))) < len(NAMES):
        grader = Grader(forker, out)
        grader.wait_for(known + rng.choice([0, 1, 2]))
        grader.kill(rng)
        kills += 1
    assert Grader(forker, out).wait_for(len(NAMES) + 1)
    return kills
