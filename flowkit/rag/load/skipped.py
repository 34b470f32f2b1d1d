"""An item that a loader could not give.

Skipped(source="docs/broken.pdf", reason="is a broken PDF", hint="save it again")
"""

from typing import Any

from pydantic import field_validator

from flowkit.schema.text import clean_text
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

    @field_validator("source", "reason", "hint", mode="before")
    @classmethod
    def _clean(cls, text: Any) -> Any:
        """Names of files may be no Unicode; reports and logs are."""
        return clean_text(text)[0] if isinstance(text, str) else text
