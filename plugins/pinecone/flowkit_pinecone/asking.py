"""What a search asks of Pinecone, and what the answer means: by vector, or by words.

asked = ByVector("cosine", unit)
await session.call("search", "query", top_k=3, **asked.arguments)
asked.score(match.score)
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowkit.rag.stores.rules import keyword_score, rounded_score
from flowkit_pinecone.rows import Metric
from flowkit_pinecone.session import Row
from flowkit_pinecone.words import Sparse

if TYPE_CHECKING:
    import numpy as np

    Float64 = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["Asked", "ByVector", "ByWords"]

_DIGITS = 6
"""Pinecone's scores are float32: equal rows must tie, so scores are rounded to what is sure."""
_NO_WORD = 1e-6
"""A row that shares a term has a dot product far above this."""


@dataclass(frozen=True)
class ByVector:
    """The nearest vectors; `unit` has length 1, except for euclidean."""

    metric: Metric
    unit: "Float64"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        import numpy as np

        return {"vector": self.unit.astype(np.float32).tolist()}

    def score(self, raw: float) -> float | None:
        """What Pinecone says (a cosine, or the square of a distance) as a score 0…1."""
        score = 1 / (1 + math.sqrt(max(raw, 0.0))) if self.metric == "euclidean" else (1 + raw) / 2
        return round(rounded_score(score), _DIGITS)

    def compare(self, row: Row) -> float:
        """What Pinecone would say of a row."""
        import numpy as np

        stored = np.asarray(row.vector, dtype=np.float32).astype(np.float64)
        if self.metric == "euclidean":
            return float(((stored - self.unit) ** 2).sum())
        return float(stored @ self.unit) / math.sqrt(float(stored @ stored))


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
        return round(keyword_score(raw), _DIGITS) if raw > _NO_WORD else None

    def compare(self, row: Row) -> float:
        if row.words is None:
            return 0.0
        weights = dict(zip(self.words["indices"], self.words["values"], strict=True))  # of the question
        held = zip(row.words.indices, row.words.values, strict=True)
        return math.fsum(weights.get(index, 0.0) * value for index, value in held)


Asked = ByVector | ByWords
