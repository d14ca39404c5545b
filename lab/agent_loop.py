"""One dry-run agent loop with all four gates in their places, and a scripted planner.

An attempt carries four things: the plan of a credit, the plan of the run, the call of a tool, and a
tool's result. They meet the four gates in this order, and the first refusal ends the attempt. No
tool is ever called: where one would be, a line is written.
"""

import copy
import html
import importlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import coach
from lab.cards import Note
from lab.strict_json import load_json

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "fixtures" / "agent_loop" / "script.json"
POLICY = ROOT / "fixtures" / "plan_record" / "policy.json"
GATES = ("plan_gate", "plan_record", "assumption_gate", "result_gate")
REFUSALS = {
    "plan_gate": "PlanRejected",
    "plan_record": "PlanRecordError",
    "assumption_gate": "AssumptionGateError",
    "result_gate": "ResultGateError",
}
NOTHING = "nothing"
MARKS = {"accept": "✓", "reject": "✗", "crash": "!", "left out": "–", "not reached": ""}


@dataclass(frozen=True)
class Turn:
    """One attempt: its task, what the planner said, each gate's verdict, and the first refusal."""

    task: int
    says: str
    verdicts: dict[str, str]
    refusal: str


@dataclass(frozen=True)
class Run:
    """A whole run: its turns, and what would have been done."""

    turns: tuple[Turn, ...]
    would_do: tuple[str, ...]

    def __str__(self) -> str:
        """Give the run as text, for a terminal."""
        rows = ["   ".join(("task", *GATES))]
        for turn in self.turns:
            marks = [MARKS[turn.verdicts[gate]].center(len(gate)) for gate in GATES]
            rows += ["   ".join((str(turn.task).ljust(4), *marks)), f"       {turn.refusal}"]
        return "\n".join([*rows, "", "Would have been done:", *(self.would_do or (NOTHING,))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names = ("task", "the planner says", *GATES, "the first refusal")
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in names)
        rows = "".join(f"<tr>{_cells(turn)}</tr>" for turn in self.turns)
        done = "".join(f"<li>{html.escape(line)}</li>" for line in self.would_do or (NOTHING,))
        return f"<table><tr>{head}</tr>{rows}</table><p>Would have been done:</p><ul>{done}</ul>"


class Agent:
    """The four gates in their places, with the memory and the plan record behind them."""

    def __init__(self, record: Path) -> None:
        """Take the gates as they stand in ``lab/``; ``record`` is the plan record's file."""
        self._gates = {name: importlib.import_module(f"lab.{name}") for name in GATES}
        self._memory = self._gates["result_gate"].AgentMemory()
        self._record = self._gates["plan_record"].PlanRecord(record, load_json(POLICY))

    def ask(self, gate: str, documents: Any, now: str) -> tuple[str, str]:
        """Bring an attempt to one gate: the verdict, and the text of a refusal."""
        refusals = tuple(getattr(self._gates[name], error) for name, error in REFUSALS.items())
        try:
            self._bring(gate, documents, now)
        except refusals as error:
            return "reject", str(error) or type(error).__name__
        except Exception as error:  # noqa: BLE001  a pair's gate may raise anything
            return "crash", f"{type(error).__name__}: {error}"
        return "accept", ""

    def _bring(self, gate: str, documents: Any, now: str) -> None:
        module = self._gates[gate]
        if gate == "plan_gate":
            module.gate_plan(documents["plan"])
        elif gate == "plan_record":
            answer = self._record.write_plan(documents["record"], now)
            if answer["status"] != "accepted":
                problems = answer.get("problems", [answer["status"]])
                raise module.PlanRecordError("; ".join(problems))
        elif gate == "assumption_gate":
            module.assert_tool_args_sourced(documents["ledger"])
        else:
            self._memory.append_tool_result(**documents["result"])


def show(leave_out: str = "") -> Run | Note:
    """Run the script with your four gates as they were last saved, with one left out if named."""
    coach.forget()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return run(Path(folder) / "record.jsonl", leave_out)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's module may raise anything
        return Note("The loop cannot run yet.", f"{type(error).__name__}: {error}")


def run(record: Path, leave_out: str = "") -> Run:
    """Run the script; ``record`` is the file of the plan record, ``leave_out`` a gate's name.

    A task ends with the first attempt that no gate refuses. Raises ``ValueError`` for a name that
    is no gate.
    """
    if leave_out not in ("", *GATES):
        raise ValueError(f"leave_out is {leave_out!r}; it must be one of {', '.join(GATES)}")
    script = load_json(SCRIPT)
    agent = Agent(record)
    turns: list[Turn] = []
    would_do: list[str] = []
    for number, task in enumerate(script["tasks"], start=1):
        for attempt in task["attempts"]:
            documents = changed(script["base"], attempt["changes"])
            verdicts, refusal = _meet(agent, documents, attempt["at"], leave_out)
            turns.append(Turn(number, attempt["says"], verdicts, refusal or "none: it goes ahead"))
            if not refusal:
                would_do += _effects(documents)
                break
    return Run(tuple(turns), tuple(would_do))


def changed(base: Any, changes: dict[str, Any]) -> Any:
    """Copy a document with new values at JSON Pointers (RFC 6901) of objects and lists."""
    document = copy.deepcopy(base)
    for pointer, value in changes.items():
        *path, last = pointer.split("/")[1:]
        place = document
        for part in path:
            place = place[int(part)] if isinstance(place, list) else place[part]
        place[last] = value
    return document


def _meet(agent: Agent, documents: Any, now: str, leave_out: str) -> tuple[dict[str, str], str]:
    """Bring one attempt from gate to gate, up to the first refusal."""
    verdicts = dict.fromkeys(GATES, "not reached")
    for gate in GATES:
        if gate == leave_out:
            verdicts[gate] = "left out"
            continue
        verdicts[gate], refusal = agent.ask(gate, documents, now)
        if refusal:
            return verdicts, refusal
    return verdicts, ""


def _effects(documents: Any) -> list[str]:
    """Say what an attempt that nobody refused would have done."""
    credit = documents["plan"]["steps"][0]["args"]
    call = documents["ledger"]["pending_tool"]
    steps = [step for step in documents["record"]["steps"] if step["effect"] != "read"]
    return [
        f"credit {credit['amount_usd']} dollars to {credit['account_id']}",
        *(f"{step['tool']} on {', '.join(step['targets'])}" for step in steps),
        f"{call['name']} with {call['args']}",
        f"remember {documents['result']['payload']}",
    ]


def _cells(turn: Turn) -> str:
    marks = [MARKS[turn.verdicts[gate]] for gate in GATES]
    texts = (str(turn.task), turn.says, *marks, turn.refusal)
    return "".join(f"<td style='text-align:left'>{html.escape(text)}</td>" for text in texts)
