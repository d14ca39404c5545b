"""``lab study``: one command from a fresh checkout, or from yesterday's work, to the notebook.

In a checkout of the course it has ``instructor release`` make a workspace, as a program of its own:
nothing in ``lab/`` knows the instructor's code. In a workspace it only goes on.
"""

import os
import subprocess
import sys
from pathlib import Path

from lab.checks import Checks
from lab.originals import ORIGINALS
from lab.workshop import Workshop, WorkshopError, load_workshop

HOME = "failing-closed"
SETTINGS = ".lab/jupyter"


def study(root: Path, workshop_id: str, to: Path | None, plain: bool) -> int:
    """Go on in a workspace, made before where that is needed; give an exit code."""
    if (root / ORIGINALS).is_dir():
        if to is not None and to.resolve() != root:
            raise WorkshopError(
                f"Found: this is a workspace. Expected: --to in a checkout of the course only. "
                f"Next: leave --to out, or change to {to}."
            )
        return _go_on(root, load_workshop(root, workshop_id), plain)
    if not (root / "instructor").is_dir():
        raise WorkshopError(
            f"Found: no {ORIGINALS} in {root}. Expected: a workspace, or a checkout of the course. "
            "Next: open the first notebook with: jupyter lab"
        )
    target = (to or Path.home() / HOME / workshop_id).expanduser().resolve()
    return _make_and_enter(root, workshop_id, target, plain)


def _make_and_enter(root: Path, workshop_id: str, target: Path, plain: bool) -> int:
    """Make a workspace unless it is there, and go on with the code that stands in it."""
    if not (target / ORIGINALS / "notebooks" / workshop_id).is_dir():
        print(f"Making a workspace for you: {target}", flush=True)
        command = ["-m", "instructor", "release", workshop_id, "--self-study", "--to", str(target)]
        made = run_python(command, root, root)
        if made != 0:
            return made
    else:
        print(f"Going on in {target}", flush=True)
    arguments = ["-m", "lab", "study", workshop_id, *(["--plain"] if plain else [])]
    return run_python(arguments, target, target)


def _go_on(root: Path, workshop: Workshop, plain: bool) -> int:
    print("Looking at what is green already …", flush=True)
    notebook = root / "notebooks" / workshop.id / next_notebook(root, workshop)
    if plain:
        _print_paths(root, workshop, notebook)
        return 0
    print(
        f"Opening {notebook.relative_to(root).as_posix()} in JupyterLab; Ctrl-C here ends it.\n"
        f"To come back: uv run lab study {workshop.id}, in {root}",
        flush=True,
    )
    # Without this the notebook's own folder would be all that JupyterLab shows.
    place = f"--ServerApp.root_dir={root}"
    return run_python(["-m", "jupyterlab", place, str(notebook)], root, root)


def next_notebook(root: Path, workshop: Workshop) -> str:
    """Name the first notebook of which a block is not green, or the first one."""
    checks = Checks(root, workshop)
    for block in workshop.blocks:
        if any(line.outcome != "pass" for line in checks.lines(block.id)):
            return block.notebook
    return workshop.notebooks[0]


def _print_paths(root: Path, workshop: Workshop, notebook: Path) -> None:
    print(f"Folder:   {root}")
    print(f"Notebook: {notebook}")
    for number, name in enumerate(workshop.notebooks, start=1):
        print(f"   {number}:     {root / 'notebooks' / workshop.id / name}")
    print(f"Gate:     {root / workshop.gate.file}")
    print(f"Fixtures: {root / 'fixtures' / workshop.id}")
    print("In VS Code open the folder, then the notebook. Then, in that folder:")
    print(f"To check:     uv run lab check {workshop.id}")
    print(f"To come back: uv run lab study {workshop.id} --plain")


def run_python(arguments: list[str], folder: Path, package: Path) -> int:
    """Run Python in a folder, with the ``lab`` of ``package`` and this Python's programs."""
    old = os.environ
    environment = {
        **old,
        "PYTHONPATH": _joined(str(package), old.get("PYTHONPATH", "")),
        "PATH": _joined(str(Path(sys.executable).parent), old.get("PATH", "")),
        "JUPYTER_CONFIG_PATH": _joined(str(package / SETTINGS), old.get("JUPYTER_CONFIG_PATH", "")),
    }
    process = subprocess.Popen(  # noqa: S603  this Python, and our own arguments
        [sys.executable, *arguments], cwd=folder, env=environment
    )
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # it has got that too, and answers it
            continue


def _joined(*paths: str) -> str:
    return os.pathsep.join(filter(None, paths))
