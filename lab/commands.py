"""The commands of ``lab``: each takes the parsed arguments, prints, and gives an exit code."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import coach
from lab.cards import Card, Note
from lab.checks import Checks
from lab.study import study
from lab.watch import watch
from lab.workshop import WorkshopError, load_workshop, workshop_ids

Options = argparse.Namespace
Argument = tuple[str, Mapping[str, Any]]

BLOCK: Argument = ("block", {"nargs": "?", "help": "for example inventory; all without it"})
EXERCISE: Argument = ("exercise", {"help": "an exercise or a block; lab hint names them"})
MAYBE: Argument = (
    "exercise",
    {"nargs": "?", "default": "", "help": "an exercise or a block; without it, what is open"},
)
AGAIN: Argument = ("--again", {"action": "store_true", "help": "only the hints you had already"})
NTH: Argument = ("--hint", {"type": int, "default": 1, "metavar": "N", "help": "the Nth open one"})
TO: Argument = ("--to", {"type": Path, "metavar": "DIR", "help": "the workspace's folder"})
PLAIN: Argument = ("--plain", {"action": "store_true", "help": "print the paths; open nothing"})


@dataclass(frozen=True)
class Command:
    """One command: its name, what it does, its arguments after the workshop."""

    name: str
    help: str
    run: Callable[[Options], int]
    arguments: tuple[Argument, ...] = ()
    workshop_optional: bool = False


def _check(options: Options) -> int:
    workshop = load_workshop(coach.ROOT, options.workshop)
    blocks = [workshop.block(options.block)] if options.block else workshop.blocks
    checks = Checks(coach.ROOT, workshop, options.block or "")
    cards = [coach.check(workshop.id, block.id, checks) for block in blocks]
    print("\n\n".join(str(card) for card in cards))
    return _code(*cards)


def _hint(options: Options) -> int:
    return _say(coach.hint(options.workshop, options.exercise, again=options.again))


def _solution(options: Options) -> int:
    return _say(coach.solution(options.workshop, options.exercise))


def _reset(options: Options) -> int:
    return _say(coach.reset(options.workshop, options.exercise))


def _progress(options: Options) -> int:
    return _say(coach.progress(options.workshop))


def _slips(options: Options) -> int:
    said = coach.slips(options.workshop)
    return _say(said) if isinstance(said, Note) else _say(said) or _code(said)


def _holes(options: Options) -> int:
    """Hunt; 1 where there could be no hunt. An open hole is no failure."""
    said = coach.holes(options.workshop, options.hint)
    return _say(said) if isinstance(said, Card) else _say(said) or 1


def _watch(options: Options) -> int:
    return watch(coach.ROOT, load_workshop(coach.ROOT, options.workshop), options.block)


def _study(options: Options) -> int:
    return study(coach.ROOT, options.workshop, options.to, options.plain)


def _say(shown: Card | Note) -> int:
    print(shown)
    return 0


def _code(*cards: Card) -> int:
    return 0 if all(line.outcome == "pass" for card in cards for line in card.lines) else 1


COMMANDS = (
    Command("check", "check the outcome of a block, or of all blocks", _check, (BLOCK,)),
    Command("watch", "check again whenever a file is saved", _watch, (BLOCK,)),
    Command("hint", "show one hint more", _hint, (MAYBE, AGAIN)),
    Command("solution", "show one right way, after success or three tries", _solution, (MAYBE,)),
    Command("reset", "give an exercise back as it was, and keep yours", _reset, (EXERCISE,)),
    Command("progress", "show blocks, tries, minutes and hints", _progress, (), True),
    Command("slips", "name the slips that your tests would not notice", _slips),
    Command("holes", "count the holes that your gate still has; ungraded", _holes, (NTH,), True),
    Command("study", "make a workspace or go on in one, in JupyterLab", _study, (TO, PLAIN), True),
)


def add(parsers: Any) -> None:
    """Add these commands to the command line."""
    for command in COMMANDS:
        sub = parsers.add_parser(command.name, help=command.help, description=command.help)
        nargs = "?" if command.workshop_optional else None
        sub.add_argument("workshop", help="for example plan_gate", nargs=nargs)
        for name, settings in command.arguments:
            sub.add_argument(name, **settings)
        sub.set_defaults(run=_with_workshop(command.run))


def _with_workshop(run: Callable[[Options], int]) -> Callable[[Options], int]:
    """Fill the workshop in where there is only one, before a command runs."""

    def do(options: Options) -> int:
        known = workshop_ids(coach.ROOT)
        if options.workshop is None and len(known) == 1:
            options.workshop = known[0]
        if options.workshop not in known:
            found = ", ".join(known) or "none"
            what = f"no workshop {options.workshop!r} here" if options.workshop else "none named"
            raise WorkshopError(f"there is {what}. Found: {found}. Give one of these.")
        return run(options)

    return do
