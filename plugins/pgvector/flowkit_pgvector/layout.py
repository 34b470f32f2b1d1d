"""What can be chosen about an index, checked when the store is made: no work, no connection.

layout = checked_layout(index="menu", method="hnsw", distance="cosine", columns={"price": float})
layout.vector_index(3072)        # "halfvec": that many dimensions only fit as half-precision numbers
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from flowkit.errors import InvalidInputError, UnsupportedError
from flowkit.plugin import is_blank
from flowkit_pgvector.names import is_storable

__all__ = ["MAX_DIMENSION", "ColumnType", "Distance", "Layout", "Method", "VectorIndex", "checked_layout"]

Distance = Literal["cosine", "l2", "ip"]
Method = Literal["hnsw", "ivfflat"]
VectorIndex = Literal["vector", "halfvec"]
ColumnType = Literal["bool", "number", "string"]

_COLUMN_TYPES: dict[type, ColumnType] = {bool: "bool", float: "number", int: "number", str: "string"}
# pgvector's limits: an index holds so many dimensions as float32, as float16, and a column so many at all.
_INDEXED_VECTOR = 2_000
_INDEXED_HALFVEC = 4_000
MAX_DIMENSION = 16_000


@dataclass(frozen=True, slots=True)
class Layout:
    """How an index's table is made. `columns` gives metadata keys with a column and an index of their own."""

    distance: Distance
    method: Method | None
    language: str
    columns: Mapping[str, ColumnType]

    def vector_index(self, dimension: int) -> VectorIndex | None:
        """As what numbers an index holds vectors of that dimension; None when there is to be, or can be, no index.

        Raises:
            UnsupportedError: not even a column can hold so many.
        """
        if dimension > MAX_DIMENSION:
            raise UnsupportedError(
                f"pgvector holds vectors of up to {MAX_DIMENSION:,} dimensions, not {dimension:,}",
                hint="ask the embedder for fewer dimensions",
            )
        if self.method is None or dimension > _INDEXED_HALFVEC:
            return None
        return "vector" if dimension <= _INDEXED_VECTOR else "halfvec"

    def is_too_wide(self, dimension: int) -> bool:
        """Whether an index is wanted that pgvector cannot make."""
        return self.method is not None and self.vector_index(dimension) is None


def checked_layout(
    *, distance: str, method: str | None, language: str, columns: Mapping[str, type] | None = None
) -> Layout:
    """The choices as a layout.

    Raises:
        InvalidInputError: a choice that there is not; the hint lists what there is.
    """
    if distance not in get_args(Distance):
        raise InvalidInputError(f"there is no distance {distance!r}", hint="use cosine, l2 or ip")
    if method is not None and method not in get_args(Method):
        raise InvalidInputError(f"there is no vector index {method!r}", hint='use "hnsw", "ivfflat" or None')
    found: dict[str, ColumnType] = {}
    for key, kind in (columns or {}).items():
        if not isinstance(key, str) or is_blank(key) or not is_storable(key):
            raise InvalidInputError(f"{key!r} is no metadata key", hint='use columns={"price": float}')
        if kind not in _COLUMN_TYPES:
            raise InvalidInputError(
                f"column {key!r}: there are no columns of {kind!r}", hint="use float, int, str, bool"
            )
        found[key] = _COLUMN_TYPES[kind]
    return Layout(distance, method, language, found)  # type: ignore[arg-type]
