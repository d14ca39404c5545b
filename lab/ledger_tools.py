"""The known tools: which arguments each of them has.

The list (``ledger_tools.json``) is written by people, so the gate may trust it. A tool that is not
in it may still be called with sourced arguments; it then counts as a write.
"""

import functools
import json
import re
from pathlib import Path
from typing import Any

TOOLS_FILE = Path(__file__).with_name("ledger_tools.json")
# A program is one name or path. ``eval`` is the shell's own word for running a text.
_PROGRAM = re.compile(r"(?!eval$)[^\s;|&$<>`]+", re.IGNORECASE)
_SHELLS = ("sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "csh", "tcsh", "fish")
# With which option a program runs a text as a script; it may stand anywhere after the program.
_TAKES_A_SCRIPT = {
    **dict.fromkeys(_SHELLS, re.compile(r"-[abd-z]*c[a-z]*", re.IGNORECASE)),
    **dict.fromkeys(
        ("python", "perl", "ruby", "node"),
        re.compile(r"-[A-Za-z]*[ceE].*|--(?:eval|print).*", re.DOTALL),
    ),
    **dict.fromkeys(
        ("powershell", "pwsh"), re.compile(r"[-/](?:c.*|e|ec|en.*)", re.IGNORECASE | re.DOTALL)
    ),
    "cmd": re.compile(r"/[ck].*", re.IGNORECASE | re.DOTALL),
    "env": re.compile(r"-[a-z]*S.*|--split-string.*", re.DOTALL),
}


def tool_problem(tool: str, args: dict[str, Any]) -> str | None:
    """Say which argument a known tool does not have, or cannot take as one value; else None."""
    names = known_tools().get(tool)
    if names is None:
        return None
    for name in args:
        if name not in names:
            return f"{tool} has no argument {name!r}; expected only {', '.join(names)}"
    return _command_problem(args["argv"]) if tool == "shell.run" and "argv" in args else None


@functools.cache
def known_tools() -> dict[str, list[str]]:
    """Read the argument names of each known tool."""
    tools: dict[str, list[str]] = json.loads(TOOLS_FILE.read_text(encoding="utf-8"))
    return tools


def _command_problem(argv: object) -> str | None:
    """A command line in one text has parts that no single tag can speak for."""
    if type(argv) is not list or not argv or not all(type(word) is str for word in argv):
        return "shell.run arg 'argv' must be a list of words, with the program first"
    if not _PROGRAM.fullmatch(argv[0]):
        return f"shell.run arg 'argv' begins with {argv[0]!r}; expected the name of one program"
    program = _program_with_a_script(argv)
    if program:
        return f"shell.run arg 'argv' hands a whole script to {program}: one tag cannot cover it"
    return None


def _program_with_a_script(argv: list[str]) -> str | None:
    """Find a program that runs one of the later words as a script; others may start it."""
    options: dict[str, re.Pattern[str]] = {}
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        found = next((name for name in options if options[name].fullmatch(word)), None)
        if found:
            return found
        program = _plain_name(word)
        runs_a_module = program == "python" and following == "-m"  # the rest belongs to the module
        if program in _TAKES_A_SCRIPT and not runs_a_module:
            options[program] = _TAKES_A_SCRIPT[program]
    return None


def _plain_name(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name.rstrip(".0123456789")
