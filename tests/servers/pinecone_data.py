"""The data of a Pinecone server for tests: indexes, namespaces, records, filters, search. No HTTP.

data = Namespace(delay_seconds=0.0)
lsn = data.upsert([{"id": "a", "values": [1, 0], "metadata": {"n": 1}}])
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["Index", "Namespace", "Refused", "matches"]

MOST_METADATA = 40_960
MOST_SPARSE = 1_000
ORDERED: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


class Refused(Exception):
    """A request that the service answers with an error."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass
class Record:
    id: str
    values: list[float]
    metadata: dict[str, Any]
    sparse: dict[int, float] = field(default_factory=dict)
    """Index → value."""


class Namespace:
    """Writes are numbered at once, and reads see them `delay_seconds` later."""

    def __init__(self, delay_seconds: float) -> None:
        self.delay_seconds = delay_seconds
        self._records: dict[str, Record] = {}
        self._pending: list[tuple[float, int, Callable[[dict[str, Record]], None]]] = []
        self._written = 0
        self._seen = 0
        self._matrix: Any = None

    def write(self, change: Callable[[dict[str, Record]], None]) -> int:
        self._written += 1
        self._pending.append((time.monotonic() + self.delay_seconds, self._written, change))
        return self._written

    @property
    def seen(self) -> int:
        """The number of the last write that reads see."""
        self.records()
        return self._seen

    def records(self) -> dict[str, Record]:
        now = time.monotonic()
        while self._pending and self._pending[0][0] <= now:
            _, self._seen, change = self._pending.pop(0)
            change(self._records)
            self._matrix = None
        return self._records

    def matrix(self) -> Any:
        """All vectors, and their lengths."""
        records = self.records()
        if self._matrix is None:
            rows = np.array([record.values for record in records.values()], dtype=np.float64)
            self._matrix = rows, np.linalg.norm(rows, axis=1)
        return self._matrix


@dataclass
class Index:
    """One index, as it was asked for."""

    name: str
    dimension: int
    metric: str
    spec: dict[str, Any]
    made: float
    delay_seconds: float = 0.0
    namespaces: dict[str, Namespace] = field(default_factory=dict)

    def namespace(self, name: str) -> Namespace:
        """To write to: made when it is first named."""
        return self.namespaces.setdefault(name, Namespace(self.delay_seconds))

    def upsert(self, name: str, vectors: Sequence[Mapping[str, Any]]) -> int:
        records = [self._checked(vector) for vector in vectors]
        return self.namespace(name).write(lambda held: held.update({record.id: record for record in records}))

    def delete(self, name: str, ids: Sequence[str] | None) -> int:
        if name not in self.namespaces:
            raise Refused(404, 5, "Namespace not found")

        def change(held: dict[str, Record]) -> None:
            for id in list(held) if ids is None else ids:
                held.pop(id, None)

        return self.namespaces[name].write(change)

    def query(
        self, name: str, vector: Sequence[float], k: int, where: Any, sparse: Mapping[str, Any] | None = None
    ) -> list[tuple[Record, float]]:
        space = self.namespaces.get(name)
        wanted = _sparse(sparse)
        if wanted and self.metric != "dotproduct":
            raise Refused(400, 3, "Index configuration does not support sparse values")
        if len(vector) != self.dimension:
            raise Refused(400, 3, f"Vector dimension {len(vector)} does not match the index's {self.dimension}")
        if space is None or not space.records():
            return []
        records = list(space.records().values())
        query = np.asarray(vector, dtype=np.float64)
        rows, lengths = space.matrix()
        if self.metric == "euclidean":
            scores = ((rows - query) ** 2).sum(axis=1)
        else:
            scores = rows @ query
            if self.metric == "cosine":
                scores = scores / (lengths * np.linalg.norm(query))
        if wanted:
            scores = scores + [sum(wanted[at] * record.sparse[at] for at in wanted.keys() & record.sparse.keys())
                               for record in records]  # fmt: skip
        # Equal ones in no order that anybody could rely on.
        order = np.argsort(scores if self.metric == "euclidean" else -scores, kind="stable")[::1]
        found = ((records[at], float(np.float32(scores[at]))) for at in order)
        kept = ((record, score) for record, score in found if where is None or matches(where, record.metadata))
        return list(islice(kept, k))

    def _checked(self, vector: Mapping[str, Any]) -> Record:
        values = vector.get("values", [])
        if len(values) != self.dimension:
            raise Refused(400, 3, f"Vector dimension {len(values)} does not match the index's {self.dimension}")
        if not any(values):
            raise Refused(400, 3, "Dense vectors must contain at least one non-zero value")
        if not vector["id"].isascii():
            raise Refused(400, 3, "Vector ID must be ASCII")
        metadata = vector.get("metadata") or {}
        if len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode()) > MOST_METADATA:
            raise Refused(400, 3, f"Metadata size exceeds the limit of {MOST_METADATA} bytes per vector")
        stored = {key: _stored(key, value) for key, value in metadata.items()}
        sparse = _sparse(vector.get("sparseValues"))
        return Record(vector["id"], np.asarray(values, dtype=np.float32).tolist(), stored, sparse)


def _sparse(given: Mapping[str, Any] | None) -> dict[int, float]:
    """Sparse values as they are kept, float32."""
    if given is None:
        return {}
    indices, values = given["indices"], given["values"]
    if len(indices) != len(values) or not indices:
        raise Refused(400, 3, "Sparse vector size must be at least 1, with as many values as indices")
    if len(indices) > MOST_SPARSE:
        raise Refused(400, 3, f"Sparse vectors may have at most {MOST_SPARSE} values, got {len(indices)}")
    if len(set(indices)) < len(indices) or not all(0 <= at < 2**32 for at in indices):
        raise Refused(400, 3, "Sparse indices must be unique 32-bit numbers")
    return {at: float(np.float32(value)) for at, value in zip(indices, values, strict=True)}


def matches(where: Mapping[str, Any], metadata: Mapping[str, Any], *, missing_differs: bool = False) -> bool:
    """The filter language. `missing_differs` says whether `$ne` and `$nin` match a record without the key."""
    if not isinstance(where, dict) or not where:
        raise Refused(400, 3, "a filter is an object that is not empty")
    for key, condition in where.items():
        if key in ("$and", "$or"):
            if not isinstance(condition, list) or not condition:
                raise Refused(400, 3, f"{key} takes a list that is not empty")
            parts = [matches(part, metadata, missing_differs=missing_differs) for part in condition]
            if not (all(parts) if key == "$and" else any(parts)):
                return False
            continue
        if key.startswith("$"):
            raise Refused(400, 3, f"{key} is not a valid operator")
        if not isinstance(condition, dict):
            condition = {"$eq": condition}
        if not all(_compared(op, value, key, metadata, missing_differs) for op, value in condition.items()):
            return False
    return True


def _compared(op: str, value: Any, key: str, metadata: Mapping[str, Any], missing_differs: bool) -> bool:
    if op == "$exists":
        return (key in metadata) is value
    stored = metadata.get(key)
    if op in ORDERED:
        if not _is_number(value):
            raise Refused(400, 3, f"the {op} operator takes a number")
        return _is_number(stored) and ORDERED[op](stored, value)
    if op in ("$in", "$nin"):
        if not isinstance(value, list) or not value or not all(_is_number(v) or isinstance(v, str) for v in value):
            raise Refused(400, 3, f"the {op} operator takes a list of strings or numbers")
        same = any(_equal(stored, each) for each in value)
    elif op in ("$eq", "$ne"):
        if not isinstance(value, str | bool | int | float):
            raise Refused(400, 3, f"the {op} operator takes a string, number or bool")
        same = _equal(stored, value)
    else:
        raise Refused(400, 3, f"{op} is not a valid operator")
    if op in ("$eq", "$in"):
        return same
    return missing_differs if key not in metadata else not same


def _equal(stored: Any, value: Any) -> bool:
    if isinstance(stored, list):
        return value in stored
    return type(stored) is type(value if isinstance(value, bool | str) else float(value)) and stored == value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _stored(key: str, value: Any) -> Any:
    if not key or key.startswith("$"):
        raise Refused(400, 3, f"Metadata key {key!r} is not allowed")
    if _is_number(value):
        return float(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    if isinstance(value, str | bool):
        return value
    raise Refused(400, 3, f"Metadata value must be a string, number, boolean or list of strings, got {value!r}")
