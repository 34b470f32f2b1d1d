"""Ingest: load, transform, split, embed and store, as a sync that can be planned, interrupted and repeated.

report = await ai.ingest("docs", "docs/")
plan = (await ai.ingest("docs", "docs/", dry_run=True)).plan
"""

from flowkit.rag.ingest.defaults import default_splitter, tokenizer_of
from flowkit.rag.ingest.items import Ingestible
from flowkit.rag.ingest.report import (
    IngestPlan,
    IngestReport,
    Progress,
    Skipped,
    SourceChange,
    SourceCounts,
    SyncMode,
)
from flowkit.rag.ingest.verb import delete, index_of, ingest
from flowkit.rag.load.files import Files

__all__ = [
    "Files",
    "IngestPlan",
    "IngestReport",
    "Ingestible",
    "Progress",
    "Skipped",
    "SourceChange",
    "SourceCounts",
    "SyncMode",
    "default_splitter",
    "delete",
    "index_of",
    "ingest",
    "tokenizer_of",
]
