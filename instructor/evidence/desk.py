"""Hand the rows of a job to a child, one at a time, and gather what it says about each.

The child asks for a row when it is ready for it, so a student's code never finds an input
that is still to come, nor how many there are, nor what we call them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from instructor.sandbox import ChildRun
from instructor.sandbox.process import Message

NEXT, AT_HAND = "next row", "row at hand"


@dataclass(frozen=True)
class Rows:
    """What was said about each row of a job, by its id; ``trouble`` says why no row was reached."""

    answers: dict[str, Message]
    trouble: str = ""


class Desk:
    """One run's rows, each under a number that says nothing."""

    def __init__(
        self, rows: list[Message], answer: Callable[[Message], Message] | None = None
    ) -> None:
        """Take the rows, and who answers the other calls of the child."""
        self._rows = {str(number): row for number, row in enumerate(rows)}
        self._left = iter(self._rows.items())
        self._answer = answer
        self.handed: list[str] = []

    def answer(self, message: Message) -> Message:
        """Give the next row, or pass another call on with the id of its row."""
        if message["call"] == NEXT:
            number, row = next(self._left, ("", {}))
            if number:
                self.handed.append(number)
            return {"row": {**row, "id": number} if number else None}
        if message["call"] == AT_HAND:
            last = self.handed[-1] if self.handed else None
            return {"row": last, "left": len(self.handed) < len(self._rows)}
        number = str(message.get("row"))
        row = self._rows[number] if number in self.handed[-1:] else {}
        if self._answer is None or not row:
            return {"crash": "ValueError", "text": "this call belongs to no row"}
        return self._answer({**message, "row": row["id"]})

    def gather(self, run: ChildRun) -> dict[str, Message]:
        """Give the answers by the rows' own ids; a row that ended the child says how."""
        answers: dict[str, Message] = {}
        for message in run.messages:
            number = message.get("id")
            if isinstance(number, str) and number in self.handed:
                name = self._rows[number]["id"]
                answers[name] = {**answers.get(name, {}), **message}
        if self.handed and not run.finished:
            name = self._rows[self.handed[-1]]["id"]
            answers[name] = {"ending": run.ending, "at": answers.get(name, {}).get("at", "")}
        return answers

    def trouble(self, run: ChildRun) -> str:
        """Say what kept the child from asking for its first row; "" once it has one.

        Whatever comes later may hold a hidden input and is not for anybody's eyes.
        """
        said = [str(message["trouble"]) for message in run.messages if "trouble" in message]
        return said[0] if said and not self.handed else ""
