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
_SHELLS = frozenset(
    {"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh"}
)
_TAKES_A_SCRIPT = re.compile(r"-[a-z]*c|-command|/c|/k", re.IGNORECASE)


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
    program = argv[0].replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    if program in _SHELLS and any(_TAKES_A_SCRIPT.fullmatch(word) for word in argv[1:]):
        return f"shell.run arg 'argv' hands a whole script to {program}: one tag cannot cover it"
    return None
