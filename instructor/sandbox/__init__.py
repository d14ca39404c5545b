"""Where strangers' code runs: a child process that gets inputs and returns what the code said.

Nothing in here knows an expected answer. The child is limited in time, memory, output and file
size; it is not yet contained (see README, "What the sandbox does not do yet").
"""

from instructor.sandbox.process import ChildRun, Limits, run_child

TIER = "limits"

__all__ = ["TIER", "ChildRun", "Limits", "run_child"]
