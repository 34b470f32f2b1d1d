"""A vector store in LanceDB: columnar files in a folder, nothing to start. Vector search and every filter.

ai = Flowkit(plugins=[Local(), Lance("menu", path="lance-data", embedder="local/all-minilm-l6-v2")])

LanceDB does what is costly, the search by vector. Which rows a filter lets through is decided here, by the evaluator
that all stores share, and LanceDB is told their ids: fine for some ten thousand rows, a beginning for more.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from flowkit import Document, Filter, ScoredDocument
from flowkit.errors import IdentityError, InvalidInputError, NotFoundError, StateError, UnsupportedError
from flowkit.plugin import (
    EmbeddedDocument,
    Page,
    RowKey,
    SearchQuery,
    StoreAbilities,
    StorePlugin,
    StoreStats,
    check,
    compile,
    key_type,
)
from flowkit.rag.stores import rules

__all__ = ["Lance"]

_ABOUT = pa.schema([("name", pa.string()), ("about", pa.string())])
_PLAIN = ["id", "document", "source", "text_hash", "metadata_hash"]
Row = dict[str, Any]


class Lance(StorePlugin):
    """One index: a table of rows, and an entry in the table `flowkit` that says what it was made with."""

    name = "lance"
    abilities = StoreAbilities(modes=("vector",), tells_size=False)

    def __init__(self, index: str, *, path: Path | str = "lance-data", embedder: str | None = None) -> None:
        """`path` is a folder; several processes may read it, one at a time should write."""
        self.index = index
        self.embedder = embedder
        self._path = Path(path)
        self._database: Any = None
        self._about: dict[str, Any] = {}
        self._writing = asyncio.Lock()

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        embedder = embedder or self.embedder
        async with self._writing:  # of two that come first, one makes the tables
            if not (create or self._path.exists()):
                raise NotFoundError(f"there is no index {self.index!r} in {self._path}", hint="index documents first")
            database = self._database or await lancedb.connect_async(self._path)
            about = await self._read_about(database)
            if about is None and not create:
                raise NotFoundError(f"there is no index {self.index!r} in {self._path}", hint="index documents first")
            about = about or {"dimension": None, "embedder": None, "types": {}}
            for what, given in (("dimension", dimension), ("embedder", embedder)):
                if about[what] is not None and given is not None and about[what] != given:
                    raise IdentityError(
                        f"index {self.index!r} was built with {what} {about[what]!r}, not {given!r}",
                        hint="use that one, or build a new index",
                    )
                about[what] = about[what] or given
            self._database, self._about = database, about
            if create:
                await self._write_about()

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        self._opened()
        async with self._writing:
            checked = rules.checked_rows(rows, index=self.index, dimension=self._about["dimension"])
            if not checked:
                return
            kept = await self._rows(
                [id for id, (_, vector) in checked.items() if vector is None], [*_PLAIN, "vector"], all_rows=False
            )
            new = [_row(id, document, vector, kept) for id, (document, vector) in checked.items()]
            self._about["dimension"] = len(new[0]["vector"])
            for document, _ in checked.values():
                for key, value in document.metadata.items():
                    types = self._about["types"].setdefault(key, [])
                    types += [] if key_type(value) in types else [key_type(value)]
            await self._write_about()
            table = await self._table()
            assert table is not None  # its dimension is known by now
            merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            await merge.execute(pa.Table.from_pylist(new, schema=self._schema()))

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        self._opened()
        if query.vector is None or query.text is not None:
            raise UnsupportedError(f"lance index {self.index!r} has no {query.mode} search", hint='use mode="vector"')
        dimension = self._about["dimension"]
        unit = rules.checked_query(query.vector, index=self.index, dimension=dimension, embedder=self.embedder)
        chosen = await self._matching(query.where) if query.where is not None else None
        table = await self._table()
        if table is None or chosen == {}:
            return []
        most = len(chosen) if chosen is not None else await table.count_rows()
        limit = min(query.k + 1, most)
        while limit:
            search = table.vector_search(unit.astype(np.float32)).distance_type("cosine").limit(limit)
            if chosen is not None:
                search = search.where(_among(list(chosen)))
            found = await search.select(["id", "document", "vector", "_distance"]).to_list()
            # Scored again in double precision, so that equal rows tie; where the cut goes through a tie, ids decide.
            hits = sorted(
                ((_score(row["vector"], unit), row) for row in found), key=lambda hit: (-hit[0], hit[1]["id"])
            )
            if limit >= most or hits[-1][0] < hits[query.k - 1][0]:
                least = rules.rounded_score(query.min_score)
                return [ScoredDocument.of(_document(row), score) for score, row in hits[: query.k] if score >= least]
            limit = min(limit * 2, most)
        return []

    async def fetch(
        self,
        *,
        ids: Sequence[str] | None = None,
        where: Filter | None = None,
        cursor: str | None = None,
        limit: int = 100,
        with_vectors: bool = False,
    ) -> Page[EmbeddedDocument]:
        self._opened()
        if limit < 1:
            raise InvalidInputError(f"limit is {limit!r}", hint="ask for 1 or more rows")
        matching = await self._matching(where)
        order = [id for id in (sorted(matching) if ids is None else rules.wanted_ids(ids)) if id in matching]
        if cursor is not None:
            if ids is None:
                order = [id for id in order if id > cursor]
            else:
                order = order[order.index(cursor) + 1 :] if cursor in order else []
        page = order[:limit]
        vectors = await self._rows(page, ["id", "vector"], all_rows=False) if with_vectors else {}
        items = (
            EmbeddedDocument(
                _document(matching[id]), np.asarray(vectors[id]["vector"], np.float32) if with_vectors else None
            )
            for id in page
        )
        return Page(tuple(items), page[-1] if len(order) > limit else None)

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        self._opened()
        for row in (await self._rows([], _PLAIN, all_rows=True)).values():
            if source in (None, row["source"]):
                yield RowKey(row["id"], row["source"], row["text_hash"], row["metadata_hash"])

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        self._opened()
        rules.checked_selector(ids, where)
        async with self._writing:
            matching = await self._matching(where)
            gone = list(matching) if ids is None else [id for id in rules.wanted_ids(ids) if id in matching]
            table = await self._table()
            if gone and table is not None:
                await table.delete(_among(gone))
        return len(gone)

    async def clear(self) -> None:
        self._opened()
        async with self._writing:
            table = await self._table()
            if table is not None:
                await table.delete("true")

    async def stats(self) -> StoreStats:
        self._opened()
        table = await self._table()
        types = {key: frozenset(held) for key, held in self._about["types"].items()}
        count = 0 if table is None else await table.count_rows()
        return StoreStats(count, self._about["dimension"], self._about["embedder"], types)

    async def aclose(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _opened(self) -> None:
        if self._database is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")

    async def _read_about(self, database: Any) -> dict[str, Any] | None:
        if "flowkit" not in (await database.list_tables()).tables:
            return None
        table = await database.open_table("flowkit")
        found = await table.query().where(f"name = {_quoted(self.index)}").to_list()
        return json.loads(found[0]["about"]) if found else None

    async def _write_about(self) -> None:
        """Keep what is known of the index, and make its table as soon as the dimension is known."""
        if await self._read_about(self._database) != self._about:
            table = await self._database.create_table("flowkit", schema=_ABOUT, exist_ok=True)
            merge = table.merge_insert("name").when_matched_update_all().when_not_matched_insert_all()
            row = {"name": self.index, "about": json.dumps(self._about)}
            await merge.execute(pa.Table.from_pylist([row], schema=_ABOUT))
        if self._about["dimension"] is not None:
            await self._database.create_table(f"rows_{self.index}", schema=self._schema(), exist_ok=True)

    def _schema(self) -> pa.Schema:
        plain = [(name, pa.string()) for name in _PLAIN]
        return pa.schema([*plain, ("vector", pa.list_(pa.float32(), self._about["dimension"]))])

    async def _table(self) -> Any:
        """The newest version of the table; None before there are rows."""
        if self._about["dimension"] is None:
            return None
        return await self._database.open_table(f"rows_{self.index}")

    async def _rows(self, ids: Sequence[str], columns: list[str], *, all_rows: bool) -> dict[str, Row]:
        table = await self._table()
        if table is None or not (ids or all_rows):
            return {}
        query = table.query().select(columns)
        found = await (query if all_rows else query.where(_among(ids))).to_list()
        return {row["id"]: row for row in found}

    async def _matching(self, where: Filter | None) -> dict[str, Row]:
        """Every row that the filter lets through, by id."""
        if where is not None:
            check(where, self._about["types"])
        rows = await self._rows([], ["id", "document"], all_rows=True)
        if where is None:
            return rows
        keep = compile(where)
        return {id: row for id, row in rows.items() if keep(_document(row).metadata)}


def _row(id: str, document: Document, vector: Any, kept: dict[str, Row]) -> Row:
    if vector is None and id not in kept:
        raise InvalidInputError(f"{id!r} has no vector, and none is stored", hint="embed it first")
    numbers = kept[id]["vector"] if vector is None else vector
    if not np.any(numbers):
        raise InvalidInputError(f"the vector of {id!r} is all zeros", hint="cosine distance compares directions only")
    key = rules.row_key(document)
    return {
        "id": id,
        "document": document.model_dump_json(by_alias=True, exclude_none=True),
        "source": key.source,
        "text_hash": key.text_hash,
        "metadata_hash": key.metadata_hash,
        "vector": numbers,
    }


def _document(row: Row) -> Document:
    return Document.model_validate_json(row["document"])


def _score(vector: Any, unit: Any) -> float:
    numbers = np.asarray(vector, np.float64)
    return rules.vector_score(float(numbers @ unit / np.linalg.norm(numbers)))


def _among(ids: Sequence[str]) -> str:
    return f"id IN ({', '.join(map(_quoted, ids))})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
