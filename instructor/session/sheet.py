"""The run sheet: a session on one printed page, for the day when no screen is at hand."""

from datetime import datetime, timedelta
from pathlib import Path

from instructor.report.render import template
from instructor.session.plan import plan_of
from lab.workshop import Workshop

TEMPLATES = Path(__file__).with_name("templates")


def sheet(workshop: Workshop, start: datetime) -> str:
    """Give the page as HTML: schedule with clock times, cues, cuts, outcomes, materials."""
    plan = plan_of(workshop)
    titles = {block.id: block.title for block in workshop.all_blocks}

    def clock(minute: int) -> str:
        return (start + timedelta(minutes=minute)).strftime("%H:%M")

    return template(TEMPLATES, "sheet.html").render(
        workshop=workshop,
        schedule=[(block, plan.begins(place)) for place, block in enumerate(plan.blocks)],
        # What must stay is no offer, whatever the list of cuts says.
        cuts=[cut for cut in workshop.cuts if cut.block not in workshop.keep],
        titles=titles,
        kept=[titles[name] for name in workshop.keep],
        clock=clock,
    )
