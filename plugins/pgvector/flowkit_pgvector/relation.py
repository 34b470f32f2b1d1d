"""The rows that a store searches, as SQL sees them: a table of the plugin, or a source of the user's.

relation = own_relation(names, state, "")
relation.distance()              # 'r.embedding <#> %(flowkit_vector)b'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flowkit.rag.stores.rules import SCORE_DIGITS
from flowkit_pgvector.layout import ColumnType, Distance, Method
from flowkit_pgvector.names import Names
from flowkit_pgvector.registry import IndexState
from flowkit_pgvector.source import Source

__all__ = ["Hit", "Relation", "own_relation", "source_relation"]

Hit = tuple[str, str, str | None, str, float]
"""Id, text, extra, metadata, score (or distance)."""

# Vectors in our tables have length 1, so for them the inner product is the cosine: cheaper, and 0 for a zero vector.
_OWN: dict[Distance, str] = {"cosine": "<#>", "ip": "<#>", "l2": "<->"}
_SOURCE: dict[Distance, str] = {"cosine": "<=>", "ip": "<#>", "l2": "<->"}
# Operator → score 0…1 of a distance.
_SCORES = {
    "<#>": "(1 - {0}) / 2",
    "<=>": "CASE WHEN {0} = 'NaN' THEN 0.5 ELSE 1 - {0} / 2 END",
    "<->": "1 / (1 + {0})",
}
_STEPS = 10**SCORE_DIGITS


@dataclass(frozen=True, eq=False)  # eq=False: the statements made for one are kept by its identity
class Relation:
    """`rows` is a FROM item for the alias `r`, whose columns are id, text, metadata, embedding and, in our own tables,
    namespace, extra, source, words and length. `scope` is the condition that always holds, `values` its parameters."""

    rows: str
    scope: str
    operator: str
    values: Mapping[str, Any]
    own: bool
    type: str = "vector"
    """Of the column `embedding`: vector or halfvec."""
    halfvec_dimension: int | None = None
    """Set when the vector index is over half-precision copies."""
    method: Method | None = None
    lists: int | None = None
    columns: Mapping[str, ColumnType] = field(default_factory=dict)

    def distance(self) -> str:
        """A row's distance from the query, as exactly as the column has it."""
        return f"r.embedding {self.operator} %(flowkit_vector)b::{self.type}"

    def indexed_distance(self) -> str:
        """The expression whose ascending order an index gives."""
        if self.halfvec_dimension is None:
            return self.distance()
        half = f"halfvec({self.halfvec_dimension})"
        return f"r.embedding::{half} {self.operator} %(flowkit_vector)b::{half}"

    def score(self, distance: str) -> str:
        """SQL for the score 0…1, to seven digits, of a distance."""
        score = _SCORES[self.operator].format(distance)
        return f"round(least(1, greatest(0, {score}))::numeric, {SCORE_DIGITS})::float8"

    def scores(self, rows: Sequence[Hit], *, length: float = 1.0) -> list[float]:
        """The same in Python, for rows that end with a distance from a query of this length."""
        match self.operator:
            case "<#>":
                scores = [(1 - row[4] / length) / 2 for row in rows]
            case "<->":
                scores = [1 / (1 + row[4]) for row in rows]
            case _:  # NaN is the cosine of a zero vector
                scores = [0.5 if row[4] != row[4] else 1 - row[4] / 2 for row in rows]
        return [round(score * _STEPS) / _STEPS if 0 <= score <= 1 else float(score > 1) for score in scores]

    @property
    def extra(self) -> str:
        return "r.extra" if self.own else "NULL::text"


def own_relation(names: Names, state: IndexState, namespace: str) -> Relation:
    numbers = None if state.dimension is None else state.layout.vector_index(state.dimension)
    ready = numbers is not None and not (state.method == "ivfflat" and state.lists is None)
    return Relation(
        rows=names.rows,
        scope="r.namespace = %(flowkit_namespace)s::text",
        operator=_OWN[state.distance],
        values={"flowkit_namespace": namespace},
        own=True,
        halfvec_dimension=state.dimension if numbers == "halfvec" else None,
        method=state.method if ready else None,
        lists=state.lists,
        columns=state.columns,
    )


def source_relation(source: Source, distance: Distance, type: str) -> Relation:
    """Rows without text or vector are left out, and so are metadata keys that are null."""
    metadata = "CASE WHEN jsonb_typeof(metadata) = 'object' THEN jsonb_strip_nulls(metadata) ELSE '{}' END AS metadata"
    return Relation(
        rows=f"(SELECT id, text, {metadata}, embedding FROM ({source.to_sql()}) AS given "
        "WHERE text IS NOT NULL AND embedding IS NOT NULL)",
        scope="TRUE",
        operator=_SOURCE[distance],
        values=dict(source.parameters),
        own=False,
        type=type,
    )
