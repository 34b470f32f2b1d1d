"""Copying an index to another store: vectors and all, resumable, compared at the end, refused where it does not fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flowkit import Document
from flowkit.errors import IdentityError, InvalidInputError, NotFoundError, StateError, StoreError
from flowkit.plugin import EmbeddedDocument, VectorStore
from flowkit.rag import copy_index
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_devstore import DevStore

EMBEDDER = "local/all-minilm-l6-v2"


def rows(count: int) -> list[EmbeddedDocument]:
    random = np.random.default_rng(7)
    return [
        EmbeddedDocument(
            Document.from_text(f"dish {n}", {"price": n, "tags": ["hot", {"n": n}], "source": f"{n % 3}.txt"}).with_id(
                f"dish-{n:04}"
            ),
            random.normal(size=8).astype(np.float32),
        )
        for n in range(count)
    ]


async def everything(store: VectorStore) -> dict[str, Document]:
    return {row.id: row.document for row in (await store.fetch(limit=10_000)).items}


async def vectors(store: VectorStore) -> "np.ndarray[Any, Any]":
    page = await store.fetch(limit=10_000, with_vectors=True)
    return np.stack([np.asarray(row.vector) for row in page.items])


@pytest.fixture
async def source() -> InMemoryStore:
    store = InMemoryStore("menu")
    await store.open(create=True, dimension=8, embedder=EMBEDDER)
    await store.upsert(rows(1200))
    return store


@pytest.fixture
def target(tmp_path: Path) -> DevStore:
    return DevStore("menu", folder=tmp_path)


async def test_a_copy_has_the_same_documents_vectors_and_identity(source: InMemoryStore, target: DevStore):
    told: list[tuple[int, int]] = []

    report = await copy_index(source, target, on_progress=lambda done, total: told.append((done, total)))

    assert (report.copied, report.unchanged, report.deleted, report.count) == (1200, 0, 0, 1200)
    assert told == [(0, 1200), (500, 1200), (1000, 1200), (1200, 1200)]
    assert await everything(target) == await everything(source)
    np.testing.assert_allclose(await vectors(target), await vectors(source), rtol=1e-6)
    stats = await target.stats()
    assert (stats.embedder, stats.dimension) == (EMBEDDER, 8)
    await target.aclose()


async def test_a_second_copy_writes_only_what_has_changed(source: InMemoryStore, target: DevStore):
    await copy_index(source, target)
    new = rows(1201)[-1]
    changed = EmbeddedDocument(source._rows["dish-0003"][0].with_metadata(price=99))
    await source.upsert([new, changed])

    report = await copy_index(source, target)

    assert (report.copied, report.unchanged, report.count) == (2, 1199, 1201)
    assert await everything(target) == await everything(source)
    await target.aclose()


async def test_a_copy_that_was_stopped_goes_on_where_it_was(source: InMemoryStore, tmp_path: Path):
    class Breaks(DevStore):
        writes = 0

        async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
            self.writes += 1
            if self.writes == 2:
                raise ConnectionError("the line is cut")
            await super().upsert(rows)

    broken = Breaks("menu", folder=tmp_path)
    with pytest.raises(ConnectionError):
        await copy_index(source, broken)
    assert (await broken.stats()).count == 500
    await broken.aclose()

    target = DevStore("menu", folder=tmp_path)
    report = await copy_index(source, target)

    assert (report.copied, report.unchanged, report.count) == (700, 500, 1200)
    assert await everything(target) == await everything(source)
    await target.aclose()


@pytest.mark.parametrize(("overwrite", "add"), [(False, False), (True, False), (False, True)])
async def test_other_documents_in_the_target_are_refused_deleted_or_left(
    source: InMemoryStore, overwrite: bool, add: bool
):
    target = InMemoryStore("menu")
    await target.open(create=True, dimension=8, embedder=EMBEDDER)
    await target.upsert([EmbeddedDocument(Document.from_text("mine").with_id("mine"), np.ones(8, np.float32))])

    if overwrite or add:
        report = await copy_index(source, target, overwrite=overwrite, add=add)
        assert (report.deleted, report.count) == ((1, 1200) if overwrite else (0, 1201))
        assert ("mine" in await everything(target)) == add
    else:
        with pytest.raises(StateError, match="memory/menu has 1 documents that memory/menu has not"):
            await copy_index(source, target)
        assert list(await everything(target)) == ["mine"]


@pytest.mark.parametrize(("embedder", "dimension", "what"), [("other/embedder", 8, "embedder"), (EMBEDDER, 9, "dim")])
@pytest.mark.parametrize("overwrite", [False, True])
async def test_a_target_of_another_embedder_or_dimension_is_refused(
    source: InMemoryStore, embedder: str, dimension: int, what: str, overwrite: bool
):
    target = InMemoryStore("other")
    await target.open(create=True, dimension=dimension, embedder=embedder)

    with pytest.raises(IdentityError, match=what) as caught:
        await copy_index(source, target, overwrite=overwrite)

    assert caught.value.hint
    assert await everything(target) == {}


async def test_a_target_that_would_be_searched_with_another_embedder_is_refused(source: InMemoryStore, tmp_path: Path):
    with pytest.raises(IdentityError, match="is set to 'googleai/text-embedding-004'"):
        await copy_index(source, DevStore("new", embedder="googleai/text-embedding-004", folder=tmp_path))
    assert list(tmp_path.iterdir()) == []

    short = DevStore("new", embedder="all-minilm-l6-v2", folder=tmp_path)  # the same one, by its short name
    assert (await copy_index(source, short)).count == 1200
    await short.aclose()


async def test_an_index_is_not_copied_into_itself(source: InMemoryStore):
    with pytest.raises(InvalidInputError, match="into itself"):
        await copy_index(source, source, overwrite=True)
    assert len(await everything(source)) == 1200


async def test_overwrite_and_add_exclude_each_other(source: InMemoryStore):
    with pytest.raises(InvalidInputError):
        await copy_index(source, InMemoryStore("x"), overwrite=True, add=True)


async def test_what_was_never_indexed_is_not_copied(target: DevStore, tmp_path: Path):
    with pytest.raises(NotFoundError):
        await copy_index(InMemoryStore("nothing"), target)
    assert list(tmp_path.iterdir()) == []


async def test_an_empty_index_is_copied(target: DevStore):
    source = InMemoryStore("menu")
    await source.open(create=True, dimension=8, embedder=EMBEDDER)

    assert (await copy_index(source, target)).count == 0
    assert (await target.stats()).dimension == 8
    await target.aclose()


async def test_a_target_that_loses_rows_is_found_out(source: InMemoryStore):
    class Loses(InMemoryStore):
        async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
            await super().upsert(rows[1:])

    with pytest.raises(StoreError, match="3 documents of memory/menu cannot be read from memory/menu"):
        await copy_index(source, Loses("menu"))


async def test_a_source_that_changes_meanwhile_is_found_out(source: InMemoryStore):
    class Slow(InMemoryStore):
        async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
            await source.delete(ids=["dish-1100"])
            await super().upsert(rows)

    with pytest.raises(StoreError, match="was changed while it was copied"):
        await copy_index(source, Slow("menu"))
