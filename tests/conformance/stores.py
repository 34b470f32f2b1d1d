"""Area vector_store, on the in-memory store.

await ADAPTERS["vector_store"]({"entries": [{"id": "a", "vector": [1, 0]}], "search": {"vector": [1, 0]}})
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flowkit import Document
from flowkit.plugin import EmbeddedDocument, SearchQuery, VectorStore
from tests.conformance import decode
from tests.conformance.vector import NoCounterpart


async def vector_store(given: Mapping[str, Any]) -> Any:
    from flowkit.rag.stores.memory import InMemoryStore

    store = InMemoryStore("vectors")
    await store.open(create=True)
    await store.upsert([_row(entry) for entry in given["entries"]])
    for operation in given.get("ops", ()):
        await _perform(store, operation)
    found: dict[str, Any] = {"size": (await store.stats()).count}
    if "search" in given:
        found["matches"] = await _search(store, given["search"])
    await store.aclose()
    return found


async def _perform(store: VectorStore, operation: Mapping[str, Any]) -> None:
    match operation["op"]:
        case "remove":
            await store.delete(ids=[operation["id"]])
        case "remove_ids":
            if operation["ids"] is None:
                raise NoCounterpart("remove_ids without a selector")
            await store.delete(ids=operation["ids"])
        case "remove_filter":
            if operation["filter"] is None:
                raise NoCounterpart("remove_filter without a selector")
            await store.delete(where=decode.tree(operation["filter"]))
        case "remove_all":
            await store.clear()
        case "add_all":
            lists = [operation.get(name) or () for name in ("ids", "vectors", "texts")]
            if len({len(column) for column in lists}) > 1:
                raise NoCounterpart("add_all with lists of different lengths")
            await store.upsert([_row_of(*column) for column in zip(*lists, strict=True)])
        case other:
            raise NoCounterpart(other)


async def _search(store: VectorStore, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    query = SearchQuery(
        vector=wanted["vector"],
        k=wanted.get("max_results", 3),
        min_score=wanted.get("min_score", 0.0),
        where=decode.tree(wanted["filter"]) if wanted.get("filter") else None,
    )
    matches = []
    for hit in await store.search(query):
        match: dict[str, Any] = {"id": hit.id, "score": hit.score}
        if hit.content:
            match["text"] = hit.text
            if wanted.get("want_metadata"):
                match["metadata"] = dict(hit.metadata)
        matches.append(match)
    return matches


def _row(entry: Mapping[str, Any]) -> EmbeddedDocument:
    return _row_of(entry["id"], entry["vector"], entry.get("text"), decode.metadata(entry.get("metadata") or {}))


def _row_of(
    id: str, vector: Sequence[float], text: str | None, metadata: Mapping[str, Any] | None = None
) -> EmbeddedDocument:
    if text is None:
        return EmbeddedDocument(Document(content=(), id=id), vector)
    return EmbeddedDocument(Document.from_text(text, metadata, id=id), vector)


ADAPTERS = {"vector_store": vector_store}
