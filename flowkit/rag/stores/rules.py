"""What every store holds to: which rows and queries are refused, and how a score is made.

rows = checked_rows(rows, index="menu", dimension=384)
score = vector_score(cosine)
"""

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from flowkit.errors import InvalidInputError
from flowkit.rag.stores.contract import EmbeddedDocument, RowKey, Vector
from flowkit.schema.documents import Document, metadata_hash, text_hash
from flowkit.schema.filters import Filter
from flowkit.schema.parts import TextPart

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]
    Float64 = np.ndarray[Any, np.dtype[np.float64]]
from flowkit.schema.text import clean_text

__all__ = [
    "HYBRID_DEPTH",
    "HYBRID_MAX",
    "RRF_K",
    "SCORE_DIGITS",
    "best_first",
    "checked_direction",
    "checked_query",
    "checked_rows",
    "checked_selector",
    "clean_id",
    "fused_scores",
    "keyword_score",
    "moderate32",
    "rounded_score",
    "row_key",
    "scaled32",
    "vector_score",
    "vector_scores",
    "wanted_ids",
]

SCORE_DIGITS = 7
"""Reported scores are rounded to this: vectors have float32's precision, and equal rows must tie exactly."""
RRF_K = 60
HYBRID_DEPTH = 100
"""How many of each list enter a hybrid search (or k, when that is more)."""
HYBRID_MAX = 2 / (RRF_K + 1)
"""What a row that leads both lists gets; hybrid scores are divided by it."""
_SHORT, _LONG = 1e-3, 1e3
Hit = TypeVar("Hit", bound=tuple[Any, ...])
Key = TypeVar("Key")


def rounded_score(score: float) -> float:
    return round(min(1.0, max(0.0, score)), SCORE_DIGITS)


def vector_score(cosine: float) -> float:
    """Cosine −1…1 as a score 0…1: (1 + cos) / 2. A zero vector counts as cosine 0."""
    return rounded_score((1 + cosine) / 2)


def vector_scores(cosines: "Float64") -> "Float64":
    """`vector_score` of many."""
    import numpy as np

    scores: Float64 = np.rint((1 + cosines) * (10**SCORE_DIGITS / 2)) / 10**SCORE_DIGITS
    return np.abs(np.minimum(scores, 1.0))


def keyword_score(bm25: float) -> float:
    """BM25 0…∞ as a score 0…1: bm25 / (bm25 + 1)."""
    return rounded_score(bm25 / (bm25 + 1))


def checked_rows(
    rows: Iterable[EmbeddedDocument], *, index: str, dimension: int | None
) -> "dict[str, tuple[Document, Float32 | None]]":
    """What an upsert may write: id → document and float32 vector, the last of equal ids.

    A vector of None stays None ("keep the stored one"), unless an earlier row of that id in the same call has one.

    Args:
        index: its name, for messages.
        dimension: what vectors must have; None takes that of the first vector.

    Raises:
        InvalidInputError: a row without id, a vector of another dimension, or one with NaN or infinity.
    """
    import numpy as np

    checked: dict[str, tuple[Document, Float32 | None]] = {}
    for at, row in enumerate(rows):
        if not isinstance(row, EmbeddedDocument):
            raise InvalidInputError(
                f"row {at} for index {index!r} is a {type(row).__name__}", hint="a row is an EmbeddedDocument"
            )
        document = row.document
        if not document.id:
            raise InvalidInputError(f"row {at} for index {index!r} has no id", hint="use document.with_id(…)")
        if row.vector is None:
            earlier = checked.pop(document.id, None)
            checked[document.id] = (document, earlier[1] if earlier else None)
            continue
        vector = _float32(row.vector, f"the vector of {document.id!r}")
        if dimension is None:
            dimension = len(vector)
        _check_dimension(len(vector), dimension, f"the vector of {document.id!r}", index)
        checked.pop(document.id, None)
        checked[document.id] = (document, vector)
    vectors = [vector for _, vector in checked.values() if vector is not None]
    if vectors and not np.isfinite(np.stack(vectors)).all():
        bad = next(id for id, (_, v) in checked.items() if v is not None and not np.isfinite(v).all())
        raise InvalidInputError(
            f"the vector of {bad!r} holds NaN, infinity, or a number beyond float32; nothing was written to {index!r}",
            hint="embed the text again",
        )
    return checked


def checked_query(vector: Vector, *, index: str, dimension: int | None, embedder: str | None) -> "Float64":
    """The query as a float64 unit vector.

    Raises:
        InvalidInputError: another dimension than the index, NaN, infinity, or all zeros, which has no direction.
    """
    import numpy as np

    query = _of_dimension(vector, index, dimension).astype(np.float64)
    return query / math.sqrt(_square(query, index, embedder))


def checked_direction(
    vector: Vector, *, index: str, dimension: int | None, embedder: str | None
) -> "tuple[Float32, float]":
    """The query as it is, in float32, and its length: for stores to whom only the direction matters.

    Raises:
        InvalidInputError: as `checked_query`.
    """
    import numpy as np

    query = _of_dimension(vector, index, dimension)
    return query, math.sqrt(_square(query.astype(np.float64), index, embedder))


def moderate32(vector: "Float32", length: float) -> "Float32":
    """The vector as it is, or at length 1 where that is so far away that a store's float32 sums would not do."""
    return vector if _SHORT < length < _LONG else scaled32(vector, length)


def scaled32(vector: "Float32", length: float) -> "Float32":
    """The vector at length 1."""
    import numpy as np

    return (vector.astype(np.float64) / length).astype(np.float32)


def fused_scores(lists: Iterable[Iterable[Key]]) -> dict[Key, float]:
    """Reciprocal rank fusion of two lists, best first, as scores 0…1: the share of what leads both gets."""
    shares: dict[Key, float] = {}
    for keys in lists:
        for rank, key in enumerate(keys, 1):
            shares[key] = shares.get(key, 0.0) + 1 / (RRF_K + rank)
    return {key: rounded_score(share / HYBRID_MAX) for key, share in shares.items()}


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Tuples that begin with score and id: the best first; of equal scores, the lower id."""
    return sorted(sorted(hits, key=itemgetter(1)), key=itemgetter(0), reverse=True)


def clean_id(id: str) -> str:
    """An id that a store is asked for, as documents have theirs: without what no store can hold."""
    return id if id.isprintable() else clean_text(id)[0]


def wanted_ids(ids: Sequence[str]) -> list[str]:
    """The ids that a fetch or a delete asks for: cleaned as those of documents are, each once, in their order.

    Raises:
        InvalidInputError: `ids` is one string, whose letters would be taken for ids.
    """
    if isinstance(ids, str):
        raise InvalidInputError(f"ids is the string {ids!r}", hint="give a list of ids")
    return list(dict.fromkeys(map(clean_id, ids)))


def checked_selector(ids: Sequence[str] | None, where: Filter | None) -> None:
    """Raises InvalidInputError unless exactly one selector is given, and ids is a list of non-empty strings."""
    if (ids is None) == (where is None):
        raise InvalidInputError("delete takes exactly one of ids and where", hint="to delete every row, call clear()")
    if isinstance(ids, str):
        raise InvalidInputError(f"ids is the string {ids!r}", hint="give a list of ids")
    for id in ids or ():
        if not isinstance(id, str) or not id:
            raise InvalidInputError(f"id {id!r} is empty or not a string")


def row_key(document: Document) -> RowKey:
    """The key that a store's manifest gives for a document. Parts other than text count in the text hash."""
    text, content = document.text, document.content
    is_plain = len(content) == 1 and type(content[0]) is TextPart
    if not is_plain and not all(isinstance(part, TextPart) for part in content):
        text = "\n".join(part.model_dump_json(by_alias=True, exclude_none=True) for part in content)
    return RowKey(
        id=document.id or "",
        source=document.source,
        text_hash=text_hash(text),
        metadata_hash=metadata_hash(document.metadata),
    )


def _float32(vector: Vector, what: str) -> "Float32":
    import numpy as np

    if type(vector) is np.ndarray and vector.dtype == np.float32 and vector.ndim == 1 and vector.size:
        return vector
    try:
        with np.errstate(over="ignore"):  # beyond float32 becomes infinity, which is refused by name
            array = np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{what} is no list of numbers: {error}") from None
    if array.ndim != 1 or not array.size:
        raise InvalidInputError(f"{what} has the shape {array.shape}", hint="give one flat list of numbers")
    return array


def _of_dimension(vector: Vector, index: str, dimension: int | None) -> "Float32":
    query = _float32(vector, "the query vector")
    if dimension is not None:
        _check_dimension(len(query), dimension, "the query vector", index)
    return query


def _square(query: "Float64", index: str, embedder: str | None) -> float:
    """Of the vector's length. Raises InvalidInputError: it has no direction."""
    # One product, and Python for the rest: each further call into numpy takes longer than all of these numbers.
    square = float(query.dot(query))
    if not 0 < square < math.inf:  # NaN fails as well
        what = "is all zeros" if square == 0 else "holds NaN or infinity"
        raise InvalidInputError(
            f"the query vector for index {index!r} {what}",
            hint=f"{f'embedder {embedder!r}' if embedder else 'the embedder'} gave no usable vector for this text",
        )
    return square


def _check_dimension(found: int, wanted: int, what: str, index: str) -> None:
    if found != wanted:
        raise InvalidInputError(
            f"{what} has {found} dimensions, index {index!r} has {wanted}",
            hint="use the embedder that the index was built with, or build a new index",
        )
