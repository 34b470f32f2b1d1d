"""Looking into an index as it is, whatever embedder the app would use with it.

async with opened_to_look(store) as found: page = await found.fetch()
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy

from flowkit.errors import IdentityError
from flowkit.rag.stores.contract import VectorStore
from flowkit.rag.stores.serve import StorePlugin
from flowkit.schema.filters import Filter

__all__ = ["count_matching", "opened_to_look", "sources_of"]

_PAGE = 1000


@asynccontextmanager
async def opened_to_look(store: VectorStore) -> AsyncIterator[VectorStore]:
    """The store, open. One that was built with another embedder than it has now is opened without its embedder.

    Raises:
        NotFoundError: the index was never built.
    """
    try:
        await store.open(create=False)
    except IdentityError:
        if not isinstance(store, StorePlugin):
            raise
        other = copy(store)  # it is not open, so the copy shares nothing that is in use
        other.embedder = None
        assert isinstance(other, VectorStore)
        try:
            await other.open(create=False)
            yield other
        finally:
            await other.aclose()
    else:
        yield store


async def count_matching(store: VectorStore, where: Filter) -> int:
    """How many rows match."""
    count, cursor = 0, None
    while True:
        page = await store.fetch(where=where, cursor=cursor, limit=_PAGE)
        count += len(page.items)
        cursor = page.cursor
        if cursor is None:
            return count


async def sources_of(store: VectorStore, *, rows: int) -> tuple[Counter[str | None], bool]:
    """How many rows each source has, by the first so many rows; and whether that was all of them."""
    counts: Counter[str | None] = Counter()
    seen = 0
    async for key in store.manifest():
        if seen == rows:
            return counts, False
        counts[key.source] += 1
        seen += 1
    return counts, True
