"""What can be ingested, as one stream of documents and of items that were skipped.

items = Items.of("docs/", root=project_root())
async for item in items: ...
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError
from flowkit.rag.ingest.files import Files
from flowkit.rag.ingest.report import Skipped
from flowkit.schema.documents import Document

__all__ = ["Ingestible", "Items"]

Ingestible = str | Path | Document | Iterable[Document | Skipped] | AsyncIterable[Document | Skipped]
"""A path of a file or folder, a document, or any (async) iterable of documents, a loader for instance."""

_END: Any = object()


class Items:
    """A stream of documents; `total` is how many there will be, where that is known."""

    def __init__(self, stream: AsyncIterable[Document | Skipped], total: int | None, files: Files | None) -> None:
        self._stream = stream
        self.total = total
        self._files = files

    @classmethod
    async def of(cls, what: Ingestible, *, root: Path) -> "Items":
        """
        Raises:
            NotFoundError: there is no such file or folder.
            InvalidInputError: it is nothing that can be ingested.
        """
        if isinstance(what, Files):
            return cls(what, len(await what.list()), what)
        if isinstance(what, str | Path):
            return await cls.of(Files(Path(what), root=root), root=root)
        if isinstance(what, Document):
            what = [what]
        if isinstance(what, AsyncIterable):
            return cls(what, None, None)
        if isinstance(what, Iterable) and not isinstance(what, bytes | dict):
            return cls(_Async(what), len(what) if isinstance(what, Sequence) else None, None)
        raise InvalidInputError(
            f"a {type(what).__name__} cannot be ingested", hint="give a path, documents, or a loader of documents"
        )

    @property
    def scope(self) -> str | None:
        """What the sources begin with when all of a folder is ingested; None when nothing is known of the rest."""
        return None if self._files is None else self._files.prefix

    @property
    def is_one_file(self) -> bool:
        return self._files is not None and self._files.prefix is None

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
