"""Run two jobs one after another: the first leaves a file wherever it may, the second looks for it.

``python -m tests.kit.instructor.two_jobs FOLDER`` prints which tiers hold, and what was found.
"""

import sys
from pathlib import Path

from instructor.sandbox.selftest import contains
from tests.kit.instructor.test_sandbox import replay

TRIED = """
from pathlib import Path
def decide(plan):
    said = []
    for place in {places}:
        try: said.append(Path(place, "left").{way})
        except OSError: pass
    return said
"""


def main() -> None:
    root = Path(sys.argv[1])
    places = ["/run", "/tmp", "/dev/shm", "/", str(root), str(root / "first/scratch/tmpdir")]  # noqa: S108
    print(contains("A"), contains("B"))
    for name, way in {"first": "write_text('x')", "second": "read_text()"}.items():
        (root / name).mkdir()
        run = replay(root / name, TRIED.format(places=places, way=way))
        print(name, {m["seen"] for m in run.messages if "seen" in m})


if __name__ == "__main__":
    main()
