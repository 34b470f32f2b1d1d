"""Sums over a tally: the plan of a run, and how many sources are in which state.

plan_of(tally, index="devstore/docs", sync="source", documents=12, skipped=(), warnings=())
"""

from flowkit.rag.ingest.report import IngestPlan, Skipped, SourceChange, SourceCounts, SourceStatus, SyncMode
from flowkit.rag.ingest.tally import SourceTally, Tally

__all__ = ["plan_of", "source_counts"]


def plan_of(
    tally: Tally, *, index: str, sync: SyncMode, documents: int, skipped: tuple[Skipped, ...], warnings: tuple[str, ...]
) -> IngestPlan:
    count = tally.count()
    changes = []
    for each in tally.sources():
        status = _status(each)
        if status is not None and status != "unchanged":
            added, updated, removed = tally.chunks_of(each.source)
            changes.append(
                SourceChange(
                    source=each.source,
                    status=status,
                    added=added,
                    updated=updated,
                    removed=removed,
                    unchanged=each.unchanged,
                )
            )
    return IngestPlan(
        index=index,
        sync=sync,
        documents=documents,
        added=count["new"],
        updated=count["updated"],
        removed=count["removed"],
        unchanged=count["unchanged"],
        outdated=count["outdated"],
        sources=source_counts(tally),
        changes=tuple(changes),
        skipped=skipped,
        warnings=warnings,
    )


def source_counts(tally: Tally) -> SourceCounts:
    """Documents without a source are not counted."""
    counts: dict[SourceStatus, int] = {"added": 0, "changed": 0, "removed": 0, "unchanged": 0}
    for each in tally.sources():
        status = _status(each)
        if status is not None and each.source is not None:
            counts[status] += 1
    return SourceCounts(**counts)


def _status(source: SourceTally) -> SourceStatus | None:
    """None for one that neither has chunks nor loses any."""
    if not source.new + source.updated + source.unchanged:
        return "removed" if source.removed else None
    if not source.updated + source.unchanged + source.stale:
        return "added"
    return "changed" if source.new + source.updated + source.removed else "unchanged"
