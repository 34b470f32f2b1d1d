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
_set = object.__setattr__


def stored_document(text: str, metadata: dict[str, Any], *, id: str) -> Document:
    """A document of one text part. The values must come from a document that was stored."""
    return _made(Document, {"content": _content(text), "metadata": _metadata(metadata), "id": id})


def stored_hit(text: str, metadata: dict[str, Any], *, id: str, score: float) -> ScoredDocument:
    """A hit of one text part, score 0…1. The values must come from a document that was stored."""
    fields = {"content": _content(text), "metadata": _metadata(metadata), "id": id, "score": score}
    return _made(ScoredDocument, fields)


def _made(model: type[Model], fields: dict[str, Any]) -> Model:
    # What pydantic's model_construct does, at a third of its price, which a search pays k times.
    defaults, private = _template(model)
    made = object.__new__(model)
    _set(made, "__dict__", {**defaults, **fields})
    _set(made, "__pydantic_fields_set__", set(fields))
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None if private is None else private.copy())
    return made


@cache
def _template(model: type[BaseModel]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The defaults of a model's fields, None for required ones, and of its private attributes."""
    made = model.model_construct()
    return {name: made.__dict__.get(name) for name in model.model_fields}, made.__pydantic_private__


def _content(text: str) -> tuple[TextPart]:
    return (_made(TextPart, {"text": text}),)


def _metadata(entries: dict[str, Any]) -> StoredMetadata:
    metadata = StoredMetadata()
    dict.update(metadata, entries)
    return metadata
