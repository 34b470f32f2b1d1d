"""Documents out of stored columns, without validating again what was validated when it was stored.

stored_hit("Tomato soup", {"page": 2}, id="c1", score=0.87)
"""

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.metadata import StoredMetadata
from flowkit.schema.parts import TextPart

__all__ = ["stored_document", "stored_hit"]

Model = TypeVar("Model", bound=BaseModel)
_new = object.__new__
_set = object.__setattr__
_PART, _DOCUMENT, _HIT = {"text"}, {"content", "metadata", "id"}, {"content", "metadata", "id", "score"}
_CLEAN = {"_cleaned": 0}
"""These say the same of all of them, and are shared: who changes a frozen document makes a copy, and copies of these."""


def stored_document(text: str, metadata: dict[str, Any], *, id: str) -> Document:
    """A document of one text part. The values must come from a document that was stored."""
    fields = _defaults(Document).copy()
    fields["content"], fields["metadata"], fields["id"] = (_part(text),), _metadata(metadata), id
    return _made(Document, fields, _DOCUMENT, _CLEAN)


def stored_hit(text: str, metadata: dict[str, Any], *, id: str, score: float) -> ScoredDocument:
    """A hit of one text part, score 0…1. The values must come from a document that was stored."""
    fields = _defaults(ScoredDocument).copy()
    fields["content"], fields["metadata"], fields["id"] = (_part(text),), _metadata(metadata), id
    fields["score"] = score
    return _made(ScoredDocument, fields, _HIT, _CLEAN)


def _part(text: str) -> TextPart:
    fields = _defaults(TextPart).copy()
    fields["text"] = text
    return _made(TextPart, fields, _PART, None)


def _metadata(entries: dict[str, Any]) -> StoredMetadata:
    metadata = StoredMetadata.__new__(StoredMetadata)  # past its checks
    dict.update(metadata, entries)
    return metadata


def _made(model: type[Model], fields: dict[str, Any], given: set[str], private: dict[str, Any] | None) -> Model:
    # What pydantic's model_construct does, at a quarter of its price, which a search pays for each hit.
    made = _new(model)
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", given)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", private)
    return made


@cache
def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """Field → default, in the order of declaration; None stands in for required ones."""
    made = model.model_construct()
    return {name: made.__dict__.get(name) for name in model.model_fields}
