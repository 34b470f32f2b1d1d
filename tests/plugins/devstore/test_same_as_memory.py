"""The dev store answers as the in-memory store does, whatever was written, replaced and deleted before."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Document, F, Filter
from flowkit.errors import FilterTypeError, FlowkitError
from flowkit.plugin import EmbeddedDocument, SearchQuery, VectorStore
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_devstore import DevStore

WORDS = ["soup", "tomato", "cake", "返金", "営業", "the", "indexing", "indexed", "naïve", "42"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
numbers = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
vectors = st.lists(numbers, min_size=3, max_size=3)
values = st.one_of(
    st.sampled_from(["a", "b", "A", "", "日本", "a" * 300]),
    st.sampled_from([0, 1, -1, 2**53, 2**53 + 1, 1.5, float(2**53)]),
    st.booleans(),
    st.lists(st.sampled_from(["a", 1, True]), max_size=2),
)
metadata = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)
rows = st.tuples(st.sampled_from([f"id{n}" for n in range(9)]), texts, metadata, st.one_of(vectors, vectors, st.none()))
scalars = st.sampled_from(["a", "b", "", 0, 1, 1.5, 2**53, 2**53 + 1, "a" * 300])
keys = st.sampled_from("xyzw")
leaves = st.one_of(
    st.builds(lambda key, value: F(key) == value, keys, st.one_of(scalars, st.booleans())),
    st.builds(lambda key, value: F(key) != value, keys, scalars),
    st.builds(lambda key, value: F(key) > value, keys, scalars),
    st.builds(lambda key, value: F(key) <= value, keys, scalars),
    st.builds(lambda key, low, high: F(key).between(low, high), keys, scalars, scalars),
    st.builds(lambda key, some: F(key).in_(some), keys, st.lists(scalars, max_size=3)),
    st.builds(lambda key, some: F(key).not_in(some), keys, st.lists(scalars, max_size=3)),
    st.builds(lambda key, value: F(key).contains(value), keys, st.sampled_from(["a", "", 1])),
)
filters: st.SearchStrategy[Filter] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=5,
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.lists(rows, max_size=6)),
        st.tuples(st.just("upsert"), st.lists(rows, max_size=6)),
        st.tuples(st.just("delete"), st.lists(st.sampled_from([f"id{n}" for n in range(9)]), max_size=3)),
        st.tuples(st.just("delete where"), filters),
        st.tuples(st.just("clear"), st.none()),
    ),
    min_size=1,
    max_size=6,
)
queries = st.builds(
    dict,
    vector=st.one_of(vectors.filter(any), st.none()),
    text=st.one_of(texts, st.none()),
    k=st.integers(1, 12),
    min_score=st.sampled_from([0.0, 0.2, 0.5, 0.75, 1.0]),
    where=st.one_of(st.none(), filters),
).filter(lambda query: query["vector"] or query["text"])


async def attempt(store: VectorStore, step: tuple[str, object]) -> object:
    """What a step gives, or the kind of error."""
    kind, given_ = step
    try:
        match kind:
            case "upsert":
                batch = [
                    EmbeddedDocument(Document.from_text(text, entries, id=id), vector)
                    for id, text, entries, vector in given_  # type: ignore[attr-defined]
                ]
                return await store.upsert(batch)
            case "delete":
                return await store.delete(ids=given_)  # type: ignore[arg-type]
            case "delete where":
                return await store.delete(where=given_)  # type: ignore[arg-type]
            case _:
                return await store.clear()
    except FlowkitError as error:
        return type(error)


async def answers(store: VectorStore, query: SearchQuery) -> object:
    try:
        return [(hit.id, hit.score, hit.text, dict(hit.metadata)) for hit in await store.search(query)]
    except FilterTypeError as error:
        return error.message


@given(steps, st.lists(queries, min_size=1, max_size=4))
@settings(max_examples=50)
def test_both_stores_answer_alike(steps: list[tuple[str, object]], queries: list[dict[str, object]]):
    async def compare() -> None:
        with tempfile.TemporaryDirectory() as folder:
            dev, memory = DevStore("x", folder=Path(folder)), InMemoryStore("x")
            for store in (dev, memory):
                await store.open(create=True, dimension=3)
            for step in steps:
                assert await attempt(dev, step) == await attempt(memory, step)
            assert [item.document for item in (await dev.fetch()).items] == [
                item.document for item in (await memory.fetch()).items
            ]
            for query in (SearchQuery(**given) for given in queries):  # type: ignore[arg-type]
                mine, right = await answers(dev, query), await answers(memory, query)
                if isinstance(right, str):
                    assert mine == right
                    continue
                assert [(hit[0], hit[2], hit[3]) for hit in mine] == [(hit[0], hit[2], hit[3]) for hit in right]  # type: ignore[attr-defined]
                assert [hit[1] for hit in mine] == pytest.approx([hit[1] for hit in right], abs=1e-6)  # type: ignore[attr-defined]
            stats = await dev.stats()
            assert (stats.count, stats.key_types) == ((await memory.stats()).count, (await memory.stats()).key_types)
            await dev.aclose()

    asyncio.run(compare())
