"""Moving an index to another store with the vectors that it has: nothing is embedded again.

report = await copy_index(DevStore("menu"), PgVector("menu", dsn="postgresql://localhost/app"))
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from flowkit.errors import IdentityError, InvalidInputError, NotFoundError, StateError, StoreError
from flowkit.rag.stores.contract import RowKey, StoreStats, VectorStore

__all__ = ["CopyReport", "copy_index"]

_BATCH = 500


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy did. `count` is what the target holds, checked row by row against the source."""

    copied: int
    unchanged: int
    """Rows that were there already, from an earlier copy or one that was stopped."""
    deleted: int
    """Rows of the target that the source has not, with `overwrite`."""
    count: int
    dimension: int | None
    embedder: str | None


async def copy_index(
    source: VectorStore,
    target: VectorStore,
    *,
    overwrite: bool = False,
    add: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> CopyReport:
    """Copy an index into another store, vectors and all; stopped at any point, it goes on where it was.

    What the target has of the same id, text and metadata is left alone. Rows that the source does not have are a reason
    to refuse, unless `overwrite` deletes them, after everything else is written, or `add` leaves them in.
    Both stores are open afterwards.

    Args:
        on_progress: called with rows done and rows in all.

    Raises:
        NotFoundError: the source was never built.
        IdentityError: the target was built with another embedder or dimension, or its app searches it with another one.
        StateError: the target has rows that the source has not; nothing is written.
        StoreError: what was written is not what can be read, or the source was changed meanwhile.
        UnsupportedError: the target cannot be written to.
    """
    if overwrite and add:
        raise InvalidInputError("overwrite and add exclude each other")
    _check_places(source, target)
    await source.open(create=False)
    stats = await source.stats()
    there = await _keys(source.manifest())
    held = await _open_target(source, target, stats)
    strangers = [id for id in held if id not in there]
    if strangers and not (overwrite or add):
        raise StateError(
            f"{_name(target)} has {len(strangers):,} documents that {_name(source)} has not",
            hint="overwrite deletes them, add leaves them in; or copy into a new index",
        )
    todo = sorted(id for id, key in there.items() if held.get(id) != key)
    done = unchanged = len(there) - len(todo)
    _tell(on_progress, done, len(there))
    for at in range(0, len(todo), _BATCH):
        batch = todo[at : at + _BATCH]
        page = await source.fetch(ids=batch, limit=len(batch), with_vectors=True)
        await target.upsert(page.items)
        done += len(batch)
        _tell(on_progress, done, len(there))
    deleted = 0
    for at in range(0, len(strangers) if overwrite else 0, _BATCH):
        deleted += await target.delete(ids=strangers[at : at + _BATCH])
    count = await _verified(source, target, there, expected=len(there) + (0 if overwrite else len(strangers)))
    return CopyReport(
        copied=len(todo),
        unchanged=unchanged,
        deleted=deleted,
        count=count,
        dimension=stats.dimension,
        embedder=stats.embedder,
    )


def _check_places(source: VectorStore, target: VectorStore) -> None:
    if source is target:
        raise InvalidInputError(f"{_name(source)} cannot be copied into itself", hint="name another index or store")


async def _open_target(source: VectorStore, target: VectorStore, stats: StoreStats) -> dict[str, RowKey]:
    """Open or make it, if it fits; gives what it holds."""
    searched_with = getattr(target, "embedder", None)
    if _differ(searched_with, stats.embedder):
        raise IdentityError(
            f"{_name(source)} was built with embedder {stats.embedder!r}, {_name(target)} is set to {searched_with!r}",
            hint=f"vectors of one embedder mean nothing to another: give the target embedder={stats.embedder!r}",
        )
    try:
        await target.open(create=False)
        built = await target.stats()
    except NotFoundError:
        built = StoreStats(0)
    for what, old, new in (
        ("embedder", built.embedder, stats.embedder),
        ("dimension", built.dimension, stats.dimension),
    ):
        if old is not None and new is not None and old != new:
            raise IdentityError(
                f"{_name(target)} was built with {what} {old!r}, {_name(source)} with {new!r}",
                hint="copy into an index of another name, or delete the target first",
            )
    await target.open(create=True, dimension=stats.dimension, embedder=stats.embedder)
    return await _keys(target.manifest())


def _differ(short: str | None, full: str | None) -> bool:
    """Whether two names of embedders cannot mean the same one; an app may leave out the provider."""
    return short is not None and full is not None and short != full and not full.endswith(f"/{short}")


async def _verified(source: VectorStore, target: VectorStore, there: Mapping[str, RowKey], *, expected: int) -> int:
    held = await _keys(target.manifest())
    missing = [id for id, key in there.items() if held.get(id) != key]
    if missing:
        now = await _keys(source.manifest())
        if now != there:
            raise StoreError(
                f"{_name(source)} was changed while it was copied", hint="copy again; only changes are copied"
            )
        raise StoreError(
            f"{len(missing):,} documents of {_name(source)} cannot be read from {_name(target)}: {missing[0]!r}, …",
            hint="copy again; what is missing is copied",
        )
    if len(held) != expected:
        raise StoreError(
            f"{_name(target)} holds {len(held):,} documents, and not {expected:,}",
            hint="somebody else writes into it; copy again",
        )
    return len(held)


async def _keys(manifest: AsyncIterator[RowKey]) -> dict[str, RowKey]:
    return {key.id: key async for key in manifest}


def _tell(on_progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if on_progress is not None:
        on_progress(done, total)


def _name(store: VectorStore) -> str:
    provider, index = getattr(store, "name", None), getattr(store, "index", None)
    return f"{provider}/{index}" if provider and index else type(store).__name__
