"""``lab holes``: what ``coach.holes`` says, in a terminal."""

import argparse
from typing import Any

from lab.cards import Card
from lab.hole_probes import ROOT
from lab.holes import holes
from lab.workshop import load_workshop


def add(commands: Any) -> None:
    """Add the command to the command line."""
    hunt = commands.add_parser("holes", help="count the holes that your gate still has; ungraded")
    hunt.add_argument("workshop", help="for example plan_gate")
    hunt.add_argument("--hint", type=int, default=1, metavar="N", help="the Nth open one")
    hunt.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Hunt; 1 where there could be no hunt. An open hole is no failure."""
    load_workshop(ROOT, options.workshop)
    said = holes(options.workshop, options.hint)
    print(said)
    return 0 if isinstance(said, Card) else 1
