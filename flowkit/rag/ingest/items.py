"""What can be ingested, as one stream of documents and of items that were skipped.

items = Items.of("docs/", root=project_root())
async for item in items: ...
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError
from flowkit.rag.load.files import Files
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.place import auto
from flowkit.rag.load.skipped import Skipped
from flowkit.schema.documents import Document

__all__ = ["Ingestible", "Items"]

Ingestible = str | Path | Document | Iterable[Document | Skipped] | AsyncIterable[Document | Skipped]
"""A path of a file or folder, an address (`https://…`, `s3://…`), a document, or any (async) iterable of documents, a
loader for instance."""

_END: Any = object()


class Items:
    """A stream of documents; `total` is how many there will be, where that is known."""

    def __init__(
        self, stream: AsyncIterable[Document | Skipped], total: int | None, loader: Loader | None = None
    ) -> None:
        self._stream = stream
        self.total = total
        self._loader = loader

    @classmethod
    async def of(cls, what: Ingestible, *, root: Path) -> "Items":
        """
        Raises:
            NotFoundError: there is no such file or folder.
            InvalidInputError: it is nothing that can be ingested.
        """
        if isinstance(what, str | Path):
            what = auto(what)
        if isinstance(what, Files):
            what = what.under(root)
        if isinstance(what, Loader):
            return cls(what, await what.count(), what)
        if isinstance(what, Document):
            what = [what]
        if isinstance(what, AsyncIterable):
            return cls(what, None)
        if isinstance(what, Iterable) and not isinstance(what, bytes | dict):
            return cls(_Async(what), len(what) if isinstance(what, Sequence) else None)
        raise InvalidInputError(
            f"a {type(what).__name__} cannot be ingested", hint="give a path, documents, or a loader of documents"
        )

    @property
    def scope(self) -> str | None:
        """What the sources begin with when all of a folder is ingested; else None."""
        return None if self._loader is None else self._loader.scope

    @property
    def only_itself(self) -> bool:
        """Whether this says nothing of other sources: it is one file, or some addresses."""
        return self._loader is not None and self._loader.scope is None

    @property
    def pending(self) -> bool:
        """Whether the next item has been read already."""
        return self._loader is not None and self._loader.pending

    async def __aiter__(self) -> AsyncGenerator[Document | Skipped, None]:
        at = 0
        stream = aiter(self._stream)
        try:
            async for item in stream:
                if not isinstance(item, Document | Skipped):
                    raise InvalidInputError(
                        f"item {at} is a {type(item).__name__}, not a Document",
                        hint="use Document.from_text(text, metadata)",
                    )
                at += 1
                yield item
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()


class _Async:
    """A plain iterable. What is no list may take its time, so it is read in a thread."""

    def __init__(self, items: Iterable[Document | Skipped]) -> None:
        self._items = items

    async def __aiter__(self) -> AsyncGenerator[Document | Skipped, None]:
        if isinstance(self._items, Sequence):
            for item in self._items:
                yield item
            return
        iterator: Iterator[Document | Skipped] = iter(self._items)
        while True:
            item = await run_in_thread(next, (iterator, _END))
            if item is _END:
                return
            yield item
