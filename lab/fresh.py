"""Import modules of ``lab/`` as their files stand now, in a process that goes on running.

A notebook's kernel, ``lab watch`` and the coach stay up while a pair edits its files.
"""

import importlib
import sys
import types

# These are the course's own and stay loaded; every other module of lab/ is read again.
_KEPT = frozenset(
    {"lab"}
    | {
        f"lab.{name}"
        for name in (
            "__main__", "cards", "checks", "clock", "coach", "commands", "digests", "fresh",
            "guidance", "hints", "hole_probes", "holes", "originals", "parts", "progress",
            "quick_start", "replay", "report", "report_command", "report_style", "slips",
            "solutions", "strict_json", "study", "suite", "tries", "watch", "whole_file",
            "workshop",
        )
    }
)  # fmt: skip


def fresh(module: str) -> types.ModuleType:
    """Import a module of ``lab/`` as it stands in its file now."""
    forget()
    return importlib.import_module(module)


def forget() -> None:
    """Drop what was imported from ``lab/`` before, so that the next import reads the files."""
    importlib.invalidate_caches()
    # Two saves within one second can leave compiled code that looks up to date.
    sys.dont_write_bytecode = True
    package = sys.modules["lab"]
    for name in [n for n in sys.modules if n.startswith("lab.") and n not in _KEPT]:
        del sys.modules[name]
        package.__dict__.pop(name.removeprefix("lab."), None)
