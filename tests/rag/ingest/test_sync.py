"""An ingest brings an index in step with its sources: no more work than needed, and nothing outdated left."""

import pytest

from flowkit import Document, Flowkit
from flowkit.errors import InvalidInputError, NotFoundError, UnsupportedError
from flowkit.rag import transform
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import MemorySink, trace_outline
from tests.rag.ingest.conftest import Counting, doc, done, lines, texts


async def test_a_second_run_of_many_batches_has_nothing_to_do(ai: Flowkit, store: InMemoryStore, counting: Counting):
    document = doc("\n".join(f"line {number}" for number in range(150)))
    first = await ai.ingest("docs", document, splitter=lines)
    counting.texts.clear()

    again = await ai.ingest("docs", document, splitter=lines)

    assert done(first) == (150, 0, 0, 0)
    assert done(again) == (0, 0, 0, 150)
    assert counting.texts == []
    assert again.ids == first.ids


async def test_a_chunk_that_has_gone_is_deleted_and_the_others_are_left(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    await ai.ingest("docs", doc("a\nb\nc"), splitter=lines)
    counting.texts.clear()

    report = await ai.ingest("docs", doc("a\nb"), splitter=lines)

    assert done(report) == (0, 0, 1, 2)
    assert await texts(store) == ["a", "b"]
    assert counting.texts == []


async def test_a_new_text_of_a_source_takes_the_place_of_the_old_one(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", doc("\n".join(f"old {number}" for number in range(70))), splitter=lines)
    await ai.ingest("docs", doc("other", "b.md"), splitter=lines)

    report = await ai.ingest("docs", doc("new 1\nnew 2"), splitter=lines)

    assert done(report) == (2, 0, 70, 0)
    assert report.sources.changed == 1
    assert await texts(store) == ["new 1", "new 2", "other"]


async def test_only_moved_chunks_get_new_metadata_and_no_new_vector(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    await ai.ingest("docs", doc("a\nb\nc"), splitter=lines)
    counting.texts.clear()

    report = await ai.ingest("docs", doc("new\na\nb\nc"), splitter=lines)

    assert done(report) == (1, 3, 0, 0)
    assert counting.texts == ["new"]
    page = await store.fetch(limit=10)
    assert {row.document.text: row.document.metadata["index"] for row in page.items} == {
        "new": 0,
        "a": 1,
        "b": 2,
        "c": 3,
    }


async def test_the_modes_differ_in_what_they_delete(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", [doc("a\nb"), doc("c", "b.md"), doc("d", None)], splitter=lines)
    edited = [doc("a")]

    appended = await ai.ingest("docs", edited, splitter=lines, sync="append")
    assert (appended.deleted, appended.outdated) == (0, 1)
    assert await texts(store) == ["a", "b", "c", "d"]

    by_source = await ai.ingest("docs", edited, splitter=lines, sync="source")
    assert by_source.deleted == 1
    assert await texts(store) == ["a", "c", "d"]

    full = await ai.ingest("docs", edited, splitter=lines, sync="full")
    assert (full.deleted, full.sources.removed) == (2, 1)
    assert await texts(store) == ["a"]


async def test_a_plan_says_what_would_be_done_and_nothing_is_done(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    documents = [doc("a\nb"), doc("c", "same.md"), doc("d", "gone.md"), doc("e", "moved.md")]
    await ai.ingest("docs", documents, splitter=lines)
    before = await texts(store)
    counting.texts.clear()

    now = [doc("a\nx"), doc("c", "same.md"), doc("f\ne", "moved.md"), doc("n", "new.md"), doc(" x\n", "half.md")]
    report = await ai.ingest("docs", now, splitter=lines, sync="full", dry_run=True)

    plan = report.plan
    assert plan is not None
    assert (plan.added, plan.updated, plan.removed, plan.unchanged) == (4, 1, 2, 2)
    assert (plan.sources.added, plan.sources.changed, plan.sources.removed, plan.sources.unchanged) == (2, 2, 1, 1)
    by_source = {change.source: change for change in plan.changes}
    assert {source: change.status for source, change in by_source.items()} == {
        "a.md": "changed",
        "gone.md": "removed",
        "half.md": "added",
        "moved.md": "changed",
        "new.md": "added",
    }
    assert [len(ids) for ids in (by_source["a.md"].added, by_source["a.md"].removed)] == [1, 1]
    assert len(by_source["moved.md"].updated) == 1
    assert counting.texts == []
    assert await texts(store) == before

    report = await ai.ingest("docs", now, splitter=lines, sync="full")
    assert done(report) == (4, 1, 2, 2)
    assert set(by_source["a.md"].added) < set(report.ids)


async def test_a_dry_run_makes_no_index(ai: Flowkit, store: InMemoryStore):
    report = await ai.ingest("docs", doc("a"), dry_run=True)

    assert report.plan is not None
    assert report.plan.added == 1
    with pytest.raises(NotFoundError):
        await store.open(create=False)


async def test_a_plan_can_be_refused_before_anything_is_done(ai: Flowkit, store: InMemoryStore, counting: Counting):
    plans = []

    def refuse(plan):
        plans.append(plan)
        return False

    async def agree(plan):
        plans.append(plan)

    refused = await ai.ingest("docs", doc("a\nb"), splitter=lines, on_plan=refuse)
    assert (done(refused)[0], counting.texts) == (0, [])

    agreed = await ai.ingest("docs", doc("a\nb"), splitter=lines, on_plan=agree)
    assert done(agreed) == (2, 0, 0, 0)
    assert [plan.added for plan in plans] == [2, 2]
    again = await ai.ingest("docs", doc("a\nb"), splitter=lines, on_plan=agree)
    assert plans[-1].is_empty
    assert done(again) == (0, 0, 0, 2)


async def test_equal_chunks_of_a_source_are_all_kept(ai: Flowkit, store: InMemoryStore):
    first = await ai.ingest("docs", [doc("x\nx\ny"), doc("x", "b.md"), doc("x")], splitter=lines)

    assert len(set(first.ids)) == 5
    assert await texts(store) == ["x", "x", "x", "x", "y"]
    again = await ai.ingest("docs", [doc("x\ny")], splitter=lines)
    assert again.deleted == 2


async def test_ids_of_ones_own_are_kept_and_the_last_wins(ai: Flowkit, store: InMemoryStore):
    report = await ai.ingest("docs", [doc("a").with_id("1"), doc("b").with_id("1")], splitter=None)

    assert report.ids == ("1",)
    assert await texts(store) == ["b"]


async def test_an_id_comes_out_as_it_does_from_index(ai: Flowkit):
    chunks = lines(doc("x\nx\ny"))

    assert (await ai.ingest("docs", chunks, splitter=None)).ids == (await ai.index("docs", chunks)).ids


async def test_steps_run_in_their_order(ai: Flowkit, store: InMemoryStore):
    async def shout(document: Document) -> Document | None:
        return None if document.source == "secret.md" else Document.from_text(document.text.upper(), document.metadata)

    report = await ai.ingest(
        "docs",
        [doc("a\nb", title="T"), doc("c", "secret.md")],
        transform=shout,
        splitter=lines,
        transform_chunk=transform.prefix("title", end=": "),
    )

    assert await texts(store) == ["T: A", "T: B"]
    assert report.documents == 2


async def test_what_a_transformer_leaves_out_goes_from_the_index(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", [doc("a"), doc("b", "b.md")], splitter=lines)

    report = await ai.ingest("docs", [doc("a"), doc("b", "b.md")], splitter=lines, transform=keep_a)

    assert (report.deleted, report.sources.removed) == (1, 1)
    assert await texts(store) == ["a"]


def keep_a(document: Document) -> Document | None:
    return document if document.text == "a" else None


async def test_usage_is_summed_over_all_batches(ai: Flowkit):
    report = await ai.ingest("docs", doc("one two\n" * 20), splitter=lines)

    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.total_tokens) == (40, None, 40)
    assert (await ai.ingest("docs", [])).usage is None


async def test_documents_without_text_are_skipped_by_name(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", doc("was", "b.md"))
    blank = Document(content=(), metadata={"source": "b.md"})

    report = await ai.ingest("docs", [doc("a"), blank])

    assert [(item.source, item.reason) for item in report.skipped] == [("b.md", "it has no text")]
    assert await texts(store) == ["a"]


async def test_a_full_sync_of_nothing_is_refused(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", doc("a"))

    with pytest.raises(InvalidInputError, match="would delete 1 chunks"):
        await ai.ingest("docs", [], sync="full")
    assert await texts(store) == ["a"]
    assert (await ai.ingest("docs", [], sync="full", allow_empty=True)).deleted == 1
    assert await texts(store) == []


async def test_chunks_are_deleted_by_source_id_or_condition(ai: Flowkit, store: InMemoryStore):
    assert await ai.delete("docs", source="a.md") == 0
    report = await ai.ingest("docs", [doc(f"text {name}", name, price=at) for at, name in enumerate("abcde")])

    assert await ai.delete("docs", source="a") == 1
    assert await ai.delete("docs", source=["b", "nowhere"]) == 1
    assert await ai.delete("docs", ids=report.ids[2:3]) == 1
    assert await ai.delete("docs", where="price > 3") == 1
    assert await texts(store) == ["text d"]
    with pytest.raises(InvalidInputError, match="exactly one"):
        await ai.delete("docs", source="d", where="price > 3")


async def test_wrong_calls_say_what_is_right(ai: Flowkit):
    @ai.indexer("plain")
    async def plain(documents: list[Document]) -> None: ...

    with pytest.raises(UnsupportedError, match="is a function"):
        await ai.ingest("plain", doc("a"))
    with pytest.raises(InvalidInputError, match="sync is 'all'"):
        await ai.ingest("docs", doc("a"), sync="all")
    with pytest.raises(InvalidInputError, match="item 1 is a str"):
        await ai.ingest("docs", [doc("a"), "b"])
    with pytest.raises(InvalidInputError, match="a int cannot be ingested"):
        await ai.ingest("docs", 3)
    with pytest.raises(InvalidInputError, match="splitter is 'lines'"):
        await ai.ingest("docs", doc("a"), splitter="lines")
    with pytest.raises(NotFoundError, match="no file or folder 'nowhere'"):
        await ai.ingest("docs", "nowhere")


async def test_an_ingest_is_one_step_in_the_trace(ai: Flowkit):
    sink = ai.runtime.tracing.sink = MemorySink()

    await ai.ingest("docs", doc("a\nb"), splitter=lines)

    assert trace_outline(sink.spans) == "ingest     step\n  counting embedder\n"
    told = sink.spans[-1]
    assert told.input == b'{"index":"memory/docs","sync":"source","what":null}'
    assert b'"written":2' in (told.output or b"")
    assert b'"ids":[]' in (told.output or b"")


async def test_a_store_that_is_no_plugin_is_ingested_into_by_its_name(ai: Flowkit):
    ai.vector_store(InMemoryStore("more"), name="shelf/more", embedder="counting")

    assert (await ai.ingest("more", doc("a"))).index == "shelf/more"
    assert [hit.text for hit in await ai.retrieve("more", "a")] == ["a"]
