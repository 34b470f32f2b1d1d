"""Documents as Pinecone's records, and back to the letter.

record = encode(document, vector)
document = decode(id, record.metadata)

Metadata that Pinecone holds as it is stands under its own key, where filters find it. The rest (objects, mixed lists,
integers beyond 2**53, keys that it refuses) is JSON in one reserved entry, together with the hashes of the row.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flowkit import Document, ScoredDocument
from flowkit.errors import InvalidInputError, StoreError
from flowkit.plugin import RowKey, TextPart, key_type, metadata_hash, text_hash
from flowkit.rag.stores.hits import stored_document, stored_hits
from flowkit.rag.stores.rules import row_key
from flowkit_pinecone.words import Sparse

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]
    Float64 = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["LARGEST", "LARGEST_METADATA", "ODD", "ROW", "TEXT", "Metric", "Record", "decode", "decode_hits",
           "decode_key", "decode_metadata", "encode", "kinds", "scaled", "short", "stored_length", "units"]  # fmt: skip

Metric = Literal["cosine", "dotproduct", "euclidean"]
TEXT = "flowkit:text"
ROW = "flowkit:row"
"""The reserved entry: 32 hex digits for the text, 32 for the metadata, then JSON, if there is more to say."""
ODD = "odd"
"""A kind beside the types: the key has values that a filter of Pinecone would not see as they are."""
LARGEST = 2**53
LARGEST_METADATA = 40_960
"""Bytes of metadata, text included, that Pinecone takes for one record."""
_HASHES = 64
_UNIT = 2e-7
_NOT_UNIT = 1e-3
_AT_ONCE = 1_000
_DECIMALS = 10
"""Those that tell float32 numbers above 0.001 apart."""
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_read = json.JSONDecoder().decode


class Record(NamedTuple):
    """A document as Pinecone has it. `vector`, as `short` writes it, is None when the stored one stays."""

    metadata: dict[str, Any]
    vector: "Float64 | None"
    size_bytes: int
    """Of the metadata, as it is sent."""
    words: Sparse | None = None


def encode(document: Document, vector: "Float64 | None", length: float | None = None) -> Record:
    """`vector` as `units` gives it; `length` is that of the original, where it was another one.

    Raises:
        InvalidInputError: text and metadata are too big.
    """
    metadata: dict[str, Any] = {}
    odd: dict[str, Any] = {}
    floats: list[str] = []
    for key, value in document.metadata.items():
        if not _is_native(key, value):
            odd[key] = value
            continue
        metadata[key] = list(value) if isinstance(value, list) else value
        if value.__class__ is float and value.is_integer():
            metadata[key] = value + 0.0  # no minus zero
            if math.copysign(1, value) < 0 and value == 0:
                odd[key] = value
            else:
                floats.append(key)
    more: dict[str, Any] = {}
    if odd:
        more["m"] = odd
    if floats:
        more["f"] = floats
    if length is not None:
        more["l"] = length
    text = document.text
    if _is_plain(document):
        hashes = text_hash(text) + metadata_hash(document.metadata)  # as row_key has them, which does more
    else:
        more["c"] = document.to_wire()["content"]
        keyed = row_key(document)
        hashes = keyed.text_hash + keyed.metadata_hash
    metadata[TEXT] = text
    metadata[ROW] = hashes + (_dumps(more) if more else "")
    return Record(metadata, vector, _checked_size(document, metadata))


def units(vectors: "Mapping[str, Float32]", metric: Metric) -> "Iterator[tuple[Float64, float | None]]":
    """Each vector as Pinecone gets it: of length 1, except for euclidean, and `short`. Then the length that gives the
    original back, None where it is the same.

    Raises:
        InvalidInputError: a vector is all zeros, or not of length 1 for dotproduct.
    """
    import numpy as np

    ids = list(vectors)
    for at in range(0, len(ids), _AT_ONCE):
        some = np.array([vectors[id] for id in ids[at : at + _AT_ONCE]], dtype=np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", some, some))
        for id, length in zip(ids[at : at + _AT_ONCE], lengths.tolist(), strict=True):
            if not length:
                raise InvalidInputError(
                    f"the vector of {id!r} is all zeros, which Pinecone does not take",
                    hint="the embedder gave no usable vector; leave the text out",
                )
            if metric == "dotproduct" and abs(length - 1) > _NOT_UNIT:
                raise InvalidInputError(
                    f"the vector of {id!r} has length {length:g}; with metric 'dotproduct' vectors have length 1",
                    hint='use metric="cosine", which takes any length',
                )
        if metric == "euclidean":
            lengths[:] = 1.0
        far = np.abs(lengths - 1) >= _UNIT
        if far.any():
            some[far] /= lengths[far, np.newaxis]
        scales = [length if is_far else None for length, is_far in zip(lengths.tolist(), far.tolist(), strict=True)]
        yield from zip(short(some.astype(np.float32)), scales, strict=True)


def short(numbers: "Float32") -> "Float64":
    """The same numbers, which take half as many digits to write: Python writes out what a float64 has and a float32 has
    not. Whoever reads them as float32 gets the very same."""
    import numpy as np

    wide: Float64 = numbers.astype(np.float64)
    near: Float64 = np.round(wide, _DECIMALS)
    same = near.astype(np.float32) == numbers
    return near if same.all() else np.where(same, near, wide)


def decode(id: str, metadata: Mapping[str, Any] | None) -> Document:
    entries, text, more = _split(id, metadata)
    if "c" in more:
        return Document.from_wire({"content": more["c"], "metadata": entries, "id": id})
    return stored_document(text, entries, id=id)


def decode_hits(rows: Sequence[tuple[float, str, Mapping[str, Any] | None]]) -> list[ScoredDocument]:
    """Rows of score, id and metadata."""
    plain: list[tuple[str, str, dict[str, Any], float]] = []
    for score, id, metadata in rows:
        entries, text, more = _split(id, metadata)
        if "c" in more:
            break
        plain.append((id, text, entries, score))
    else:
        return stored_hits(plain)
    return [ScoredDocument.of(decode(id, metadata), score) for score, id, metadata in rows]


def decode_metadata(id: str, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    return _split(id, metadata)[0]


def decode_key(id: str, metadata: Mapping[str, Any] | None) -> RowKey:
    hashes = str((metadata or {}).get(ROW, ""))
    source = _split(id, metadata)[0].get("source")
    return RowKey(id, source if isinstance(source, str) else None, hashes[:32], hashes[32:_HASHES])


def scaled(id: str, vector: Any, metadata: Mapping[str, Any] | None) -> "Float32":
    """The vector as it was written, before it was brought to length 1."""
    import numpy as np

    unit = np.asarray(vector, dtype=np.float32)
    length = stored_length(id, metadata)
    return unit if length is None else (unit.astype(np.float64) * length).astype(np.float32)


def stored_length(id: str, metadata: Mapping[str, Any] | None) -> float | None:
    found: float | None = _split(id, metadata)[2].get("l")
    return found


def kinds(entries: Iterable[tuple[str, Any]]) -> set[tuple[str, str]]:
    """Key and type of each entry of metadata; ODD too, for a key whose value Pinecone's filters would not see."""
    found: set[tuple[str, str]] = set()
    seen: set[tuple[str, type, bool]] = set()
    for key, value in entries:
        entry = key, value.__class__, _is_native(key, value)
        if entry not in seen:
            seen.add(entry)
            found.add((key, key_type(value)))
            if not entry[2]:
                found.add((key, ODD))
    return found


def _is_native(key: str, value: Any) -> bool:
    if not key or key.startswith(("$", "flowkit:")):
        return False
    if value.__class__ is int:
        return bool(-LARGEST <= value <= LARGEST)
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str) for item in value)
    return isinstance(value, str | bool | float)


def _split(id: str, metadata: Mapping[str, Any] | None) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """A row's metadata as it was written, its text, and what else its reserved entry says."""
    entries = dict(metadata or ())
    row, text = entries.pop(ROW, None), entries.pop(TEXT, "")
    if not isinstance(row, str) or len(row) < _HASHES:
        raise StoreError(f"record {id!r} has no {ROW!r}", hint="it was written by another program; delete it")
    more: dict[str, Any] = {}
    if len(row) > _HASHES:
        try:
            more = _read(row[_HASHES:])
        except ValueError as error:
            raise StoreError(f"record {id!r} holds no JSON in {ROW!r}", hint="write it again") from error
    floats = more.get("f", ())
    for key, value in entries.items():
        # Pinecone gives every number back as a float.
        if value.__class__ is float and value.is_integer() and key not in floats:
            entries[key] = int(value)
        elif value.__class__ is int and key in floats:
            entries[key] = float(value)
    entries.update(more.get("m", {}))
    return entries, text, more


def _is_plain(document: Document) -> bool:
    if len(document.content) != 1:
        return False
    part = document.content[0]
    return type(part) is TextPart and part.model_fields_set == {"text"}


def _checked_size(document: Document, metadata: Mapping[str, Any]) -> int:
    import orjson

    size = len(orjson.dumps(metadata))
    if size <= LARGEST_METADATA:
        return size
    source = document.metadata.get("source")
    place = f" of {source!r}" if isinstance(source, str) else ""
    raise InvalidInputError(
        f"chunk {document.id!r}{place} is too big for Pinecone: {size:,} bytes of text and metadata "
        f"(the text {len(document.text.encode()):,}), {LARGEST_METADATA:,} are allowed; nothing was written",
        hint="split into smaller chunks, or keep long metadata elsewhere",
    )
