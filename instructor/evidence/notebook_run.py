"""Run a notebook's cells in a limited kernel, and keep what each showed and how long it took."""

import atexit
import contextlib
import functools
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from instructor.evidence.bench import Bench
from instructor.evidence.notebook_file import code_cells
from instructor.sandbox import Limits
from instructor.sandbox.forks import end_session
from instructor.sandbox.places import places, shown_to, work_below
from instructor.sandbox.process import MIB, clean_environment
from instructor.sandbox.prompt_client import PromptClient
from instructor.sandbox.quota import Quota, clear_away, watched
from instructor.sandbox.strays import end_strays, names_beside, running_below
from lab.suite import cut

PROVISIONER = "failing-closed-fork"
KERNEL_MEMORY = 2048 * MIB
NOTEBOOK_CELLS = 20
# A socket's path has 107 bytes at the most; where reports go deeper, the system's folder serves.
LONGEST_PLACE_FOR_SOCKETS = 70

# RuntimeError: the kernel died before it could answer.
STOPPED = (CellTimeoutError, CellExecutionError, DeadKernelError, RuntimeError)


@dataclass
class Trace:
    """How far a run came: the cells that were begun, those that ended well, and the seconds."""

    clock: Callable[[], float] = time.monotonic
    begun: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    kernel: int = 0
    too_much: str = ""
    is_late: bool = False
    survivors: tuple[str, ...] = ()

    def begin(self, cell: Any, cell_index: int) -> None:
        """Note that a cell of code begins; nbclient calls this for every cell."""
        if cell.cell_type == "code" and cell.source.strip():
            self.begun[cell_index] = self.clock()

    def end(self, cell: Any, cell_index: int, execute_reply: dict[str, Any]) -> None:  # noqa: ARG002
        """Note that a cell has ended, and if it ended well."""
        self.ended[cell_index] = self.clock()
        if execute_reply["content"]["status"] == "ok":
            self.done.add(cell_index)

    def note_kernel(self, manager: AsyncKernelManager) -> None:
        """Note the kernel's process; it may still be there when the last cell is done."""
        self.kernel = getattr(manager.provisioner, "pid", 0) or 0

    def end_kernel(self, problem: str) -> None:
        """End the kernel, because of what it has put on the disk."""
        self.too_much = problem
        end_session(self.kernel)

    def seconds_left(self, bench: Bench) -> float:
        """Give the seconds that a cell may take: its own limit, or what is left of the whole."""
        left = bench.cell_seconds * NOTEBOOK_CELLS - (self.clock() - min(self.begun.values()))
        self.is_late = left < bench.cell_seconds
        return max(0.01, min(bench.cell_seconds, left))

    def stop(self) -> None:
        """Note that nothing runs any more."""
        for index in self.begun:
            self.ended.setdefault(index, self.clock())

    def seconds(self, index: int) -> float:
        """Give the seconds that a cell took; 0 where it never began."""
        return self.ended[index] - self.begun[index] if index in self.begun else 0.0


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
            getattr(self.km, "provisioner").process.kill()  # noqa: B009  untyped there
            return None
        return super().process_message(msg, cell, cell_index)


def run_notebook(notebook: Any, file: str, bench: Bench, trace: Trace) -> str:
    """Run the cells and end all that they started; "" when every cell came to its end."""
    before = running_below()
    try:
        return _execute(notebook, file, bench, trace, before)
    finally:
        trace.stop()
        end_strays(before)


def cell_name(notebook: Any, index: int) -> str:
    """Name a cell by its place among the code cells, and by its first line."""
    cell = notebook.cells[index]
    number = next((n for n, other in enumerate(code_cells(notebook), 1) if other is cell), 0)
    first = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"code cell {number} (“{cut(first.strip(), 60)}”)"


def _execute(notebook: Any, file: str, bench: Bench, trace: Trace, before: set[int]) -> str:
    short = len(str(bench.scratch)) < LONGEST_PLACE_FOR_SOCKETS
    with (
        bench.copy() as (workspace, scratch),
        _folder_below(bench.scratch if short else _short()) as sockets,
    ):
        quota = Quota([workspace, scratch, sockets], lambda: trace.kernel)
        manager = _manager(workspace, scratch, sockets, bench)
        client = LimitedClient(
            notebook,
            km=manager,
            timeout=bench.cell_seconds,
            timeout_func=lambda _: trace.seconds_left(bench),
            # What a cell shows has to come as well, and be no longer than is read.
            iopub_timeout=bench.cell_seconds,
            raise_on_iopub_timeout=True,
            startup_timeout=60,
            shutdown_kernel="immediate",
            force_raise_errors=True,
            skip_cells_with_tag="",
            record_timing=False,
            on_notebook_start=lambda **_: trace.note_kernel(manager),
            on_cell_start=trace.begin,
            on_cell_executed=trace.end,
            resources={"metadata": {"path": str((workspace / file).parent)}},
        )
        try:
            with watched(quota, trace.end_kernel):
                client.execute(
                    env=clean_environment(scratch),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
        except STOPPED as error:
            cell = cell_name(notebook, max(trace.begun, default=0))
            if trace.too_much:
                return f"{cell} {trace.too_much.removeprefix('it ')}"
            if client.flooded:
                return f"{cell} sends more than {client.output_limit // MIB} MiB of output"
            if isinstance(error, CellTimeoutError) and trace.is_late:
                whole = bench.cell_seconds * NOTEBOOK_CELLS
                return f"{cell} was not done when all had taken {whole:g} seconds"
            return f"{cell} {_what_stopped(error, bench)}"
        finally:
            # Named before they end: they go with the kernel's session.
            trace.survivors = tuple(sorted(names_beside({trace.kernel, *before})))
            # With a manager that is not its own, nbclient leaves the kernel and its sockets open.
            client._cleanup_kernel()
            # Where the kernel does not start, nbclient keeps the client for this process's end.
            atexit.unregister(client._cleanup_kernel)
    return bench.shown(_hidden_errors(notebook))


@contextlib.contextmanager
def _folder_below(place: Path) -> Iterator[Path]:
    """Give a folder for sockets, in which a kernel may leave whatever it likes."""
    folder = Path(tempfile.mkdtemp(prefix="k", dir=place))
    try:
        yield folder
    finally:
        clear_away(folder)


@functools.cache
def _short() -> Path:
    """Make a folder with a short path, for the sockets of all kernels of this process."""
    folder = Path(tempfile.mkdtemp(prefix="k"))
    atexit.register(clear_away, folder)
    work_below(folder)
    return folder


def _what_stopped(error: Exception, bench: Bench) -> str:
    if isinstance(error, CellExecutionError):
        return f"raises {error.ename}: {cut(bench.shown(str(error.evalue)), 300)}"
    if isinstance(error, CellTimeoutError):
        return f"was not done after {bench.cell_seconds:g} seconds"
    return "ends Python itself"


def _manager(workspace: Path, scratch: Path, sockets: Path, bench: Bench) -> AsyncKernelManager:
    limits = Limits(
        memory_bytes=KERNEL_MEMORY, cpu_seconds=int(bench.cell_seconds * NOTEBOOK_CELLS)
    )
    manager = AsyncKernelManager(
        connection_file=str(sockets / "kernel.json"), transport="ipc", ip=str(sockets / "s")
    )
    manager.client_factory = PromptClient
    folders = [workspace, scratch, sockets]
    held = {"limits": limits.for_child(), "places": places(folders), "shown": shown_to(folders)}
    arguments = [json.dumps(held), str(workspace), "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(
        argv=[*arguments, "--HistoryManager.enabled=False"],
        display_name="limited",
        language="python",
        metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER}},
    )
    return manager


def _hidden_errors(notebook: Any) -> str:
    """Find an error that a cell shows but did not raise, as under ``%%capture``."""
    for number, cell in enumerate(code_cells(notebook), start=1):
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                return f"code cell {number} shows {output.get('ename')}: {output.get('evalue')}"
    return ""
