"""Documents as Chroma's records, and back to the letter.

record = encode(document, vector)
document = decode(id, record.text, record.metadata)

Metadata that Chroma holds as it is stands under its own key, where filters find it. The rest (lists, objects, numbers
that it would change, keys that it refuses) is JSON in one reserved entry, together with the hashes of the row.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from flowkit import Document, ScoredDocument
from flowkit.errors import StoreError
from flowkit.plugin import RowKey, TextPart, key_type
from flowkit.rag.stores.hits import stored_document, stored_hits
from flowkit.rag.stores.rules import row_key

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = [
    "LARGEST",
    "ODD",
    "ROW",
    "WHOLE",
    "Record",
    "decode",
    "decode_hits",
    "decode_key",
    "decode_metadata",
    "encode",
    "is_exact",
    "is_native_key",
    "kinds",
    "scaled",
    "stored_length",
]

ROW = "flowkit:row"
"""The reserved entry: 32 hex digits for the text, 32 for the metadata, then JSON, if there is more to say."""
ODD = "odd"
"""A kind beside the types: the key has values that a filter of Chroma would not see as they are."""
WHOLE = "whole"
"""A kind beside the types: the key has had integers."""
LARGEST = 2**53
_HASHES = 64
_REFUSED = ("$", "#", "chroma:", "flowkit:")
_FLOAT = re.compile(r"-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?")
_UNIT = 2e-7
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_read = json.JSONDecoder().decode


class Record(NamedTuple):
    """A document as Chroma has it. `vector` is of length 1, and None when the stored one stays."""

    text: str
    metadata: dict[str, str | int | float | bool | None]
    vector: "Float32 | None"


def encode(document: Document, vector: "Float32 | None", *, length: float | None = None) -> Record:
    """`length` is the stored vector's, for a record that keeps it (vector None)."""
    metadata: dict[str, str | int | float | bool | None] = {}
    odd: dict[str, Any] = {}
    for key, value in document.metadata.items():
        if not _is_native(key, value):
            odd[key] = value
        elif value.__class__ is float and value == 0:
            metadata[key] = 0.0
            if math.copysign(1, value) < 0:
                odd[key] = value
        else:
            metadata[key] = value
    unit = None
    if vector is not None:
        unit, length = _unit(vector)
    more: dict[str, Any] = {}
    if odd:
        more["m"] = odd
    if length is not None:
        more["l"] = length
    if not _is_plain(document):
        more["c"] = document.to_wire()["content"]
    hashes = row_key(document)
    metadata[ROW] = hashes.text_hash + hashes.metadata_hash + (_dumps(more) if more else "")
    return Record(document.text, metadata, unit)


def decode(id: str, text: str | None, metadata: Mapping[str, Any] | None) -> Document:
    entries, more = _split(id, metadata)
    if "c" in more:
        return Document.from_wire({"content": more["c"], "metadata": entries, "id": id})
    return stored_document(text or "", entries, id=id)


def decode_hits(
    rows: Sequence[tuple[float, str, str | None, Mapping[str, Any] | None]],
) -> list[ScoredDocument]:
    """Rows of score, id, text and metadata."""
    plain: list[tuple[str, str, dict[str, Any], float]] = []
    for score, id, text, metadata in rows:
        entries, more = _split(id, metadata)
        if "c" in more:
            break
        plain.append((id, text or "", entries, score))
    else:
        return stored_hits(plain)
    return [ScoredDocument.of(decode(id, text, metadata), score) for score, id, text, metadata in rows]


def decode_metadata(id: str, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    return _split(id, metadata)[0]


def decode_key(id: str, metadata: Mapping[str, Any] | None) -> RowKey:
    """A row's key, from its metadata alone."""
    hashes = str((metadata or {}).get(ROW, ""))
    source = _split(id, metadata)[0].get("source")
    return RowKey(id, source if isinstance(source, str) else None, hashes[:32], hashes[32:_HASHES])


def scaled(id: str, vector: Any, metadata: Mapping[str, Any] | None) -> "Float32":
    """The vector as it was written, before it was brought to length 1."""
    import numpy as np

    unit = np.asarray(vector, dtype=np.float32)
    length = _split(id, metadata)[1].get("l")
    return unit if length is None else (unit.astype(np.float64) * length).astype(np.float32)


def stored_length(id: str, metadata: Mapping[str, Any] | None) -> float | None:
    found: float | None = _split(id, metadata)[1].get("l")
    return found


def kinds(entries: Iterable[tuple[str, Any]]) -> set[tuple[str, str]]:
    """Key and type of each entry of metadata, and the kinds that decide what Chroma can be asked."""
    found: set[tuple[str, str]] = set()
    seen: set[tuple[str, type, bool]] = set()
    for key, value in entries:
        entry = key, value.__class__, _is_native(key, value)
        if entry in seen:
            continue
        seen.add(entry)
        found.add((key, key_type(value)))
        if isinstance(value, str | int | float) and not entry[2]:
            found.add((key, ODD))
        if value.__class__ is int:
            found.add((key, WHOLE))
    return found


def is_native_key(key: str) -> bool:
    """Whether Chroma takes this key."""
    return not key.startswith(_REFUSED)


def is_exact(number: int | float) -> bool:
    """Whether Chroma stores and compares this number as it is.

    It reads numbers as text, and only a short enough decimal gives the nearest float for sure; beyond 2^53 integers
    and floats would be compared as floats.
    """
    if isinstance(number, int):
        return -LARGEST <= number <= LARGEST
    if not -LARGEST <= number <= LARGEST:
        return False
    found = _FLOAT.fullmatch(repr(number))
    assert found is not None  # a finite number
    whole, part, exponent = found[1], found[2] or "", int(found[3] or 0)
    return int(whole + part) <= LARGEST and abs(exponent - len(part)) <= 22


def _is_native(key: str, value: Any) -> bool:
    """Whether Chroma holds the entry as it is."""
    kind = value.__class__
    if kind is int:
        held = -LARGEST <= value <= LARGEST
    elif kind is float:
        held = is_exact(value)
    else:
        held = kind is str or kind is bool
    return held and is_native_key(key)


def _split(id: str, metadata: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row's metadata as it was written, and what else its reserved entry says."""
    entries = dict(metadata or ())
    row = entries.pop(ROW, None)
    if not isinstance(row, str) or len(row) < _HASHES:
        raise StoreError(f"row {id!r} has no {ROW!r}", hint="it was written by another program; delete it")
    if len(row) == _HASHES:
        return entries, {}
    try:
        more: dict[str, Any] = _read(row[_HASHES:])
    except ValueError as error:
        raise StoreError(f"row {id!r} holds no JSON in {ROW!r}", hint="write it again") from error
    entries.update(more.get("m", {}))
    return entries, more


def _is_plain(document: Document) -> bool:
    if len(document.content) != 1:
        return False
    part = document.content[0]
    return type(part) is TextPart and part.model_fields_set == {"text"}


def _unit(vector: "Float32") -> "tuple[Float32, float | None]":
    """The vector at length 1, and the length that gives it back; None where it was 1 (or 0) before."""
    import numpy as np

    wide = vector.astype(np.float64)
    length = float(np.sqrt(wide @ wide))
    if length == 0 or abs(length - 1) < _UNIT:
        return vector, None
    return (wide / length).astype(np.float32), length
