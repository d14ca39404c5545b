"""The pages that are made of templates: every text in them may come from a student."""

import functools
from pathlib import Path

import jinja2


@functools.cache
def template(folder: Path, name: str) -> jinja2.Template:
    """Give a template that escapes all of a text, and fails for what it is not given."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # With a control character, an SVG would be a file that nothing opens.
    environment.filters["printable"] = lambda text: "".join(filter(str.isprintable, text))
    return environment.get_template(name)
