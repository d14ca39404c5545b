"""New minutes for a plan: as the room takes them, within the plan's total."""

from collections.abc import Sequence
from math import floor

# A block that is shorter is not worth announcing.
FLOOR_MINUTES = 5


def propose(
    planned: Sequence[int], taken: Sequence[float | None], keep: Sequence[bool]
) -> list[int]:
    """Share a plan's minutes out as the room takes them; the sum stays the plan's.

    ``taken`` is what a block took, in minutes, None where nobody knows. What is to ``keep`` gets
    no less than the plan gives it, and no block less than ``FLOOR_MINUTES``, unless it had less.
    """
    wanted = [
        max(minutes if known is None else known, 0.5)
        for minutes, known in zip(planned, taken, strict=True)
    ]
    least = [
        minutes if kept else min(minutes, FLOOR_MINUTES)
        for minutes, kept in zip(planned, keep, strict=True)
    ]
    shares = _shares(wanted, least, sum(planned))
    whole = [floor(share) for share in shares]
    # What is left over goes to those who lost most of a minute.
    lost = sorted(range(len(whole)), key=lambda place: whole[place] - shares[place])
    for place in lost[: sum(planned) - sum(whole)]:
        whole[place] += 1
    return whole


def _shares(wanted: Sequence[float], least: Sequence[int], total: int) -> list[float]:
    """Shrink or stretch all that is wanted by one factor, but nothing below its least."""
    held: set[int] = set()
    while True:
        free = [place for place in range(len(wanted)) if place not in held]
        room = total - sum(least[place] for place in held)
        factor = room / sum(wanted[place] for place in free) if free else 0.0
        short = {place for place in free if factor * wanted[place] < least[place]}
        if not short:
            return [
                float(least[place]) if place in held else factor * wanted[place]
                for place in range(len(wanted))
            ]
        held |= short
