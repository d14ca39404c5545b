"""The student's command line: ``lab check WORKSHOP BLOCK`` says what a notebook's check says.

Each further command is a module with ``add(commands)``, which sets ``run``: a function of the
options that gives the exit code, and raises ``WorkshopError`` for wrong usage.
"""

import argparse
import os
import sys

from lab import coach, holes_command, report_command
from lab.quick_start import leave_out_slow_formats
from lab.workshop import Workshop, WorkshopError, load_workshop


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 when every check passes, 1 when one does not, 2 for wrong usage."""
    leave_out_slow_formats()
    parser = argparse.ArgumentParser(prog="lab", description="Check your work in a terminal.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check the outcome of a block, or of all blocks")
    check.add_argument("workshop", help="for example plan_gate")
    check.add_argument("block", nargs="?", help="for example inventory; all blocks without it")
    check.set_defaults(run=_check)
    report_command.add(commands)
    holes_command.add(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except WorkshopError as error:
        parser.error(str(error))
    except BrokenPipeError:  # somebody reads only the beginning, as `lab check … | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _check(options: argparse.Namespace) -> int:
    workshop: Workshop = load_workshop(coach.ROOT, options.workshop)
    blocks = [workshop.block(options.block)] if options.block else workshop.blocks
    cards = [coach.check(workshop.id, block.id) for block in blocks]
    print("\n\n".join(str(card) for card in cards), flush=True)
    return 0 if all(line.outcome == "pass" for card in cards for line in card.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
