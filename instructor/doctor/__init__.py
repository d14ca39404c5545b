"""Is this machine ready? A row for each thing that it needs, and what to do where it is not."""

from instructor.doctor.machine import check_machine
from instructor.doctor.rows import PROBLEM, Row
from instructor.doctor.workspace import check_workspace

__all__ = ["PROBLEM", "Row", "check_machine", "check_workspace"]
