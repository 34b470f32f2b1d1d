"""What an ingest says: its plan, how far it is, and what it did.

report = await ai.ingest("docs", "docs/")
report.written, report.deleted, report.sources.changed, report.skipped
"""

from typing import Literal

from pydantic import Field

from flowkit.rag.load.skipped import Skipped
from flowkit.schema.model import Usage
from flowkit.schema.retrieval import IndexReport
from flowkit.schema.wire import Wire

__all__ = [
    "IngestPlan",
    "IngestReport",
    "Progress",
    "Skipped",
    "SourceChange",
    "SourceCounts",
    "SourceStatus",
    "Stage",
    "SyncMode",
]

SyncMode = Literal["append", "source", "full"]
"""What becomes of chunks that are in the index and not in what is ingested. `append` leaves all of them. `source`
deletes those of the sources that are ingested. `full` deletes those of other sources too: under the same folder when a
folder is ingested, else in the whole index."""

SourceStatus = Literal["added", "changed", "removed", "unchanged"]
Stage = Literal["reading", "indexing", "deleting", "done"]


class SourceCounts(Wire):
    """How many sources (files, pages, records) are new, have changed, have gone, are as they were."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


class SourceChange(Wire):
    """What changes of one source, by chunk. An edited chunk is a new one, and the old one is removed."""

    source: str | None
    """None stands for all documents that have no source."""
    status: SourceStatus
    added: tuple[str, ...] = ()
    """Ids of chunks that have to be embedded."""
    updated: tuple[str, ...] = ()
    """Ids of chunks whose text is there, and whose metadata changes."""
    removed: tuple[str, ...] = ()
    """Ids of chunks that are deleted."""
    unchanged: int = 0


class IngestPlan(Wire):
    """What an ingest is going to do; `changes` leaves out sources that are unchanged."""

    index: str
    sync: SyncMode
    documents: int = 0
    """How many were read."""
    added: int = 0
    """Chunks to embed and write."""
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    outdated: int = 0
    """Chunks that nothing of what is ingested stands for any more, and that this mode leaves in the index."""
    sources: SourceCounts = SourceCounts()
    changes: tuple[SourceChange, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when the index is up to date."""
        return not (self.added or self.updated or self.removed)


class IngestReport(IndexReport):
    """What an ingest did. `written`, `updated`, `unchanged` and `ids` count chunks."""

    index: str = ""
    sync: SyncMode = "source"
    run_id: str = ""
    documents: int = 0
    """How many were read."""
    deleted: int = 0
    """Chunks that were deleted, as nothing stands for them any more."""
    outdated: int = 0
    """Such chunks that the mode left in the index."""
    sources: SourceCounts = SourceCounts()
    skipped: tuple[Skipped, ...] = ()
    usage: Usage | None = None
    """What the embedder says that it took; None when it says nothing."""
    seconds: float = 0.0
    plan: IngestPlan | None = Field(default=None)
    """What was found to do, when that was asked for: with `dry_run`, or with `on_plan`."""


class Progress(Wire):
    """How far an ingest is. Counted in documents while they are read or indexed, in chunks once the plan is known."""

    stage: Stage
    done: int = 0
    total: int | None = None
    """None while it is not known."""
    unit: Literal["documents", "chunks"] = "documents"
    chunks: int = 0
    """Chunks found to be there or written so far."""
    rate_per_second: float = 0.0
    """Of the last half minute, in `unit`."""
    eta_seconds: float | None = None
