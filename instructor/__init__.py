"""The instructor's runner: release workspaces, grade what comes back, check the course itself."""

from pathlib import Path

# The course is a checkout: notebooks/, fixtures/ and tests/ stand beside this package.
COURSE = Path(__file__).resolve().parents[1]


class CourseError(Exception):
    """The instructor's work cannot be done as asked; the text says what to do instead."""
