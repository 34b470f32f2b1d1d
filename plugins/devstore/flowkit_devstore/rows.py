"""Documents as columns of `rows`, and metadata as rows of `entries`; both ways.

columns = encode(document)
document = decode(columns.id, columns.text, columns.content, columns.metadata)
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flowkit import Document, ScoredDocument
from flowkit.plugin import TextPart, key_type
from flowkit.rag.stores.hits import stored_document, stored_hits
from flowkit.rag.stores.rules import row_key

__all__ = [
    "BOOL",
    "LONG",
    "LONGEST_VALUE",
    "NUMBER",
    "OTHER",
    "STRING",
    "TYPE_BITS",
    "WORD_COUNT",
    "Columns",
    "decode",
    "decode_hits",
    "encode",
    "entry",
    "key_types",
    "read_metadata",
]

WORD_COUNT = 0
"""The key in `entries` under which each row has the number of its search terms; real keys begin at 1."""
# `entries.type`. Values of one type lie in order there; of OTHER (lists, objects) and LONG strings the index says only
# which rows have one.
BOOL, NUMBER, STRING, OTHER, LONG = range(5)
LONGEST_VALUE = 256
TYPE_BITS = {"bool": 1, "number": 2, "string": 4, "list": 8, "object": 16}
"""`keys.types` is the sum of the types that a key has ever had."""

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


_scan = json.scanner.make_scanner(json.JSONDecoder())  # type: ignore[attr-defined]


def read_metadata(text: str) -> dict[str, Any]:
    """JSON that `encode` wrote."""
    try:
        found: dict[str, Any] = _scan(text, 0)[0]  # decode() would look for space around it
    except (StopIteration, ValueError) as error:
        raise sqlite3.DatabaseError(f"metadata of a row is no JSON: {text[:40]!r}") from error
    return found


class Columns(NamedTuple):
    """A document as `rows` holds it. `content` is None for one plain text part, which is nearly always so."""

    id: str
    text: str
    content: str | None
    metadata: str
    text_hash: bytes
    metadata_hash: bytes


def encode(document: Document) -> Columns:
    key = row_key(document)
    content = None if _is_plain(document) else _dumps(document.to_wire()["content"])
    hashes = bytes.fromhex(key.text_hash), bytes.fromhex(key.metadata_hash)
    return Columns(key.id, document.text, content, _dumps(document.metadata), *hashes)


def _is_plain(document: Document) -> bool:
    """Whether one text part and nothing else is all of the content."""
    if len(document.content) != 1:
        return False
    part = document.content[0]
    return type(part) is TextPart and part.model_fields_set == {"text"}


def decode(id: str, text: str, content: str | None, metadata: str) -> Document:
    if content is None:
        return stored_document(text, read_metadata(metadata), id=id)
    return Document.from_wire({"content": json.loads(content), "metadata": read_metadata(metadata), "id": id})


def decode_hits(rows: Sequence[tuple[str, str, str | None, str]], scores: Sequence[float]) -> list[ScoredDocument]:
    """Rows of id, text, content and metadata, each with its score."""
    found = zip(rows, scores, strict=True)
    if all(row[2] is None for row in rows):
        return stored_hits([(id, text, read_metadata(metadata), score) for (id, text, _, metadata), score in found])
    return [ScoredDocument.of(decode(*row), score) for row, score in found]


def entry(value: Any) -> tuple[int, Any]:
    """Type and value of a metadata value in `entries`."""
    if isinstance(value, bool):
        return BOOL, int(value)
    if isinstance(value, int | float):
        return NUMBER, value
    if isinstance(value, str):
        return (STRING, value) if len(value) <= LONGEST_VALUE else (LONG, "")
    return OTHER, ""


def key_types(metadata: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Each key with the bit of its value's type."""
    for key, value in metadata.items():
        yield key, TYPE_BITS[key_type(value)]
