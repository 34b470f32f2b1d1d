"""An ingest says how far it is, how fast, and how long it will take."""

from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.rag.ingest import Progress
from flowkit.rag.stores.memory import InMemoryStore
from tests.rag.ingest.conftest import doc, lines


def stages(told: list[Progress]) -> list[str]:
    return list(dict.fromkeys(each.stage for each in told))


async def test_documents_are_counted_while_they_are_indexed(ai: Flowkit, store: InMemoryStore):
    told: list[Progress] = []

    await ai.ingest("docs", [doc(f"text {number}", f"{number}.md") for number in range(100)], on_progress=told.append)

    assert stages(told) == ["indexing", "done"]
    assert (told[0].done, told[0].total) == (0, 100)
    done = [each.done for each in told if each.stage == "indexing"]
    assert done == sorted(done)
    assert (done[-1], told[-1].chunks) == (100, 100)
    assert told[-2].rate_per_second > 0
    assert told[-2].eta_seconds == 0


async def test_with_a_plan_chunks_are_counted(ai: Flowkit, store: InMemoryStore):
    told: list[Progress] = []
    await ai.ingest("docs", [doc("old", "gone.md")])

    await ai.ingest(
        "docs",
        doc("\n".join(f"line {number}" for number in range(50))),
        splitter=lines,
        sync="full",
        on_plan=lambda plan: True,
        on_progress=told.append,
    )

    assert stages(told) == ["reading", "indexing", "deleting", "done"]
    indexing = [each for each in told if each.stage == "indexing"]
    assert (indexing[0].done, indexing[-1].done, indexing[-1].total, indexing[-1].unit) == (0, 50, 50, "chunks")
    assert [each.done for each in told if each.stage == "deleting"] == [0, 1]


async def test_the_files_of_a_folder_are_the_total(ai: Flowkit, tmp_path: Path):
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text(f"text {number}")
    told: list[Progress] = []

    await ai.ingest("docs", tmp_path, on_progress=told.append)

    assert {each.total for each in told} == {7}


async def test_what_has_no_end_in_sight_has_no_total(ai: Flowkit):
    told: list[Progress] = []

    await ai.ingest("docs", (doc(f"text {number}") for number in range(20)), on_progress=told.append)

    assert {(each.total, each.eta_seconds) for each in told if each.stage == "indexing"} == {(None, None)}


async def test_progress_can_be_iterated_over(ai: Flowkit):
    async with ai.ingest_stream("docs", [doc("a\nb")], splitter=lines) as stream:
        told = [each async for each in stream]

    assert stages(told) == ["indexing", "done"]
    assert (await stream.result).written == 2


async def test_an_error_in_the_callback_ends_the_run(ai: Flowkit):
    def fail(progress: Progress) -> None:
        if progress.chunks:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ai.ingest("docs", doc("a"), on_progress=fail)
