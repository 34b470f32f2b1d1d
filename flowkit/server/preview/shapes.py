"""The shapes and the limits of previews of splitting: light, as the dev server itself cuts nothing.

SplitPreviewData.from_wire(told["preview"]).chunks[0].start
"""

from flowkit.schema.wire import JSON, Wire

__all__ = [
    "ESTIMATE",
    "MAX_CHARS",
    "MAX_CHUNKS",
    "PATTERNS",
    "SECONDS",
    "ChunkData",
    "OverlapData",
    "SplitPreviewData",
    "SplitterData",
]

ESTIMATE = "estimate"
"""What counts tokens when no embedder does."""
MAX_CHARS = 1_000_000
MAX_CHUNKS = 2_000
SECONDS = 20
"""How long reading and cutting may take."""
PATTERNS = {"regex": "pattern", "chunk": "delimiters"}
"""Splitters that may be given a regular expression, which may need for ever; and the setting that is one."""


class SplitterData(Wire):
    """A splitter to choose. `settings` is the JSON Schema (2020-12) of what it may be told."""

    name: str
    description: str
    settings: dict[str, JSON]


class OverlapData(Wire):
    """What a chunk repeats of the one before it: `chars` characters of the source text from the chunk's `start` on."""

    chars: int
    tokens: int


class ChunkData(Wire):
    """A chunk. `start` and `end` are its span in the source text, in characters (of Unicode, not of UTF-16).

    The chunk's text is that of its span, up to whitespace.
    """

    index: int
    text: str
    start: int
    end: int
    chars: int
    tokens: int
    overlap: OverlapData | None = None
    """Absent when it repeats nothing."""
    metadata: dict[str, JSON]
    """All of it, as it would be stored: `page`, `heading`, `source`, …"""


class SplitPreviewData(Wire):
    """The text, and how it would be cut."""

    text: str
    source: str | None = None
    splitter: str
    counted_by: str
    """The embedder whose tokenizer counted, or `estimate`."""
    tokens: int
    """Of the whole text."""
    chunks: tuple[ChunkData, ...]
    total: int
    """How many chunks there are; only the first 2000 are in `chunks`."""
