"""Small sessions for the tests: a plan of three blocks, and events written as a line of text."""

from datetime import UTC, datetime, timedelta

from instructor.session.clock import state_at
from instructor.session.log import Event
from instructor.session.plan import Plan
from instructor.session.state import State
from lab.workshop import Block, Cue, Cut

NOON = datetime(2026, 9, 5, 12, 0, tzinfo=UTC)


def block(name: str, minutes: int, *cues: tuple[int, str]) -> Block:
    said = tuple(Cue(minute, say) for minute, say in cues)
    return Block(name, f"Do {name}", minutes, "1_first.ipynb", f"{name} is done", (), said)


# talk 0 to 10, build 10 to 30, close 30 to 40; build is what the workshop is for.
PLAN = Plan(
    workshop="toy",
    title="A small workshop",
    blocks=(
        block("talk", 10, (0, "Begin with one question."), (8, "Two minutes to write it down.")),
        block("build", 20, (20, "Freeze the published schema and move on.")),
        block("close", 10),
    ),
    cuts=(
        Cut("talk", 4, "Reading aloud."),
        Cut("station", 15, "The station."),
        Cut("build", 5, "What must stay."),
        Cut("close", 6, "Comparing with the neighbours."),
    ),
    keep=("build",),
    station=block("station", 15),
)


def clock(text: str) -> timedelta:
    """Read ``12`` or ``12:30`` as minutes and seconds."""
    minutes, _, seconds = text.partition(":")
    return timedelta(minutes=int(minutes), seconds=int(seconds or 0))


def events(script: str) -> list[Event]:
    """Read ``0 start, 9:30 minutes 2, 10 next talk``: a time, an event, and what comes with it."""
    return [_event(*row.split()) for row in script.split(",") if row.strip()]


def after(script: str, at: str, plan: Plan = PLAN) -> State:
    """Give the state so long after noon."""
    return state_at(plan, events(script), NOON + clock(at))


def _event(at: str, event: str, value: str = "") -> Event:
    number = int(value) if value.lstrip("-").isdigit() else None
    return Event(
        NOON + clock(at),
        event,
        block=value if value and number is None else None,
        minutes=number if event == "minutes" else None,
        cut=number if event != "minutes" else None,
    )
