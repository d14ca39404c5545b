"""Times as they are typed on the command line."""

from datetime import datetime

from instructor import CourseError


def today_at(text: str, now: datetime) -> datetime:
    """Read ``13:00`` as that time today, in the zone of ``now``."""
    try:
        time = datetime.strptime(text, "%H:%M")
    except ValueError:
        raise CourseError(f"{text!r} is no time. Write hours and minutes, as in 13:00.") from None
    return now.replace(hour=time.hour, minute=time.minute, second=0, microsecond=0)
