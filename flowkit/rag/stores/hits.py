"""Documents out of stored columns, without validating again what was validated when it was stored.

    stored_hit("Tomato soup", {"page": 2}, id="c1", score=0.87)
"""

from typing import Any

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.metadata import StoredMetadata
from flowkit.schema.parts import TextPart

__all__ = ["stored_document", "stored_hit"]

_set = object.__setattr__


def stored_document(text: str, metadata: dict[str, Any], *, id: str) -> Document:
    """A document of one text part. The values must come from a document that was stored."""
    document = object.__new__(Document)
    _fill(document, {"content": (_part(text),), "metadata": _metadata(metadata), "id": id})
    return document


def stored_hit(text: str, metadata: dict[str, Any], *, id: str, score: float) -> ScoredDocument:
    """A hit of one text part, score 0…1. The values must come from a document that was stored."""
    document = object.__new__(ScoredDocument)
    fields = {"content": (_part(text),), "metadata": _metadata(metadata), "id": id, "score": score}
    _fill(document, {**fields, "rerank_score": None})
    return document


# What pydantic's model_construct does, for models whose fields are all at hand: three times as fast, and a search
# builds k of them.
def _fill(document: Document, fields: dict[str, Any]) -> None:
    _set(document, "__dict__", fields)
    _set(document, "__pydantic_fields_set__", set(fields))
    _set(document, "__pydantic_extra__", None)
    _set(document, "__pydantic_private__", {"_cleaned": 0})


def _part(text: str) -> TextPart:
    part = object.__new__(TextPart)
    _set(part, "__dict__", {"metadata": None, "text": text})
    _set(part, "__pydantic_fields_set__", {"text"})
    _set(part, "__pydantic_extra__", None)
    _set(part, "__pydantic_private__", None)
    return part


def _metadata(entries: dict[str, Any]) -> StoredMetadata:
    metadata = StoredMetadata()
    dict.update(metadata, entries)
    return metadata
