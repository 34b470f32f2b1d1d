"""The vector store browser: what is in the indexes of the running app, a page at a time, and deleting from them.

operations = store_operations(apps)
"""

from collections.abc import Sequence

from flowkit.schema.wire import Wire
from flowkit.server.dev.apps import Apps
from flowkit.server.operations import Call, Operation
from flowkit.server.store_shapes import (
    AskStore,
    DeletedDocuments,
    DeleteDocuments,
    GetDocument,
    ListDocuments,
    SourceList,
    StoredDocumentDetails,
    StoredDocuments,
    StoreDetails,
    StoreList,
)

__all__ = ["store_operations"]

_DELETE_SECONDS = 120.0
_SEARCH_SECONDS = 60.0  # an embedder may have to load


def store_operations(apps: Apps) -> Sequence[Operation]:
    """The operations. The app itself answers: a store may live in its memory, and has its connections there."""

    async def ask(what: str, asked: Wire | None = None, *, seconds: float = 30.0) -> object:
        runtime = await apps.pick(None)
        body = {} if asked is None else asked.to_wire()
        return await apps.call(runtime, f"/api/stores/{what}", body, timeout_seconds=seconds)

    async def list_stores(call: Call) -> StoreList:
        return StoreList.from_wire(await ask("list"))

    async def stats(call: Call) -> StoreDetails:
        return StoreDetails.from_wire(await ask("stats", call.query))

    async def sources(call: Call) -> SourceList:
        return SourceList.from_wire(await ask("sources", call.query))

    async def documents(call: Call) -> StoredDocuments:
        return StoredDocuments.from_wire(await ask("documents", call.query, seconds=_SEARCH_SECONDS))

    async def document(call: Call) -> StoredDocumentDetails:
        return StoredDocumentDetails.from_wire(await ask("document", call.query))

    async def delete(call: Call) -> DeletedDocuments:
        return DeletedDocuments.from_wire(await ask("delete", call.body, seconds=_DELETE_SECONDS))

    return [
        Operation("listStores", "GET", "/api/stores", "The vector stores of the app", list_stores, answer=StoreList),
        Operation(
            "getStore",
            "GET",
            "/api/stores/stats",
            "One index: numbers, abilities, and what does not fit",
            stats,
            query=AskStore,
            answer=StoreDetails,
        ),
        Operation(
            "listSources",
            "GET",
            "/api/stores/sources",
            "Where the documents of an index are from, and how many of each",
            sources,
            query=AskStore,
            answer=SourceList,
        ),
        Operation(
            "listDocuments",
            "GET",
            "/api/stores/documents",
            "Documents of an index, a page at a time, filtered or searched",
            documents,
            query=ListDocuments,
            answer=StoredDocuments,
        ),
        Operation(
            "getDocument",
            "GET",
            "/api/stores/document",
            "One document, whole, with the beginning of its vector",
            document,
            query=GetDocument,
            answer=StoredDocumentDetails,
        ),
        Operation(
            "deleteDocuments",
            "POST",
            "/api/stores/delete",
            "Delete documents by id, source or filter, or all of them",
            delete,
            body=DeleteDocuments,
            answer=DeletedDocuments,
        ),
    ]
