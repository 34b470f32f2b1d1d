"""Rows by id or by filter, the manifest, and the numbers of an index; each from one snapshot.

page = fetch(snapshot, ids=["c1"], where=None, cursor=None, limit=10, with_vectors=True)
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from flowkit import Filter
from flowkit.errors import InvalidInputError
from flowkit.plugin import EmbeddedDocument, Page, RowKey, StoreStats
from flowkit.rag.stores.rules import wanted_ids
from flowkit_devstore.rows import LONG, LONGEST_VALUE, STRING, TYPE_BITS, decode, read_metadata
from flowkit_devstore.snapshot import Snapshot

__all__ = ["fetch", "manifest", "stats"]

_SORTED_IN_MEMORY = 5_000
Found = tuple[str, int]
"""Id and slot."""


def fetch(
    snapshot: Snapshot,
    *,
    ids: Sequence[str] | None,
    where: Filter | None,
    cursor: str | None,
    limit: int,
    with_vectors: bool,
) -> Page[EmbeddedDocument]:
    if limit < 1:
        raise InvalidInputError(f"limit is {limit!r}", hint="ask for 1 or more rows")
    rows = _by_ids(snapshot, ids, where, cursor) if ids is not None else _in_order(snapshot, where, cursor)
    found = list(islice(rows, limit + 1))
    page, more = found[:limit], len(found) > limit
    return Page(tuple(_read(snapshot, [slot for _, slot in page], with_vectors)), page[-1][0] if more else None)


def _by_ids(snapshot: Snapshot, ids: Sequence[str], where: Filter | None, cursor: str | None) -> Iterator[Found]:
    wanted = wanted_ids(ids)
    if cursor is not None:
        wanted = wanted[wanted.index(cursor) + 1 :] if cursor in wanted else []
    slots = snapshot.slots(wanted)
    mask = None if where is None else snapshot.matching(where)
    for id in wanted:
        if (slot := slots.get(id)) is not None and (mask is None or mask[slot]):
            yield id, slot


def _in_order(snapshot: Snapshot, where: Filter | None, cursor: str | None) -> Iterator[Found]:
    after = cursor or ""
    if where is None:
        yield from snapshot.connection.execute("SELECT id, slot FROM rows WHERE id > ? ORDER BY id", (after,))
        return
    mask = snapshot.matching(where)
    matching = np.flatnonzero(mask)
    if len(matching) <= _SORTED_IN_MEMORY:
        ids = snapshot.ids(matching.tolist())
        yield from sorted((id, slot) for slot, id in ids.items() if id > after)
        return
    for id, slot in snapshot.connection.execute("SELECT id, slot FROM rows WHERE id > ? ORDER BY id", (after,)):
        if mask[slot]:
            yield id, slot


def _read(snapshot: Snapshot, slots: Sequence[int], with_vectors: bool) -> Iterator[EmbeddedDocument]:
    rows = snapshot.rows(slots)
    if not (with_vectors and slots):
        for slot in slots:
            yield EmbeddedDocument(decode(*rows[slot]))
        return
    lengths = snapshot.lengths(slots)
    taken = snapshot.vectors().take(slots, axis=0)
    for slot, unit in zip(slots, taken, strict=True):
        length = lengths[slot]
        yield EmbeddedDocument(decode(*rows[slot]), unit if length is None else (unit * length).astype(np.float32))


def manifest(snapshot: Snapshot, *, source: str | None, after: str, limit: int) -> list[RowKey]:
    """The keys that follow the id `after`, in id order."""
    execute = snapshot.connection.execute
    columns = "id, text_hash, metadata_hash, metadata"
    if source is None:
        rows = execute(f"SELECT {columns} FROM rows WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
    else:
        key, _ = snapshot.keys.get("source", (-1, 0))
        kind, value = (STRING, source) if len(source) <= LONGEST_VALUE else (LONG, "")
        rows = execute(
            f"SELECT {columns} FROM entries JOIN rows USING (slot) "
            "WHERE key = ? AND type = ? AND value = ? AND id > ? ORDER BY id",
            (key, kind, value, after),
        )
    found = ((id, read_metadata(metadata).get("source"), text, meta) for id, text, meta, metadata in rows)
    kept = (row for row in found if source is None or row[1] == source)
    return [
        RowKey(id, where if isinstance(where, str) else None, text.hex(), meta.hex())
        for id, where, text, meta in islice(kept, limit)
    ]


def stats(snapshot: Snapshot) -> StoreStats:
    state = snapshot.state
    return StoreStats(
        count=state.rows,
        dimension=state.dimension,
        embedder=state.embedder,
        key_types={
            name: frozenset(kind for kind, bit in TYPE_BITS.items() if types & bit)
            for name, (_, types) in snapshot.keys.items()
        },
        size_bytes=sum(path.stat().st_size for path in snapshot.folder.iterdir() if path.is_file()),
    )
