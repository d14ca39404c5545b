"""Where strangers' code runs: a child process that gets inputs and returns what the code said.

Nothing in here knows an expected answer. The child is limited in time, memory, output and file
size, and held to its own files where the system can do that (see README).
"""

from instructor.sandbox.process import ChildRun, Limits, run_child
from instructor.sandbox.tiers import tier

__all__ = ["ChildRun", "Limits", "run_child", "tier"]
