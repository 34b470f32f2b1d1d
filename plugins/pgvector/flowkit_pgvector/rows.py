"""Documents as columns of an index's table, and back.

row = encode(document, language="english")
document = decode(row.id, row.text, row.extra, row.metadata)
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import from_json

from flowkit import Document, ScoredDocument
from flowkit.errors import StoreError
from flowkit.plugin import TextPart, key_type
from flowkit.rag.keyword import terms
from flowkit.rag.stores.hits import stored_document, stored_hits
from flowkit.rag.stores.rules import row_key
from flowkit_pgvector.names import is_storable

__all__ = ["Float32", "Row", "decode", "decode_hits", "encode", "key_types", "number_text", "unit_vector"]

Float32 = np.ndarray[Any, np.dtype[np.float32]]

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_dumps_ascii = json.JSONEncoder(separators=(",", ":")).encode
# What JSONB does not give back as it was: floats in the form 1e+16, -0.0, and NUL in a key. Found too often inside of
# strings, but never too seldom.
_ALTERED = re.compile(r"\de\+\d|-0\.0(?![0-9])|\\u0000")
_EXACT = 1e16
"""From here on a float is written as all its digits, so that it compares with integers as Python does."""
_UNIT = 2e-7
"""Vectors whose length is so near to 1 are stored as they are."""


class Row(NamedTuple):
    """A document as columns. `extra` is None unless text and metadata are not all of it, which is rare."""

    id: str
    text: str
    metadata: str
    source: str | None
    extra: str | None
    text_hash: bytes
    metadata_hash: bytes
    words: list[str]


def encode(document: Document, language: str) -> Row:
    key = row_key(document)
    metadata = _dumps(document.metadata)
    whole: dict[str, Any] = {}
    if _ALTERED.search(metadata) or not is_storable(metadata):
        whole["metadata"] = document.metadata
        metadata = _dumps(_comparable(document.metadata))
    if not _is_plain(document):
        whole["content"] = document.to_wire()["content"]
    return Row(
        key.id,
        document.text,
        metadata,
        key.source,
        _dumps_ascii(whole) if whole else None,
        bytes.fromhex(key.text_hash),
        bytes.fromhex(key.metadata_hash),
        terms(document.text, language),
    )


def decode(id: str, text: str, extra: str | None, metadata: str) -> Document:
    if extra is None:
        return stored_document(text, _read(metadata), id=id)
    whole = _read(extra)
    found = whole["metadata"] if "metadata" in whole else _read(metadata)
    if "content" not in whole:
        return stored_document(text, found, id=id)
    return Document.from_wire({"content": whole["content"], "metadata": found, "id": id})


def decode_hits(rows: Sequence[tuple[Any, ...]], scores: Sequence[float]) -> list[ScoredDocument]:
    """Rows that begin with id, text, extra and metadata, each with its score."""
    found = zip(rows, scores, strict=True)
    if all(row[2] is None for row in rows):
        return stored_hits([(row[0], row[1], _read(row[3]), score) for row, score in found])
    return [ScoredDocument.of(decode(*row[:4]), score) for row, score in found]


def key_types(documents: Iterable[Document]) -> set[tuple[str, str]]:
    """Each type and metadata key that occur together."""
    return {(key_type(value), key) for document in documents for key, value in document.metadata.items()}


def number_text(value: int | float) -> str:
    """A finite number as a decimal that means exactly what Python compares."""
    if isinstance(value, float) and abs(value) >= _EXACT:
        return str(int(value))
    return repr(value)


def unit_vector(vector: Float32) -> tuple[Float32, float | None]:
    """The vector at length 1, and the length that gives it back; None where it was 1 (or 0) before."""
    wide = vector.astype(np.float64)
    length = float(np.sqrt(wide @ wide))
    if length == 0 or abs(length - 1) < _UNIT:
        return vector, None
    return (wide / length).astype(np.float32), length


def _is_plain(document: Document) -> bool:
    """Whether one text part and nothing else is all of the content."""
    if len(document.content) != 1:
        return False
    part = document.content[0]
    return type(part) is TextPart and part.model_fields_set == {"text"}


def _comparable(value: Any) -> Any:
    """A copy that JSONB holds, and that filters see as the original."""
    if isinstance(value, float) and abs(value) >= _EXACT:
        return int(value)
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, Mapping):
        return {_storable(key): _comparable(item) for key, item in value.items()}
    return [_comparable(item) for item in value] if isinstance(value, list) else value


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _read(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = from_json(text)
    except ValueError as error:
        raise StoreError(f"a row holds no JSON: {text[:40]!r}", hint="was the table changed by hand?") from error
    return found
