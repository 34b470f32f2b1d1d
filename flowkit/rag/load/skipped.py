"""An item that a loader could not give.

Skipped(source="docs/broken.pdf", reason="is a broken PDF", hint="save it again")
"""

from flowkit.schema.wire import Wire

__all__ = ["Skipped"]


class Skipped(Wire):
    """An item that was left out, and why. What an index has of it stays, unless the item is `empty` now.

    A `source` that ends in a slash is a folder, and stands for all that is under it.
    """

    source: str
    reason: str
    hint: str | None = None
    empty: bool = False
