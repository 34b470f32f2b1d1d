"""The verbs of an app that keep an index in step with its sources. What does the work is loaded when one is called.

class Flowkit(Decorators, IngestVerbs): ...
"""

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from flowkit.core.registry import Registry
from flowkit.core.stream import ActionStream
from flowkit.schema.filters import Filter

if TYPE_CHECKING:
    from flowkit.rag.ingest import Ingestible, IngestReport, Progress, SyncMode
    from flowkit.rag.ingest.chunks import Split
    from flowkit.rag.ingest.meter import OnProgress
    from flowkit.rag.ingest.run import OnPlan
    from flowkit.rag.transform import Transform

__all__ = ["IngestVerbs"]

T = TypeVar("T")
Run = Coroutine[Any, Any, T]


class IngestVerbs:
    """`ingest`, `ingest_stream` and `delete`, on the indexes of a registry."""

    registry: Registry

    def ingest(
        self,
        index: str,
        what: "Ingestible",
        *,
        sync: "SyncMode" = "source",
        splitter: "Split | Literal['auto'] | None" = "auto",
        transform: "Transform | None" = None,
        transform_chunk: "Transform | None" = None,
        dry_run: bool = False,
        allow_empty: bool = False,
        on_plan: "OnPlan | None" = None,
        on_progress: "OnProgress | None" = None,
    ) -> "Run[IngestReport]":
        """Bring an index in step with its sources: only what is new is embedded, what is outdated is deleted.

        Documents are transformed, split, their chunks transformed, compared with the index, embedded and written, all
        of it side by side. What is outdated goes last, once. A run that fails or is cancelled leaves what it wrote and
        deletes nothing; the next one does the rest. Several processes may ingest into one index.

        Args:
            index: A vector store's, by name (`devstore/docs`, or `docs`).
            what: A file, a folder (with the folders in it), an address (`https://…`, `s3://…`), documents, or a loader
                of `flowkit.rag.load`. A file's `source` is its path relative to the project root. Files that cannot be
                read are skipped, and their chunks stay.
            sync: `source`: outdated chunks of the sources that are ingested are deleted. `full`: also all chunks of
                sources that are gone, from the folder that is ingested, else from the whole index. `append`: none.
            splitter: A function from a document to its chunks, or None to store documents whole. "auto" cuts Markdown
                by heading, programs by structure, other text by paragraph, into chunks of 300 tokens or of what the
                embedder takes at once when that is less; a tenth of them overlaps.
            transform: From a document to what is to be split, or to None to leave it out; may be async.
            transform_chunk: The same for chunks, for instance `transform.prefix("title")`.
            dry_run: Only read, and compare; what would be done is in `report.plan`.
            allow_empty: Let a full sync of nothing at all empty the index.
            on_plan: Called with the plan before anything is embedded; when it returns False, nothing is done.
                Everything is read first then, so the embedder waits that long.
            on_progress: Called at every step.

        Raises:
            NotFoundError: no such index, file or folder.
            UnsupportedError: the indexer is a function, and no vector store.
            IdentityError: the index was built with another embedder.
            InvalidInputError: an item is no document, or there is nothing to ingest and the sync is full.
        """
        from flowkit.rag.ingest.run import Options
        from flowkit.rag.ingest.verb import ingest

        options = Options(sync, dry_run=dry_run, allow_empty=allow_empty, on_plan=on_plan, on_progress=on_progress)
        return ingest(
            self.registry,
            index,
            what,
            splitter=splitter,
            transform=transform,
            transform_chunk=transform_chunk,
            options=options,
        )

    def ingest_stream(
        self,
        index: str,
        what: "Ingestible",
        *,
        sync: "SyncMode" = "source",
        splitter: "Split | Literal['auto'] | None" = "auto",
        transform: "Transform | None" = None,
        transform_chunk: "Transform | None" = None,
        dry_run: bool = False,
        allow_empty: bool = False,
        on_plan: "OnPlan | None" = None,
    ) -> "ActionStream[Progress, IngestReport]":
        """As `ingest`, giving a stream: iterate over the progress, then await its `result`."""
        return ActionStream(
            lambda send: self.ingest(
                index,
                what,
                sync=sync,
                splitter=splitter,
                transform=transform,
                transform_chunk=transform_chunk,
                dry_run=dry_run,
                allow_empty=allow_empty,
                on_plan=on_plan,
                on_progress=send,
            )
        )

    def delete(
        self,
        index: str,
        *,
        source: str | Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        where: Filter | str | None = None,
    ) -> Run[int]:
        """Delete chunks by exactly one of their sources, their ids, or a condition; returns how many there were.

        Raises:
            InvalidInputError: none or several of the three are given.
            NotFoundError: no such index is registered. One that was never built has no chunks.
        """
        from flowkit.rag.ingest.verb import delete

        return delete(self.registry, index, source=source, ids=ids, where=where)
