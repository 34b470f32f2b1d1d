"""What a loader has found before it is parsed, and the one shape that all parsers are called in.

Found(source="docs/menu.pdf", name="menu.pdf", content=Path("docs/menu.pdf"))
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flowkit.schema.documents import Document
from flowkit.schema.text import clean_text

__all__ = ["Content", "Found", "Parser"]

Content = Path | bytes

Parser = Callable[..., Document | Awaitable[Document]]
"""Makes a document of a path or of bytes: those of `flowkit.rag.parse`, or your own.

It is called with the path or the bytes, and, as far as its signature has them, with `source_name` (what the document's
`source` will be; its ending tells the format), `media_type` ("text/html") and `encoding` ("cp1252"), both None when
nothing says what they are. It may be async. It runs in a thread otherwise.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """`source` goes into the metadata; `name` is a file name, whose ending tells the format."""

    source: str
    name: str
    content: Content | Callable[[], Content]
    """A function is called in a thread when the item's turn comes."""
    size_bytes: int = 0
    media_type: str | None = None
    encoding: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the loader knows of it; put over what the parser says."""

    def __post_init__(self) -> None:
        # Names of files may be no Unicode; documents, reports and logs hold them as they are stored.
        object.__setattr__(self, "source", clean_text(self.source)[0])
