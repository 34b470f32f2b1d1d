"""How a document is cut: its chunks with their spans, tokens and overlaps, beside the text that they are spans of.

cut(document, "prose", {"maxChars": 1000}, count=estimated_tokens, counted_by="estimate")
"""

from collections.abc import Callable, Mapping
from typing import Any

from flowkit.rag.ingest.defaults import MAX_TOKENS
from flowkit.rag.split import Tokenizer
from flowkit.rag.split.tokens import as_tokenizer
from flowkit.schema.documents import Document
from flowkit.server.preview.shapes import MAX_CHUNKS, ChunkData, OverlapData, SplitPreviewData
from flowkit.server.preview.splitters import make_splitter

__all__ = ["cut"]


def cut(
    document: Document,
    splitter: str,
    settings: Mapping[str, Any],
    *,
    count: Tokenizer | Callable[[str], int],
    counted_by: str,
    max_tokens: int = MAX_TOKENS,
) -> SplitPreviewData:
    """Cut a document.

    Raises:
        NotFoundError: no such splitter.
        InvalidInputError: the settings do not fit, or the text cannot be cut so.
    """
    chunks = make_splitter(splitter, settings, count=count, max_tokens=max_tokens)(document)
    tokens = as_tokenizer(count).count
    text = document.text
    told = []
    before = 0
    for chunk in chunks[:MAX_CHUNKS]:
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        overlap = None
        if start < before:
            shared = text[start : min(before, end)]
            overlap = OverlapData(chars=len(shared), tokens=tokens(shared))
        told.append(
            ChunkData(
                index=chunk.metadata["index"],
                text=chunk.text,
                start=start,
                end=end,
                chars=len(chunk.text),
                tokens=tokens(chunk.text),
                overlap=overlap,
                metadata=dict(chunk.metadata),
            )
        )
        before = max(before, end)
    return SplitPreviewData(
        text=text,
        source=document.source,
        splitter=splitter,
        counted_by=counted_by,
        tokens=tokens(text),
        chunks=tuple(told),
        total=len(chunks),
    )
