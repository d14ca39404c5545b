"""What makes a command start quickly: a notebook's kernel is warm, a terminal's process is not."""

import sys


def leave_out_slow_formats() -> None:
    """Keep jsonschema from importing a grammar that takes over a second and that no gate uses.

    JupyterLab brings jsonschema's optional formats along; ``iri`` is the only one this drops.
    """
    if "jsonschema" not in sys.modules:
        sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
