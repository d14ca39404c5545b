"""A Jupyter kernel that limits itself first: ``kernel.py LIMITS WORKSPACE -f FILE``."""

import importlib.util
import json
import sys
from pathlib import Path


def main() -> None:
    """Lower the limits, enter the workspace, and become an ordinary ipykernel."""
    path = Path(__file__).with_name("confine.py")
    spec = importlib.util.spec_from_file_location("_courseware_confine", path)
    assert spec is not None  # noqa: S101  a file of ours is there
    assert spec.loader is not None  # noqa: S101
    confine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(confine)
    folder = Path.cwd()
    confine.die_with_parent()
    confine.leave_out_slow_formats()
    # Before the workspace is on the path: no file of the student's can take a module's place.
    import os

    from ipykernel.kernelapp import IPKernelApp

    confine.confine(json.loads(sys.argv[1]))
    confine.enter(sys.argv[2])
    sys.argv[1:3] = []
    os.chdir(folder)
    IPKernelApp.launch_instance()


if __name__ == "__main__":
    main()
