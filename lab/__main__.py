"""The student's command line: ``lab check WORKSHOP BLOCK`` says what a notebook's check says."""

import argparse
import os
import sys

from lab import coach
from lab.workshop import WorkshopError, load_workshop, workshop_ids


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 when every check passes, 1 when one does not, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="lab", description="Check your work in a terminal.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check the outcome of a block, or of all blocks")
    check.add_argument("workshop", help="for example plan_gate")
    check.add_argument("block", nargs="?", help="for example inventory; all blocks without it")
    options = parser.parse_args(arguments)
    if options.workshop not in workshop_ids(coach.ROOT):
        known = ", ".join(workshop_ids(coach.ROOT)) or "none"
        parser.error(f"there is no workshop {options.workshop!r} here. Found: {known}.")
    try:
        workshop = load_workshop(coach.ROOT, options.workshop)
        blocks = [workshop.block(options.block)] if options.block else workshop.blocks
    except WorkshopError as error:
        parser.error(str(error))
    cards = [coach.check(workshop.id, block.id) for block in blocks]
    try:
        print("\n\n".join(str(card) for card in cards), flush=True)
    except BrokenPipeError:  # somebody reads only the beginning, as `lab check … | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(line.outcome == "pass" for card in cards for line in card.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
