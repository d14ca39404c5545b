"""Evidence ``notebook``: it runs from top to bottom, within its limits, on a copy of its own.

That a notebook ran is evidence that it ran, and of nothing else, so it is never graded. Tags that
would hide a failure are not believed, and the cells that ran are counted.
"""

import atexit
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from instructor.evidence.bench import Bench, Finding
from instructor.sandbox import Limits
from instructor.sandbox.process import MIB, clean_environment, end_strays, running_below
from lab.suite import cut
from lab.workshop import Evidence

PROVISIONER = "failing-closed-fork"
KERNEL_MEMORY = 2048 * MIB
NOTEBOOK_CELLS = 20
# A socket's path has 107 bytes at the most; where reports go deeper, the system's folder serves.
LONGEST_PLACE_FOR_SOCKETS = 70
EXPECTED = "Every cell runs to its end."


# RuntimeError: the kernel died before it could answer.
STOPPED = (CellTimeoutError, CellExecutionError, DeadKernelError, RuntimeError)


@dataclass
class Trace:
    """How far a run came: the cell that was begun last, and the cells that ended well."""

    begun: int = 0
    done: set[int] = field(default_factory=set)

    def begin(self, cell: Any, cell_index: int) -> None:  # noqa: ARG002  nbclient's hook
        """Note that a cell begins."""
        self.begun = cell_index

    def end(self, cell: Any, cell_index: int, execute_reply: dict[str, Any]) -> None:  # noqa: ARG002
        """Note that a cell has ended, if it ended well."""
        if execute_reply["content"]["status"] == "ok":
            self.done.add(cell_index)


class LimitedClient(NotebookClient):
    """nbclient with a cap on what a notebook may send; it has none of its own."""

    output_limit = MIB
    flooded = False

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        """Count a message's size before it is kept."""
        self._received = getattr(self, "_received", 0) + len(str(msg.get("content", "")))
        if self._received > self.output_limit:
            # An error here would let the cell print on until its time is up.
            self.flooded = True
            os.kill(getattr(self.km, "provisioner").pid, signal.SIGKILL)  # noqa: B009  untyped there
            return None
        return super().process_message(msg, cell, cell_index)


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Execute one notebook and say how far it came."""
    file = evidence.options["file"]
    path = bench.snapshot / file
    if not path.is_file():
        return Finding("fail", f"{file} is missing.", "The notebook is there.")
    try:
        notebook, remark = read_notebook(path)
    except ValueError as error:
        return Finding("fail", cut(f"{file} cannot be read: {error}."), "A notebook of format 4.")
    before = running_below()
    trace = Trace()
    try:
        problem = _execute(notebook, file, bench, trace)
    finally:
        end_strays(before)
    ran, total = len(trace.done), len(_code(notebook))
    if problem or ran < total:
        found = problem or "it ends early"
        return Finding(
            "fail", cut(f"{_name(file)}: {found} ({ran} of {total} cells ran)."), EXPECTED
        )
    return Finding("pass", f"{ran} of {total} cells ran.{remark}")


def read_notebook(path: Path) -> tuple[Any, str]:
    """Read a notebook of any format as format 4, with a remark where that was needed.

    Raises ``ValueError`` with the reason where it is no notebook.
    """
    data = path.read_bytes()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text at byte {error.start}") from error
    try:
        raw = json.loads(text)
        version = raw["nbformat"]
        notebook = nbformat.reads(text, as_version=4)
        _clear(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is not a notebook ({type(error).__name__})") from error
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it is not a valid notebook: {reason}") from error
    old = f" It is of the old format {version}; save it once in JupyterLab." if version != 4 else ""
    return notebook, old


def _clear(notebook: Any) -> None:
    """Take away what a student's notebook says about itself: tags, outputs, counts."""
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
        cell.source = str(cell.source)
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []


def _execute(notebook: Any, file: str, bench: Bench, trace: Trace) -> str:
    """Run the cells in a limited kernel; "" when all of them came to their end."""
    short = len(str(bench.scratch)) < LONGEST_PLACE_FOR_SOCKETS
    with (
        bench.copy() as (workspace, scratch),
        tempfile.TemporaryDirectory(prefix="k", dir=bench.scratch if short else None) as sockets,
    ):
        manager = _manager(workspace, Path(sockets), bench)
        client = LimitedClient(
            notebook,
            km=manager,
            timeout=bench.cell_seconds,
            startup_timeout=60,
            shutdown_kernel="immediate",
            force_raise_errors=True,
            skip_cells_with_tag="",
            record_timing=False,
            on_cell_start=trace.begin,
            on_cell_executed=trace.end,
            resources={"metadata": {"path": str((workspace / file).parent)}},
        )
        try:
            client.execute(
                env=clean_environment(scratch),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except STOPPED as error:
            cell = _cell_name(notebook, trace.begun)
            if client.flooded:
                return f"{cell} sends more than {client.output_limit // MIB} MiB of output"
            return f"{cell} {_what_stopped(error, bench)}"
        finally:
            # nbclient would keep every client for the end of this process.
            atexit.unregister(client._cleanup_kernel)
    return bench.shown(_hidden_errors(notebook))


def _what_stopped(error: Exception, bench: Bench) -> str:
    if isinstance(error, CellExecutionError):
        return f"raises {error.ename}: {cut(bench.shown(str(error.evalue)), 300)}"
    if isinstance(error, CellTimeoutError):
        return f"was not done after {bench.cell_seconds:g} seconds"
    return "ends Python itself"


def _manager(workspace: Path, sockets: Path, bench: Bench) -> AsyncKernelManager:
    limits = Limits(
        memory_bytes=KERNEL_MEMORY, cpu_seconds=int(bench.cell_seconds * NOTEBOOK_CELLS)
    )
    manager = AsyncKernelManager(
        connection_file=str(sockets / "kernel.json"), transport="ipc", ip=str(sockets / "s")
    )
    arguments = [json.dumps(limits.for_child()), str(workspace), "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(
        argv=[*arguments, "--HistoryManager.enabled=False"],
        display_name="limited",
        language="python",
        metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER}},
    )
    return manager


def _hidden_errors(notebook: Any) -> str:
    """Find an error that a cell shows but did not raise, as under ``%%capture``."""
    for number, cell in enumerate(_code(notebook), start=1):
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                return f"code cell {number} shows {output.get('ename')}: {output.get('evalue')}"
    return ""


def _cell_name(notebook: Any, index: int) -> str:
    """Name a cell by its place among the code cells, and by its first line."""
    cell = notebook.cells[index]
    number = next((n for n, other in enumerate(_code(notebook), start=1) if other is cell), 0)
    first = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"code cell {number} (“{cut(first.strip(), 60)}”)"


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def _name(file: str) -> str:
    return file.rpartition("/")[2]
