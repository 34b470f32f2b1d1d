"""What a search asks of Pinecone, and what the answer means: by vector, or by words.

asked = ByVector("cosine", vector)
await session.call("search", "query", top_k=3, **asked.arguments)
asked.score(match.score)
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowkit.rag.stores.rules import keyword_score
from flowkit_pinecone.rows import Metric, short
from flowkit_pinecone.session import Row
from flowkit_pinecone.words import Sparse

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["Asked", "ByVector", "ByWords"]

_STEPS = 10**6
"""Pinecone's scores are float32: equal rows must tie, so scores are rounded to what is sure."""
_NO_WORD = 1e-6
"""A row that shares a term has a dot product far above this."""


@dataclass(frozen=True)
class ByVector:
    """The nearest vectors; `vector` has length 1 where the metric is dotproduct."""

    metric: Metric
    vector: "Float32"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        return {"vector": short(self.vector).tolist()}

    def score(self, raw: float) -> float | None:
        """What Pinecone says (a cosine, or the square of a distance) as a score 0…1."""
        score = 1 / (1 + math.sqrt(max(raw, 0.0))) if self.metric == "euclidean" else (1 + raw) / 2
        return round(score * _STEPS) / _STEPS if 0 <= score <= 1 else float(score > 1)

    def compare(self, row: Row) -> float:
        """What Pinecone would say of a row."""
        import numpy as np

        mine, stored = self.vector.astype(np.float64), np.asarray(row.vector, dtype=np.float32).astype(np.float64)
        if self.metric == "euclidean":
            return float(((stored - mine) ** 2).sum())
        return float(stored @ mine) / math.sqrt(float(stored @ stored) * float(mine @ mine))


@dataclass(frozen=True)
class ByWords:
    """The rows that share terms with a text. A vector has to be asked for as well: one of zeros adds nothing."""

    words: Sparse
    dimension: int

    @cached_property
    def arguments(self) -> dict[str, Any]:
        return {"vector": [0.0] * self.dimension, "sparse_vector": self.words}

    def score(self, raw: float) -> float | None:
        """A dot product as a score 0…1; None for a row that shares no term."""
        return round(keyword_score(raw) * _STEPS) / _STEPS if raw > _NO_WORD else None

    def compare(self, row: Row) -> float:
        if row.words is None:
            return 0.0
        weights = dict(zip(self.words["indices"], self.words["values"], strict=True))  # of the question
        held = zip(row.words.indices, row.words.values, strict=True)
        return math.fsum(weights.get(index, 0.0) * value for index, value in held)


Asked = ByVector | ByWords
