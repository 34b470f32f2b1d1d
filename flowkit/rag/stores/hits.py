"""Documents out of stored columns, without validating again what was validated when it was stored.

stored_hit("Tomato soup", {"page": 2}, id="c1", score=0.87)
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.metadata import StoredMetadata
from flowkit.schema.parts import TextPart

__all__ = ["stored_document", "stored_hit", "stored_hits"]

Model = TypeVar("Model", bound=BaseModel)
_new, _new_metadata, _fill = object.__new__, dict.__new__, dict.update
"""Past the checks of constructors and of `Metadata.update`."""
_put_fields, _put_given, _put_extra, _put_private = (
    BaseModel.__dict__[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)
_PART, _DOCUMENT, _HIT = {"text"}, {"content", "metadata", "id"}, {"content", "metadata", "id", "score"}
_CLEAN = {"_cleaned": 0}
"""These say the same of all of them, and are shared: who changes a frozen document copies it, with these."""


def stored_document(text: str, metadata: dict[str, Any], *, id: str) -> Document:
    """A document of one text part. The values must come from a document that was stored."""
    fields = {**_defaults(Document), "content": (_part(text),), "metadata": _metadata(metadata), "id": id}
    return _made(Document, fields, _DOCUMENT, _CLEAN)


def stored_hit(text: str, metadata: dict[str, Any], *, id: str, score: float) -> ScoredDocument:
    """A hit of one text part, score 0…1. The values must come from a document that was stored."""
    return stored_hits([(id, text, metadata, score)])[0]


def stored_hits(rows: Iterable[tuple[str, str, dict[str, Any], float]]) -> list[ScoredDocument]:
    """Hits of one text part each, from id, text, metadata and score 0…1."""
    # What `stored_document` does, all in one: a search pays for each of its hits.
    part_fields, hit_fields = _defaults(TextPart), _defaults(ScoredDocument)
    hits: list[ScoredDocument] = []
    for id, text, metadata, score in rows:
        part, entries, hit = _new(TextPart), _new_metadata(StoredMetadata), _new(ScoredDocument)
        fields = part_fields.copy()
        fields["text"] = text
        _put_fields(part, fields)
        _put_given(part, _PART)
        _put_extra(part, None)
        _put_private(part, None)
        _fill(entries, metadata)
        fields = hit_fields.copy()
        fields["content"] = (part,)
        fields["metadata"] = entries
        fields["id"] = id
        fields["score"] = score
        _put_fields(hit, fields)
        _put_given(hit, _HIT)
        _put_extra(hit, None)
        _put_private(hit, _CLEAN)
        hits.append(hit)
    return hits


def _part(text: str) -> TextPart:
    return _made(TextPart, {**_defaults(TextPart), "text": text}, _PART, None)


def _metadata(entries: dict[str, Any]) -> StoredMetadata:
    metadata = _new_metadata(StoredMetadata)
    _fill(metadata, entries)
    return metadata


def _made(model: type[Model], fields: dict[str, Any], given: set[str], private: dict[str, Any] | None) -> Model:
    # What pydantic's model_construct does, at a fifth of its price, which a search pays for each hit.
    made = _new(model)
    _put_fields(made, fields)
    _put_given(made, given)
    _put_extra(made, None)
    _put_private(made, private)
    return made


@cache
def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """Field → default, in the order of declaration; None stands in for required ones."""
    made = model.model_construct()
    return {name: made.__dict__.get(name) for name in model.model_fields}
