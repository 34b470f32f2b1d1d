"""Date words of the filter text: numbers read off a clock.

date_field("WEEK", datetime(2026, 11, 30))     # 49, the ISO week
"""

from collections.abc import Callable
from datetime import datetime

__all__ = ["CURRENT", "EXTRACT_FIELDS", "FUNCTIONS", "Clock", "date_field", "local_now"]

Clock = Callable[[], datetime]

CURRENT = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"})

FUNCTIONS = {
    "YEAR": "YEAR",
    "MONTH": "MONTH",
    "WEEKOFYEAR": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
}
"""Function names, as in `YEAR(CURDATE())`, and the field that each reads."""

_READERS: dict[str, Callable[[datetime], int]] = {
    "YEAR": lambda now: now.year,
    "MONTH": lambda now: now.month,
    "WEEK": lambda now: now.isocalendar().week,
    "DAY": lambda now: now.day,
    "DOW": lambda now: now.isoweekday(),
    "DOY": lambda now: now.timetuple().tm_yday,
    "HOUR": lambda now: now.hour,
    "MINUTE": lambda now: now.minute,
}
EXTRACT_FIELDS = tuple(_READERS)


def date_field(field: str, now: datetime) -> int:
    """One field of the moment: ISO week, Monday = 1."""
    return _READERS[field](now)


def local_now() -> datetime:
    """The moment in this machine's time zone."""
    return datetime.now().astimezone()
