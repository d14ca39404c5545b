"""A grader that forks once for each line it reads, so that many can be started and killed.

Started as a script with a class; each line is a folder for reports, and the course comes from
PYTHONPATH. It says the process id of each fresh grader and a line for each report. Grader and
workers are forks of a process that has imported everything: importing takes longest and is not what
is looked at here.
"""

import multiprocessing
import os
import signal
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def main() -> None:
    from instructor import grade, kept  # noqa: F401  imported once for all
    from instructor.sandbox import tier

    tier()
    kept._course()
    # A fork has neither the thread nor the servers of the process that it comes from.
    os.register_at_fork(after_in_child=forget_servers)
    fork = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda *_: fork  # type: ignore[assignment]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            try:
                run(Path(sys.argv[1]), Path(line.strip()))
            except BaseException:
                traceback.print_exc()
            finally:
                say("ended")
                os._exit(0)


def forget_servers() -> None:
    from instructor.sandbox import forks

    forks._LAUNCHER = ThreadPoolExecutor(1)
    forks._SERVERS.clear()


def run(folder: Path, out: Path) -> None:
    from instructor.grade import Options, grade_class

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    say("began", os.getpid())
    grade_class(folder, out, Options(workers=1), lambda *_: say("told"))


def say(*words: object) -> None:
    print(*words, flush=True)


if __name__ == "__main__":
    main()
