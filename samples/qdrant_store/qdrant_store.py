"""A vector store in Qdrant: its local mode (a folder, nothing to start), or a server. Vector search and every filter.

ai = Flowkit(plugins=[Local(), Qdrant("menu", path="qdrant-data", embedder="local/all-minilm-l6-v2")])

Qdrant does what is costly, the search by vector. Which rows a filter lets through is decided here, by the evaluator
that all stores share, and Qdrant is told their ids: fine for some ten thousand rows, a beginning for more.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np
from qdrant_client import AsyncQdrantClient, models

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

__all__ = ["Qdrant"]

_STEP = 1_000
_ABOUT = str(uuid5(NAMESPACE_OID, "flowkit"))
Payload = Mapping[str, Any]


class Qdrant(StorePlugin):
    """One index: a collection of rows, and a small one beside it that says what they were made with."""

    name = "qdrant"
    abilities = StoreAbilities(modes=("vector",), exact=False, tells_size=False)

    def __init__(
        self, index: str, *, path: Path | str | None = None, url: str | None = None, embedder: str | None = None
    ) -> None:
        """`path` is a folder for the local mode, which one process at a time can open; `url` is a server's."""
        self.index = index
        self.embedder = embedder
        self._place: dict[str, str] = {"url": url} if url is not None else {"path": str(path or "qdrant-data")}
        self._client: AsyncQdrantClient | None = None
        self._about: dict[str, Any] = {}
        self._writing = asyncio.Lock()

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        embedder = embedder or self.embedder
        async with self._writing:  # of two that come first, one makes the collections
            client = self._client or AsyncQdrantClient(**self._place)  # type: ignore[arg-type]
            try:
                about = await self._read_about(client)
                if about is None and not create:
                    raise NotFoundError(f"there is no index {self.index!r} in Qdrant", hint="index documents first")
                about = about or {"dimension": None, "embedder": None, "types": {}}
                for what, given in (("dimension", dimension), ("embedder", embedder)):
                    if about[what] is not None and given is not None and about[what] != given:
                        raise IdentityError(
                            f"index {self.index!r} was built with {what} {about[what]!r}, not {given!r}",
                            hint="use that one, or build a new index",
                        )
                    about[what] = about[what] or given
                self._about = about
                if create:
                    await self._write_about(client)
                self._client = client
            finally:
                if client is not self._client:
                    await client.close()

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        client = self._opened()
        async with self._writing:
            checked = rules.checked_rows(rows, index=self.index, dimension=self._about["dimension"])
            if not checked:
                return
            kept = await self._points([id for id, (_, vector) in checked.items() if vector is None], vectors=True)
            points = [self._point(id, document, vector, kept) for id, (document, vector) in checked.items()]
            if self._about["dimension"] is None:
                self._about["dimension"] = len(points[0].vector)  # type: ignore[arg-type]
            for document, _ in checked.values():
                for key, value in document.metadata.items():
                    types = self._about["types"].setdefault(key, [])
                    types += [] if key_type(value) in types else [key_type(value)]
            await self._write_about(client)
            for at in range(0, len(points), _STEP):
                await client.upsert(self.index, points[at : at + _STEP])

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        client = self._opened()
        if query.vector is None or query.text is not None:
            raise UnsupportedError(f"qdrant index {self.index!r} has no {query.mode} search", hint='use mode="vector"')
        dimension = self._about["dimension"]
        unit = rules.checked_query(query.vector, index=self.index, dimension=dimension, embedder=self.embedder)
        chosen = await self._matching(query.where) if query.where is not None else None
        if chosen == {} or dimension is None:
            return []
        among = chosen and models.Filter(must=[models.HasIdCondition(has_id=[_key(id) for id in chosen])])
        most = len(chosen) if chosen is not None else (await client.count(self.index)).count
        limit = min(query.k + 1, most)
        while True:
            found = (
                (
                    await client.query_points(
                        self.index, query=unit.tolist(), query_filter=among or None, limit=limit, with_vectors=True
                    )
                ).points
                if limit
                else []
            )
            # Scored again in double precision, so that equal rows tie; where the cut goes through a tie, ids decide.
            hits = sorted(
                ((rules.vector_score(float(np.asarray(p.vector, np.float64) @ unit)), p.payload or {}) for p in found),
                key=lambda hit: (-hit[0], hit[1]["id"]),
            )
            if limit >= most or hits[-1][0] < hits[query.k - 1][0]:
                break
            limit = min(limit * 2, most)
        least = rules.rounded_score(query.min_score)
        return [ScoredDocument.of(_document(row), score) for score, row in hits[: query.k] if score >= least]

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
        vectors = await self._points(page, vectors=True) if with_vectors else {}
        items = (
            EmbeddedDocument(_document(matching[id]), _vector(vectors[id]) if with_vectors else None) for id in page
        )
        return Page(tuple(items), page[-1] if len(order) > limit else None)

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        self._opened()
        for payload in (await self._matching(None)).values():
            key = RowKey(payload["id"], payload["source"], payload["text_hash"], payload["metadata_hash"])
            if source in (None, key.source):
                yield key

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        client = self._opened()
        rules.checked_selector(ids, where)
        async with self._writing:
            matching = await self._matching(where)
            gone = list(matching) if ids is None else [id for id in rules.wanted_ids(ids) if id in matching]
            if gone:
                await client.delete(self.index, models.PointIdsList(points=[_key(id) for id in gone]))
        return len(gone)

    async def clear(self) -> None:
        client = self._opened()
        if await client.collection_exists(self.index):
            await client.delete(self.index, models.FilterSelector(filter=models.Filter()))

    async def stats(self) -> StoreStats:
        client = self._opened()
        count = (await client.count(self.index)).count if await client.collection_exists(self.index) else 0
        types = {key: frozenset(held) for key, held in self._about["types"].items()}
        return StoreStats(count, self._about["dimension"], self._about["embedder"], types)

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _opened(self) -> AsyncQdrantClient:
        if self._client is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")
        return self._client

    async def _read_about(self, client: AsyncQdrantClient) -> dict[str, Any] | None:
        if not await client.collection_exists(self._beside):
            return None
        found = await client.retrieve(self._beside, [_ABOUT])
        return dict(found[0].payload or {}) if found else None

    async def _write_about(self, client: AsyncQdrantClient) -> None:
        if not await client.collection_exists(self._beside):
            await client.create_collection(self._beside, vectors_config={})
        await client.upsert(self._beside, [models.PointStruct(id=_ABOUT, vector={}, payload=self._about)])
        if self._about["dimension"] is not None and not await client.collection_exists(self.index):
            size = models.VectorParams(size=self._about["dimension"], distance=models.Distance.COSINE)
            await client.create_collection(self.index, vectors_config=size)

    @property
    def _beside(self) -> str:
        return f"{self.index}.flowkit"

    async def _points(self, ids: Sequence[str], *, vectors: bool) -> dict[str, models.Record]:
        if not ids or not await self._opened().collection_exists(self.index):
            return {}
        found = await self._opened().retrieve(self.index, [_key(id) for id in ids], with_vectors=vectors)
        return {(record.payload or {})["id"]: record for record in found}

    async def _matching(self, where: Filter | None) -> dict[str, Payload]:
        """Every row that the filter lets through, by id."""
        if where is not None:
            check(where, self._about["types"])
        keep = compile(where) if where is not None else None
        matching: dict[str, Payload] = {}
        offset: Any = None
        while await self._opened().collection_exists(self.index):
            records, offset = await self._opened().scroll(self.index, limit=_STEP, offset=offset)
            for record in records:
                payload = record.payload or {}
                if keep is None or keep(_document(payload).metadata):
                    matching[payload["id"]] = payload
            if offset is None:
                break
        return matching

    def _point(self, id: str, document: Document, vector: Any, kept: Mapping[str, models.Record]) -> models.PointStruct:
        if vector is None and id not in kept:
            raise InvalidInputError(f"{id!r} has no vector, and none is stored", hint="embed it first")
        numbers = np.asarray(_vector(kept[id]) if vector is None else vector, np.float64)
        length = float(np.linalg.norm(numbers))
        if not length:
            raise InvalidInputError(f"the vector of {id!r} is all zeros", hint="Qdrant compares directions only")
        key = rules.row_key(document)
        payload = {
            "id": id,
            "document": document.model_dump_json(by_alias=True, exclude_none=True),
            "source": key.source,
            "text_hash": key.text_hash,
            "metadata_hash": key.metadata_hash,
            "length": length,  # Qdrant keeps vectors at length 1
        }
        return models.PointStruct(id=_key(id), vector=(numbers / length).tolist(), payload=payload)


def _key(id: str) -> str:
    """Qdrant's ids are UUIDs."""
    return str(uuid5(NAMESPACE_OID, id))


def _document(payload: Payload) -> Document:
    return Document.model_validate_json(payload["document"])


def _vector(record: models.Record) -> "np.ndarray[Any, np.dtype[np.float32]]":
    length = float((record.payload or {})["length"])
    return (np.asarray(record.vector, np.float64) * length).astype(np.float32)
