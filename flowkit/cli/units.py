"""Numbers as people read them.

size(1_500_000), duration_ms(1234.5), number(1200)         "1.5 MB", "1.23 s", "1,200"
"""

__all__ = ["ago", "duration_ms", "number", "size"]


def size(size_bytes: int) -> str:
    """In units of 1000 bytes, as disks and file managers count."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value, unit = size_bytes / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if value >= 999.5:
            value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def duration_ms(milliseconds: float) -> str:
    """Three digits that count: `0.42 ms`, `12 ms`, `1.23 s`, `2 min 5 s`, `1 h 3 min`."""
    if milliseconds < 9.995:
        return f"{milliseconds:.2f} ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def number(value: int) -> str:
    return f"{value:,}"


def ago(seconds: float) -> str:
    """How long since: `now`, `40 s ago`, `5 min ago`, `3 h ago`, `2 days ago`."""
    if seconds < 1:
        return "now"
    for limit, divisor, unit in ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // divisor)} {unit} ago"
    days = int(seconds // 86_400)
    return f"{days} day{'s' if days > 1 else ''} ago"
