"""The sample of a retriever of one's own: it fetches many, reranks, and cuts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.errors import InvalidInputError
from flowkit.server.discover import find_app, load_app
from flowkit.testing import MemorySink
from tests.support.modules import ROOT

APP = ROOT / "samples" / "custom_retriever" / "app.py"


@pytest.fixture
async def ai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Flowkit]:
    """The sample, with its dishes in the index, and caches in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    app = load_app(find_app(str(APP), cwd=Path.cwd(), root=Path.cwd()))
    async with app:
        await (await app.action("/flow/find"))("soup")
        yield app


async def test_the_dish_that_shares_most_words_with_the_wish_comes_first(ai: Flowkit):
    first, *others = await (await ai.action("/flow/find"))("vegan curry with rice")

    assert first.startswith("Chickpea and spinach curry with basmati rice, vegan")
    assert "reranked 1.00" in first
    assert len(others) == 2


async def test_more_documents_are_fetched_than_come_back(ai: Flowkit, traces):
    seen: MemorySink = traces(ai)

    hits = await ai.retrieve("precise", "vegan curry", options={"k": 2, "pre_rerank_k": 6})

    assert len(hits) == 2
    assert [hit.rerank_score for hit in hits] == sorted((hit.rerank_score for hit in hits), reverse=True)
    fetched = next(span for span in seen.spans if span.name == "dishes")
    assert b'"k":6' in fetched.input
    assert {span.kind for span in seen.spans} == {"retriever", "embedder", "reranker"}


@pytest.mark.parametrize("options", [{"pre_rerank_k": 1001}, {"pre_rerank_k": 0}, {"k": 0}, {"rerank": 3}])
async def test_options_outside_their_bounds_are_refused(ai: Flowkit, options: dict[str, int]):
    with pytest.raises(InvalidInputError) as refused:
        await ai.retrieve("precise", "soup", options=options)

    assert next(iter(options)) in str(refused.value)


async def test_the_retriever_says_what_it_does_and_takes(ai: Flowkit):
    precise = await ai.action("/retriever/precise")

    assert "reranks them" in precise.description
    assert precise.metadata["retriever"]["customOptions"]["properties"]["pre_rerank_k"]["maximum"] == 1000
