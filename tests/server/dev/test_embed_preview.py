"""What an embedder makes of texts: vectors, how similar they are, where they lie, and the run that made them."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Flowkit
from flowkit.server.preview.vectors import compare
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser

VECTORS = {"soup": [3.0, 4.0, 0.0], "stew": [4.0, 3.0, 0.0], "car": [0.0, 0.0, 2.0]}


@pytest.fixture
def served(ai: Flowkit, serve: Serve) -> Flowkit:
    @ai.embedder("fake/words")
    async def words(texts: list[str], task: str = "none"):
        if "boom" in texts:
            raise ValueError("no power")
        return [VECTORS.get(text, [float(len(task)), 1.0, 1.0]) for text in texts]

    serve(ai)
    return ai


async def preview(browser: Browser, *texts: str, **body: Any) -> Any:
    return await browser.post("/api/embed-preview", {"key": "/embedder/fake/words", "texts": texts, **body})


async def test_texts_are_embedded_and_compared(browser: Browser, served: Flowkit):
    told = await preview(browser, "soup", "stew", "car", "soup")

    assert told["dimension"] == 3
    assert [vector["norm"] for vector in told["vectors"]] == pytest.approx([5, 5, 2, 5])
    assert told["vectors"][0]["first"] == [3.0, 4.0, 0.0]
    assert told["similarity"][0] == pytest.approx([1.0, 0.96, 0.0, 1.0])
    soup, _, car, again = ((vector["x"], vector["y"]) for vector in told["vectors"])
    assert soup == pytest.approx(again)
    assert math.dist(soup, car) > 1
    assert sum(told["explained"]) == pytest.approx(1.0)


async def test_it_is_a_run_with_a_trace(browser: Browser, served: Flowkit):
    told = await preview(browser, "soup", task="query")

    trace = await browser.get(f"/api/traces/{told['run']['traceId']}")
    (span,) = trace["spans"].values()
    assert told["durationMs"] > 0
    assert told["run"]["status"] == "success"
    assert '"task":"query"' in span["attributes"]["genkit:input"]
    assert (await browser.get("/api/runs"))["runs"][0]["runId"] == told["run"]["runId"]


async def test_one_text_lies_in_the_middle(browser: Browser, served: Flowkit):
    (vector,) = (await preview(browser, "soup"))["vectors"]

    assert (vector["x"], vector["y"]) == (0, 0)


async def test_what_the_embedder_raises_is_told_with_its_trace(browser: Browser, served: Flowkit):
    body = {"key": "/embedder/fake/words", "texts": ["boom"]}

    response = await browser.http.post("/api/embed-preview", json=body)

    error = response.json()["error"]
    assert response.status_code == 500
    assert error["message"] == "no power"
    assert (await browser.get(f"/api/traces/{error['details']['traceId']}"))["spans"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"texts": []}, "texts"),
        ({"texts": ["x"] * 51}, "texts"),
        ({"texts": ["x" * 20_001]}, "texts.0"),
        ({"texts": ["x", " "]}, "texts"),
        ({"texts": ["x"], "key": "/flow/echo"}, "key"),
        ({"texts": ["x"], "task": "poem"}, "task"),
    ],
)
async def test_what_cannot_be_embedded_is_refused_by_field(
    browser: Browser, served: Flowkit, body: dict[str, Any], field: str
):
    response = await browser.http.post("/api/embed-preview", json={"key": "/embedder/fake/words", **body})

    assert response.status_code == 400
    assert response.json()["error"]["details"]["errors"][0]["path"] == field


async def test_an_unknown_embedder(browser: Browser, served: Flowkit):
    body = {"key": "/embedder/fake/none", "texts": ["x"]}

    assert (await browser.http.post("/api/embed-preview", json=body)).status_code == 404


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(st.floats(-9, 9), min_size=n, max_size=n), min_size=1)))
def test_comparisons_are_symmetric_bounded_and_finite(vectors: list[list[float]]):
    look = compare(vectors)

    for i, row in enumerate(look.similarity):
        for j, value in enumerate(row):
            assert -1 <= value <= 1
            assert value == pytest.approx(look.similarity[j][i])
        assert row[i] == (1.0 if look.norms[i] >= 1e-12 else 0.0)
    assert all(math.isfinite(value) for point in look.points for value in point)
    assert 0 <= sum(look.explained) <= 1 + 1e-9
