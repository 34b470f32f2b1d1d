"""Search in an open index: by vector, by words, or by both.

hits = await search(session, SearchQuery(vector=vector, k=10), ef_search=100, exact_below=1000)
"""

import math
from collections import Counter
from collections.abc import Awaitable
from operator import le
from typing import Any

from flowkit import ScoredDocument
from flowkit.errors import UnsupportedError
from flowkit.plugin import SearchQuery
from flowkit.rag.keyword import query_terms
from flowkit.rag.stores.rules import HYBRID_DEPTH, HYBRID_MAX, checked_direction, rounded_score, scaled32
from flowkit_pgvector.database import Connection, execute
from flowkit_pgvector.relation import Hit
from flowkit_pgvector.rows import decode_hits
from flowkit_pgvector.session import Session
from flowkit_pgvector.statements import Scan, hybrid_sql, index_settings, vector_sql, words_sql

__all__ = ["search"]

_MOST_EF = 1000  # pgvector's limit
_NEARLY = 1e-3
"""So far from 1 a query's length may be for it to be sent as it is; it is divided out of the distances."""
_SLACK = 2e-7
"""pgvector adds up in float32, so a score may be so much too low."""
_HALF_PRECISION = 4
"""So many times more rows are read from an index of half-precision numbers than are wanted."""


async def search(session: Session, query: SearchQuery, *, ef_search: int, exact_below: int) -> list[ScoredDocument]:
    """The best `query.k` rows with score ≥ `min_score`, best first."""
    if query.text is not None and not session.relation.own:
        raise UnsupportedError(
            f"index {session.names.index!r} reads a table that is not the plugin's, and has no search by words",
            hint='use mode="vector", or copy the rows into an index of the plugin',
        )
    dimension = await session.dimension()
    values = dict(session.relation.values)
    length = 1.0
    if query.vector is not None:
        values["flowkit_vector"], length = _vector(session, query, dimension)
    where, more = await session.condition(query.where)
    if dimension is None:
        return []
    values.update(more)
    task = _Search(session, query, where, values, length, ef_search)
    if query.text is not None:
        words = Counter(query_terms(query.text, session.state.language))
        values["flowkit_terms"], values["flowkit_times"] = list(words), list(words.values())
        values["flowkit_index"] = session.names.index
    if query.vector is None:
        rows = await task.by_words() if values["flowkit_terms"] else []
        scores = [row[4] for row in rows]
    else:
        scan: Scan = "exact"
        if not session.relation.own or session.relation.method is not None:
            scan = "exact" if await session.is_small(exact_below) else "index"
        rows, scores, complete = await task.nearest(scan)
        if not complete:
            rows, scores, _ = await task.nearest("exact")
    if any(map(le, scores, scores[1:])):  # they come in order, but for those that round to one score
        order = sorted(zip(scores, rows, strict=True), key=lambda hit: (-hit[0], hit[1][0]))
        scores, rows = [score for score, _ in order], [row for _, row in order]
    count = min(query.k, len(rows))
    if query.min_score:
        least = rounded_score(query.min_score) - _SLACK
        while count and scores[count - 1] < least:
            count -= 1
    return decode_hits(rows[:count], scores[:count])


class _Search:
    def __init__(
        self, session: Session, query: SearchQuery, where: str, values: dict[str, Any], length: float, ef_search: int
    ) -> None:
        self._session = session
        self._query = query
        self._where = where
        self._values = values
        self._length = length
        self._ef_search = ef_search
        self._what = f"search index {session.names.index!r}"

    async def nearest(self, scan: Scan) -> tuple[list[Hit], list[float], bool]:
        """Rows by vector, or by vector and words, and their scores; and whether a vector index gave all that it was
        asked for."""
        session, query = self._session, self._query
        depth = max(query.k, HYBRID_DEPTH) if query.text is not None else query.k
        self._values["flowkit_limit"] = depth
        settings = "TRUE"
        if scan == "index":
            settings = index_settings(session.relation, iterative=session.iterative)
            self._set(depth)
        if query.text is None:
            sql = vector_sql(session.relation, self._where, scan=scan, settings=settings)
            rows = await self._rows(sql)
            return rows, session.relation.scores(rows, length=self._length), scan == "exact" or len(rows) == depth
        self._values["flowkit_depth"], self._values["flowkit_k"] = depth, query.k
        sql = hybrid_sql(session.relation, session.names, self._where, scan=scan, settings=settings)
        rows = await self._rows(sql)
        scores = [rounded_score(row[4] / HYBRID_MAX) for row in rows]
        return rows, scores, scan == "exact" or bool(rows and rows[0][5] == depth)

    def by_words(self) -> Awaitable[list[Hit]]:
        self._values["flowkit_depth"] = self._query.k
        return self._rows(words_sql(self._session.relation, self._session.names, self._where))

    def _set(self, limit: int) -> None:
        relation = self._session.relation
        if relation.halfvec_dimension is not None:
            limit *= _HALF_PRECISION
            self._values["flowkit_near"] = limit
        if not self._session.iterative and self._where != "TRUE":
            limit *= 10  # some of what the index gives will not pass
        self._values["flowkit_ef"] = min(max(self._ef_search, limit), _MOST_EF)
        self._values["flowkit_probes"] = max(10, math.isqrt(relation.lists or 0))

    def _rows(self, sql: str) -> Awaitable[list[Any]]:
        # A filtered search is planned each time anew: how selective a filter is depends on its values.
        prepare = None if self._where == "TRUE" else False

        async def look(connection: Connection) -> list[Any]:
            return await (await execute(connection, sql, self._values, binary=True, prepare=prepare)).fetchall()

        return self._session.database.read(self._what, look)


def _vector(session: Session, query: SearchQuery, dimension: int | None) -> tuple[Any, float]:
    """The query as a float32 array, and its length: 1 or nearly so, unless the distance is l2."""
    assert query.vector is not None
    vector, length = checked_direction(
        query.vector, index=session.names.index, dimension=dimension, embedder=session.state.embedder
    )
    if session.state.distance == "l2":
        return vector, 1.0
    if query.text is not None or abs(length - 1) > _NEARLY:  # in SQL nobody divides by the length
        return scaled32(vector, length), 1.0
    return vector, length
