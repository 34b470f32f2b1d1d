"""The vector stores of an app as tools see them: `POST /api/stores/<operation>`, which Genkit has not.

Route("/api/stores/list", AskRoute(store_answers(ai)["list"]), methods=["POST"])
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from flowkit.core.loops import run_on
from flowkit.core.types import problems, summary
from flowkit.errors import FlowkitError, InvalidInputError, NotFoundError, UnsupportedError
from flowkit.rag.embedder import CachedEmbedder
from flowkit.rag.stores.abilities import NamespacedStore, abilities_of
from flowkit.rag.stores.contract import SearchMode, SearchQuery, VectorStore
from flowkit.rag.stores.look import count_matching, opened_to_look, sources_of
from flowkit.rag.stores.rules import row_key
from flowkit.rag.stores.serve import SearchOptions, StoreActions, served_by
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import F, Filter
from flowkit.schema.retrieval import RetrieverRequest
from flowkit.schema.wire import Wire
from flowkit.server.errors import wire_error
from flowkit.server.reflection.run_route import Ask
from flowkit.server.store_shapes import (
    Abilities,
    AskStore,
    DeletedDocuments,
    DeleteDocuments,
    GetDocument,
    ListDocuments,
    NamespaceData,
    SourceData,
    SourceList,
    StoreData,
    StoredDocument,
    StoredDocumentDetails,
    StoredDocuments,
    StoreDetails,
    StoreList,
    StoreProblem,
    VectorData,
)

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["store_answers"]

_LOOK_SECONDS = 5.0
_TEXT_CHARACTERS = 2_000
_COUNTED_ROWS = 200_000
_SOURCES = 1_000
_FIRST_NUMBERS = 16
_NAMESPACES = 200


class _Stores:
    """What can be asked of the stores. Every method runs on the app's loop, where its connections are."""

    def __init__(self, ai: "Flowkit") -> None:
        self._ai = ai

    async def list(self, asked: Wire) -> StoreList:
        """Every index; one that does not answer within 5 seconds has a problem."""
        names = sorted(self._ai.stores)
        return StoreList(stores=tuple(await asyncio.gather(*map(self._data, names))))

    async def stats(self, asked: AskStore) -> StoreDetails:
        return StoreDetails(store=await self._data(self._name(asked.store)))

    async def sources(self, asked: AskStore) -> SourceList:
        async with opened_to_look(self._store(asked)) as store:
            counts, complete = await sources_of(store, rows=_COUNTED_ROWS)
        ordered = sorted(counts, key=lambda source: source or "")
        listed = tuple(SourceData(source=source, count=counts[source]) for source in ordered[:_SOURCES])
        return SourceList(sources=listed, complete=complete and len(ordered) <= _SOURCES)

    async def documents(self, asked: ListDocuments) -> StoredDocuments:
        where = _where(asked.source, asked.where)
        if asked.q is not None:
            return await self._search(asked, asked.q, where)
        async with opened_to_look(self._store(asked)) as store:
            page = await store.fetch(where=where, cursor=asked.cursor, limit=asked.limit)
        return StoredDocuments(documents=tuple(_listed(row.document) for row in page.items), cursor=page.cursor)

    async def document(self, asked: GetDocument) -> StoredDocumentDetails:
        async with opened_to_look(self._store(asked)) as store:
            page = await store.fetch(ids=[asked.id], limit=1, with_vectors=True)
        if not page.items:
            raise NotFoundError(f"index {asked.store!r} has no document {asked.id!r}", hint="it may have been deleted")
        row = page.items[0]
        key = row_key(row.document)
        wire = row.document.to_wire()
        return StoredDocumentDetails(
            id=row.id,
            text=row.document.text,
            content=tuple(wire["content"]),
            metadata=wire.get("metadata") or {},
            source=row.document.source,
            text_hash=key.text_hash,
            metadata_hash=key.metadata_hash,
            vector=None if row.vector is None else _vector(row.vector),
        )

    async def delete(self, asked: DeleteDocuments) -> DeletedDocuments:
        name = self._name(asked.store)
        if not abilities_of(self._ai.stores[name]).writes:
            raise UnsupportedError(f"nothing can be deleted from {name}", hint="it reads what others keep")
        where = _where(asked.source, asked.where)
        async with opened_to_look(self._ai.stores[name]) as store:
            if asked.dry_run or asked.all:
                deleted = await _count(store, asked, where)
                if asked.all and not asked.dry_run:
                    await store.clear()
            else:
                deleted = await store.delete(ids=asked.ids, where=where)
        return DeletedDocuments(deleted=deleted, dry_run=asked.dry_run)

    def _name(self, name: str) -> str:
        stores = self._ai.stores
        if name in stores:
            return name
        matches = [full for full in stores if full.endswith("/" + name)]
        if len(matches) == 1:
            return matches[0]
        there = f"there are: {', '.join(sorted(stores))}" if stores else "this app has no vector store"
        raise NotFoundError(f"no vector store {name!r}", hint=there)

    def _store(self, asked: AskStore) -> VectorStore:
        return self._ai.stores[self._name(asked.store)]

    async def _actions(self, name: str) -> StoreActions:
        actions = served_by(await self._ai.registry.get(f"/retriever/{name}"))
        assert actions is not None  # every store of an app has them
        return actions

    async def _data(self, name: str) -> StoreData:
        store, actions = self._ai.stores[name], await self._actions(name)
        can = abilities_of(store)
        provider, slash, index = name.partition("/")
        facts: dict[str, Any] = {"built": False, "retriever_embedder": actions.embedder}
        try:
            async with asyncio.timeout(_LOOK_SECONDS), opened_to_look(store) as found:
                stats = await found.stats()
                facts["namespaces"] = await _namespaces(found)
            facts |= {
                "built": True,
                "count": stats.count,
                "dimension": stats.dimension,
                "embedder": stats.embedder,
                "size_bytes": stats.size_bytes,
                "key_types": {key: tuple(sorted(types)) for key, types in sorted(stats.key_types.items())},
            }
        except NotFoundError:
            pass  # nothing was indexed so far
        except TimeoutError:
            message = f"{name} did not answer within {_LOOK_SECONDS:.0f} seconds"
            facts["problem"] = StoreProblem(code="failed", message=message, hint="look whether its server runs")
        except Exception as error:  # noqa: BLE001  a store of others may raise anything; the rest is listed all the same
            told = wire_error(error)
            facts["problem"] = StoreProblem(code="failed", message=told["message"], hint=told["details"].get("hint"))
        facts |= await self._compared(actions, facts)
        return StoreData(
            name=name,
            provider=provider if slash else type(store).__name__.lower(),
            index=index if slash else name,
            indexer=f"/indexer/{name}",
            retriever=f"/retriever/{name}",
            abilities=Abilities(
                modes=can.modes,
                unsupported_filters=can.unsupported_filters,
                exact=can.exact,
                writes=can.writes,
                namespaces=can.namespaces,
                tells_size=can.tells_size,
            ),
            mode=actions.mode,
            **facts,
        )

    async def _compared(self, actions: StoreActions, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The retriever's embedder, and in what the index differs from it."""
        if actions.embedder is None:
            message = f"index {actions.name!r} has no embedder, so it can be searched by keyword only"
            hint = 'name one: embedder="local/all-minilm-l6-v2"'
            return {"warnings": (StoreProblem(code="noEmbedder", message=message, hint=hint),)}
        try:
            embedder = await CachedEmbedder.of(self._ai.registry, actions.embedder)
        except FlowkitError as error:
            return {"warnings": (StoreProblem(code="embedderMissing", message=error.message, hint=error.hint),)}
        warnings = []
        built, now = facts.get("embedder"), embedder.name
        if built is not None and built != now:
            message = f"the index was built with {built}, and the app would search it with {now}"
            hint = f"use {built}, or index the documents again into a new index"
            warnings.append(StoreProblem(code="embedder", message=message, hint=hint))
        size, wanted = facts.get("dimension"), embedder.info.dimensions
        if size is not None and wanted is not None and size != wanted:
            message = f"the vectors of the index have {size} numbers, those of {now} have {wanted}"
            hint = "index the documents again into a new index"
            warnings.append(StoreProblem(code="dimension", message=message, hint=hint))
        return {"warnings": tuple(warnings), "retriever_embedder": now, "retriever_dimension": wanted}

    async def _search(self, asked: ListDocuments, text: str, where: Filter | None) -> StoredDocuments:
        name = self._name(asked.store)
        can = abilities_of(self._ai.stores[name])
        mode: SearchMode = asked.mode or ("keyword" if "keyword" in can.modes else "vector")
        if mode not in can.modes:
            raise UnsupportedError(f"{name} has no {mode} search", hint=f"it has: {', '.join(can.modes)}")
        hits: tuple[ScoredDocument, ...]
        if mode == "keyword":
            async with opened_to_look(self._ai.stores[name]) as store:
                hits = tuple(await store.search(SearchQuery(text=text, k=asked.limit, where=where)))
        else:  # the app's own retriever, which embeds the text, and leaves a trace
            retriever = await self._ai.registry.get(f"/retriever/{name}")
            options = SearchOptions(k=asked.limit, where=where, mode=mode).to_wire()
            hits = (await retriever(RetrieverRequest(query=Document.from_text(text), options=options))).documents
        return StoredDocuments(documents=tuple(_listed(hit, score=hit.score) for hit in hits), mode=mode)


def store_answers(ai: "Flowkit") -> dict[str, Ask]:
    """What answers `POST /api/stores/<name>`, by name."""
    stores = _Stores(ai)

    def asking(shape: type[Wire], answer: Callable[[Any], Awaitable[Wire]]) -> Ask:
        async def ask(body: Mapping[str, Any]) -> dict[str, Any]:
            try:
                asked = shape.from_wire(body)
            except ValidationError as error:
                found = problems(error)
                raise InvalidInputError(f"bad body: {summary(found)}", details={"errors": found}) from None

            async def run() -> Wire:
                return await answer(asked)

            return (await asyncio.wrap_future(run_on(ai.runtime.loop(), run))).to_wire()

        return ask

    return {
        "list": asking(Wire, stores.list),
        "stats": asking(AskStore, stores.stats),
        "sources": asking(AskStore, stores.sources),
        "documents": asking(ListDocuments, stores.documents),
        "document": asking(GetDocument, stores.document),
        "delete": asking(DeleteDocuments, stores.delete),
    }


def _where(source: str | None, text: str | None) -> Filter | None:
    parts: list[Filter] = []
    if source is not None:
        parts.append(F("source") == source)
    if text is not None and text.strip():
        parts.append(F.parse(text))
    return reduce(and_, parts) if parts else None


def _listed(document: Document, *, score: float | None = None) -> StoredDocument:
    text = document.text
    metadata = document.to_wire().get("metadata") or {}
    return StoredDocument(
        id=document.id or "",
        text=text[:_TEXT_CHARACTERS],
        characters=len(text),
        metadata=metadata,
        source=document.source,
        score=score,
    )


async def _namespaces(store: VectorStore) -> tuple[NamespaceData, ...]:
    if not (abilities_of(store).namespaces and isinstance(store, NamespacedStore)):
        return ()
    counts = {store.namespace: 0, **await store.namespaces()}
    return tuple(
        NamespaceData(name=name, count=counts[name], current=name == store.namespace)
        for name in sorted(counts)[:_NAMESPACES]
    )


def _vector(vector: Any) -> VectorData:
    import numpy as np

    numbers = np.asarray(vector, dtype=np.float64)
    first = tuple(round(float(number), 6) for number in numbers[:_FIRST_NUMBERS])
    return VectorData(dimension=len(numbers), norm=round(float(np.linalg.norm(numbers)), 6), first=first)


async def _count(store: VectorStore, asked: DeleteDocuments, where: Filter | None) -> int:
    if where is not None:
        return await count_matching(store, where)
    if asked.ids is not None:
        return len((await store.fetch(ids=asked.ids, limit=len(asked.ids) or 1)).items)
    return (await store.stats()).count
