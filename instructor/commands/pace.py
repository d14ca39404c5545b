"""``instructor pace LOG…``: where plan and room part, over the logs of several sessions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from instructor import COURSE, CourseError

if TYPE_CHECKING:
    from instructor.session.log import SessionLog
    from instructor.session.pace import BlockPace, RoomPace
    from instructor.session.plan import Plan

LOGS_HELP = "Logs that `instructor session` wrote; several sessions of one or more workshops."
SVG_HELP = "Also draw it, into this file; with logs of one workshop."
WIDTH = 100


def pace(
    logs: Annotated[list[Path], typer.Argument(help=LOGS_HELP)],
    svg: Annotated[Path | None, typer.Option(help=SVG_HELP)] = None,
) -> None:
    """Say where plan and room part, and propose minutes that still add up."""
    from instructor.report.model import write_text
    from instructor.session.plot import pace_svg

    console = Console(width=max(Console().width, WIDTH), highlight=False, markup=False)
    read = dict(_readable(logs, console))
    workshops = list(dict.fromkeys(log.plan.workshop for log in read.values()))
    if svg and len(workshops) > 1:
        raise CourseError(
            f"These logs are of {len(workshops)} workshops ({', '.join(workshops)}), and --svg "
            "draws one. Give it the logs of one workshop."
        )
    for workshop in workshops:
        own = {path: log for path, log in read.items() if log.plan.workshop == workshop}
        found = _room(own)
        _print(found, console)
        if svg:
            write_text(svg, pace_svg(found))
            console.print(f"Plot: {svg}", soft_wrap=True)


def _readable(logs: list[Path], console: Console) -> Iterator[tuple[Path, "SessionLog"]]:
    """Read what can be read, and say what cannot; raise ``CourseError`` where nothing can."""
    from instructor.session.log import read_log

    wrong = []
    for path in dict.fromkeys(logs):
        try:
            yield path, read_log(path)
        except CourseError as error:
            wrong.append(str(error))
    if len(wrong) == len(set(logs)):
        raise CourseError("\n".join(wrong))
    for reason in wrong:
        console.print(f"Left out: {reason}", soft_wrap=True)


def _room(logs: "dict[Path, SessionLog]") -> "RoomPace":
    """Compare with the plan of today, or with the last log's where the course has none."""
    from instructor.session.pace import room_pace, sitting_of

    plan = _plan_of_today(max(logs.values(), key=lambda log: log.began).plan)
    return room_pace(plan, [sitting_of(path.name, log, plan) for path, log in logs.items()])


def _plan_of_today(plan: "Plan") -> "Plan":
    from instructor.session.plan import plan_of
    from lab.workshop import WorkshopError, load_workshop

    try:
        return plan_of(load_workshop(COURSE, plan.workshop))
    except WorkshopError:
        return plan


def _print(found: "RoomPace", console: Console) -> None:
    counted = sum(bool(sitting.taken) for sitting in found.sittings)
    console.print(f"{found.title} ({found.workshop}): {counted} session{_s(counted)}")
    for sitting in found.sittings:
        for remark in sitting.remarks:
            console.print(f"  {sitting.name}: {remark}.", soft_wrap=True)
    if not counted:
        console.print("  There is nothing to compare yet: no block came to an end.")
        return
    console.print(_table(found))
    if not found.parts:
        console.print("Plan and room agree.")
        return
    for block in found.parts:
        console.print(f"{block.said}.", soft_wrap=True)
    console.print(_advice(found), soft_wrap=True)


def _table(found: "RoomPace") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("block")
    for name in ("plan", "room", "from–to", "over", "under", "green at", "try"):
        table.add_column(name, justify="right")
    for block in found.blocks:
        table.add_row(*_cells(block))
    total = f"{found.taken:.0f}"
    table.add_row("all", str(found.planned), total, "", "", "", "", str(found.planned))
    return table


def _cells(block: "BlockPace") -> list[str]:
    from statistics import median

    marks = f"{' (stays)' if block.keep else ''}{f' (cut {block.cut}×)' if block.cut else ''}"
    row = [f"{block.title}{marks}", str(block.planned)]
    if block.median is None:
        return [*row, "–", "", "", "", "", str(block.proposed)]
    spread = f"{min(block.taken):.0f}–{max(block.taken):.0f}"
    green = f"{median(block.reached):.0f} of {block.ends}" if block.reached else ""
    counts = [f"{number} of {len(block.taken)}" for number in (block.over, block.under)]
    return [*row, f"{block.median:.0f}", spread, *counts, green, str(block.proposed)]


def _advice(found: "RoomPace") -> str:
    changed = [
        f"{block.id} {block.planned} → {block.proposed}"
        for block in found.blocks
        if block.proposed != block.planned
    ]
    if not changed:
        return "The minutes cannot be shared out better: what else there is must not shrink."
    text = f"To try, within the same {found.planned} minutes: {', '.join(changed)}."
    if found.taken > found.planned:
        text += f" The room takes {found.taken:.0f}; what is taken from a block has to go from it."
    where = f"notebooks/{found.workshop}/timing.toml"
    return (
        f"{text} They stand in {where} and in its notebooks; instructor check says if they agree."
    )


def _s(number: int) -> str:
    return "" if number == 1 else "s"
