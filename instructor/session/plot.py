"""Planned and actual minutes as a picture: SVG, to stand in a page or in a file of its own."""

from instructor.report.render import template
from instructor.session.pace import BlockPace, RoomPace, in_words
from instructor.session.sheet import TEMPLATES

WIDTH, ROW, BESIDE = 480, 44, 150
LETTER, LONGEST_TITLE = 7.5, 44


def pace_svg(pace: RoomPace) -> str:
    """Draw a bar of the plan for each block, a dot for each session, and the median session."""
    longest = max(
        [5.0, *(block.planned for block in pace.blocks), *(m for b in pace.blocks for m in b.taken)]
    )
    letters = min(max(len(block.title) for block in pace.blocks), LONGEST_TITLE)
    left = round(24 + LETTER * letters)
    ticks = range(0, int(longest) + 1, 5 if longest <= 40 else 10)
    return template(TEMPLATES, "pace.svg").render(
        pace=pace,
        blocks=pace.blocks,
        left=left,
        row=ROW,
        width=left + WIDTH + BESIDE,
        height=len(pace.blocks) * ROW + 84,
        x=lambda minutes: round(left + WIDTH * minutes / longest, 1),
        ticks=ticks,
        said=described,
        number=_number,
    )


def described(block: BlockPace) -> str:
    """Say in words what the picture shows of a block."""
    if block.median is None:
        return f"{block.title}: {block.planned} minutes planned, no session."
    return (
        f"{block.title}: {block.planned} minutes planned, {_number(block.median)} in the median "
        f"of {in_words(block.taken)}."
    )


def _number(minutes: float) -> str:
    return f"{minutes:.0f}"
