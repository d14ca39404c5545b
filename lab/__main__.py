"""The student's command line: ``lab check WORKSHOP BLOCK`` says what a notebook's check says.

Each further command is a module with ``add(commands)``, which sets ``run``: a function of the
options that gives the exit code, and raises ``WorkshopError`` for wrong usage.
"""

import argparse
import os
import sys
from pathlib import Path

from lab import coach, commands, guidance, report_command
from lab.quick_start import leave_out_slow_formats
from lab.study import run_python
from lab.workshop import WorkshopError, workshop_ids

FAILED = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 when every check passes, 1 when one does not, 2 for wrong usage."""
    elsewhere = _workspace_of(Path.cwd())
    if arguments is None and elsewhere and elsewhere != coach.ROOT:
        # The code of the workspace that we stand in, which is not ours.
        return run_python(["-P", "-m", "lab", *sys.argv[1:]], Path.cwd(), elsewhere)
    leave_out_slow_formats()
    _speak_utf_8()
    guidance.speak_terminal()
    parser = argparse.ArgumentParser(prog="lab", description="Check your work in a terminal.")
    parsers = parser.add_subparsers(dest="command", required=True)
    for module in (commands, report_command):
        module.add(parsers)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except WorkshopError as error:
        parser.error(str(error))
    except BrokenPipeError:  # somebody reads only the beginning, as `lab check … | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Your files are as you saved them.")
        return 0
    except Exception as error:  # noqa: BLE001  the top of the command line
        return _fault(error)
    return code


def _fault(error: Exception) -> int:
    if os.environ.get("LAB_TRACEBACK"):
        raise error
    print(
        f"lab: {type(error).__name__}: {error}. This is a fault of the course and not of your "
        "work; set LAB_TRACEBACK=1 to see where.",
        file=sys.stderr,
    )
    return FAILED


def _workspace_of(folder: Path) -> Path | None:
    """Find the workspace that a folder lies in: the nearest with workshops and a coach."""
    for place in (folder, *folder.parents):
        if (place / "lab" / "coach.py").is_file() and workshop_ids(place):
            return place
    return None


def _speak_utf_8() -> None:
    """Write marks and quotes also where the terminal's own code has none, as on Windows."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
