"""The SELECTs of a search: by vector, by words (BM25), and by both, fused by rank; each is one statement.

sql = vector_sql(relation, "TRUE", scan="index")

Parameters: flowkit_vector; flowkit_limit, how many rows by vector, and flowkit_near, how many of an index of half
precision; flowkit_terms and flowkit_times, what is asked; flowkit_depth, how long a list is; flowkit_k, how many hits;
flowkit_index; and those of the relation, the filter and `index_settings`.
"""

from functools import lru_cache
from typing import Literal

from flowkit.rag.keyword import BM25_B, BM25_K1
from flowkit.rag.stores.rules import RRF_K, SCORE_DIGITS
from flowkit_pgvector.names import Names
from flowkit_pgvector.relation import Relation

__all__ = ["Scan", "hybrid_sql", "index_settings", "vector_sql", "words_sql"]

Scan = Literal["index", "exact"]
_BY_ID = 'id COLLATE "C"'


@lru_cache(maxsize=256)
def vector_sql(relation: Relation, where: str, *, scan: Scan, settings: str = "TRUE") -> str:
    """Rows by distance: id, text, extra, metadata, distance. At most flowkit_limit, nearest first."""
    columns = f"r.id, r.text, {relation.extra} AS extra, r.metadata::text AS metadata"
    return _near(relation, where, columns, scan=scan, settings=settings)


@lru_cache(maxsize=256)
def words_sql(relation: Relation, names: Names, where: str) -> str:
    """Rows by BM25 over their words: id, text, extra, metadata, score. At most flowkit_depth, best first."""
    return f"""WITH {_words_ctes(relation, names, where)}
SELECT r.id, r.text, {relation.extra}, r.metadata::text, by_words.score
FROM by_words JOIN {relation.rows} AS r ON {relation.scope} AND r.id = by_words.id
ORDER BY by_words.score DESC, by_words.{_BY_ID}"""


@lru_cache(maxsize=256)
def hybrid_sql(relation: Relation, names: Names, where: str, *, scan: Scan, settings: str = "TRUE") -> str:
    """Rows by the fused ranks of both lists, each of flowkit_depth rows: id, text, extra, metadata, sum of shares, and
    how long the list by vector was. At most flowkit_k."""
    near = _near(relation, where, "r.id", scan=scan, settings=settings)
    return f"""WITH near AS MATERIALIZED (
{near}
), scored AS (
SELECT id, {relation.score("distance")} AS score FROM near
), by_vector AS MATERIALIZED (
SELECT id, row_number() OVER (ORDER BY score DESC, {_BY_ID}) AS rank FROM scored
ORDER BY rank LIMIT %(flowkit_depth)s
), {_words_ctes(relation, names, where)}, lists AS (
SELECT id, rank FROM by_vector
UNION ALL
SELECT id, row_number() OVER (ORDER BY score DESC, {_BY_ID}) FROM by_words
), fused AS (
SELECT id, sum(1 / ({RRF_K} + rank)::float8) AS share FROM lists GROUP BY id
ORDER BY share DESC, {_BY_ID} LIMIT %(flowkit_k)s
)
SELECT r.id, r.text, {relation.extra}, r.metadata::text, fused.share, (SELECT count(*) FROM by_vector)
FROM fused JOIN {relation.rows} AS r ON {relation.scope} AND r.id = fused.id
ORDER BY fused.share DESC, fused.{_BY_ID}"""


def _near(relation: Relation, where: str, columns: str, *, scan: Scan, settings: str) -> str:
    distance = relation.distance()
    head = f"SELECT {columns}, {distance} AS distance\nFROM {relation.rows} AS r\nWHERE {relation.scope} AND {where}"
    if scan == "exact":
        # + 0, so that no vector index is used.
        return f"{head}\nORDER BY ({distance}) + 0, r.{_BY_ID} LIMIT %(flowkit_limit)s"
    head = f"{head} AND {settings}\nORDER BY {relation.indexed_distance()}"
    if relation.halfvec_dimension is None:
        return f"{head} LIMIT %(flowkit_limit)s"
    # Half-precision numbers find the neighbourhood, the whole ones put it in order.
    return f"SELECT * FROM (\n{head} LIMIT %(flowkit_near)s\n) AS near ORDER BY distance LIMIT %(flowkit_limit)s"


def _words_ctes(relation: Relation, names: Names, where: str) -> str:
    """Okapi BM25, as flowkit.rag.keyword has it: weights of terms over all rows of the namespace, filtered or not."""
    length = f"{1 - BM25_B} + {BM25_B} * found.length / totals.mean"
    return f"""asked AS (
SELECT * FROM unnest(%(flowkit_terms)s::text[], %(flowkit_times)s::int[]) AS asked (term, times)
), totals AS MATERIALIZED (
SELECT rows, CASE WHEN words > 0 AND rows > 0 THEN words::float8 / rows ELSE 1 END AS mean
FROM {names.namespaces} WHERE index_name = %(flowkit_index)s AND namespace = %(flowkit_namespace)s
), found AS MATERIALIZED (
SELECT r.id, asked.term, cardinality(array_positions(r.words, asked.term)) AS count, cardinality(r.words) AS length,
  ({where}) IS TRUE AS kept
FROM asked JOIN {relation.rows} AS r ON r.words @> ARRAY[asked.term]
WHERE {relation.scope}
), weights AS (
SELECT term, times * {BM25_K1 + 1}::float8
  * ln(1 + (greatest(rows - holding, 0) + 0.5::float8) / (holding + 0.5)) AS weight
FROM (SELECT term, count(*) AS holding FROM found GROUP BY term) AS counted JOIN asked USING (term) CROSS JOIN totals
), sums AS (
SELECT found.id, sum(weights.weight * found.count / (found.count + {BM25_K1} * ({length}))) AS bm25
FROM found JOIN weights USING (term) CROSS JOIN totals WHERE found.kept GROUP BY found.id
), by_words AS MATERIALIZED (
SELECT id, score FROM (
  SELECT id, round((bm25 / (bm25 + 1))::numeric, {SCORE_DIGITS})::float8 AS score FROM sums
) AS rounded WHERE score > 0 ORDER BY score DESC, {_BY_ID} LIMIT %(flowkit_depth)s
)"""


@lru_cache(maxsize=256)
def index_settings(relation: Relation, *, iterative: bool) -> str:
    """A condition that is true, and sets how far a vector index is read, for this statement only: what SET LOCAL does
    in a transaction, without the three round trips of one. It is evaluated once, before the scan begins."""
    wanted: list[str] = []
    if relation.method in ("hnsw", None):
        wanted.append("set_config('hnsw.ef_search', %(flowkit_ef)s::text, true)")
        if iterative:
            wanted.append("set_config('hnsw.iterative_scan', 'relaxed_order', true)")
    if relation.method in ("ivfflat", None):
        wanted.append("set_config('ivfflat.probes', %(flowkit_probes)s::text, true)")
        if iterative:
            wanted.append("set_config('ivfflat.iterative_scan', 'relaxed_order', true)")
    return f"(SELECT {' || '.join(wanted)}) IS NOT NULL"
