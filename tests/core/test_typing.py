"""Types: an app that uses decorators, steps and verbs passes `mypy --strict`, and wrong uses are found."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.modules import ROOT

RIGHT = """
from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from pydantic import BaseModel

from flowkit import (
    Action,
    Document,
    Embedding,
    EvalCase,
    F,
    Flowkit,
    GenerateRequest,
    GenerateResponse,
    GenerateResponseChunk,
    IndexReport,
    RunContext,
    Score,
    ScoredDocument,
)

ai = Flowkit(model="fake/model")


class Answer(BaseModel):
    text: str


def words(text: str) -> list[str]:
    return text.split()


@ai.flow
async def bare(question: str) -> Answer:
    return Answer(text=question)


@ai.flow()
def sync(question: str, ctx: RunContext) -> int:
    ctx.send_chunk(question)
    return ai.run_sync(bare, question).text.count("x")


@ai.flow("named", metadata={"owner": "kitchen"})
async def named(*, q: str, k: int = 3) -> list[Answer]:
    parts = await ai.run("words", words, q)
    assert_type(parts, list[str])
    answer = await ai.run("ask", bare, q)
    assert_type(answer, Answer)
    return [answer][:k]


@ai.flow()
async def spelled(word: str) -> AsyncIterator[str]:
    for letter in word:
        yield letter


@ai.flow()
async def counted(n: int) -> AsyncIterator[int]:
    for k in range(n):
        yield k


@ai.flow()
def counted_in_a_thread(n: int) -> Iterator[int]:
    yield from range(n)


@ai.tool()
async def weather(city: str) -> str:
    return f"sunny in {city}"


@ai.model("fake/model")
async def model(request: GenerateRequest, ctx: RunContext) -> AsyncIterator[str | GenerateResponse]:
    yield request.messages[-1].text


@ai.embedder()
async def embedder(texts: list[str]) -> list[list[float]]:
    return [[float(len(text))] for text in texts]


@ai.retriever()
async def retriever(query: str, *, k: int = 3) -> list[Document]:
    return [Document.from_text(query)] * k


@ai.simple_retriever("rows", content="text", metadata=["page"])
def rows(query: str) -> list[dict[str, str]]:
    return [{"text": query, "page": "1"}]


@ai.reranker()
def reranker(query: str, documents: list[str]) -> list[float]:
    return [float(query in document) for document in documents]


@ai.evaluator("short", display_name="Short", definition="At most 100 characters")
async def short(case: EvalCase) -> Score:
    return Score(score=len(str(case.output)) <= 100)


class Kitchen:
    @ai.flow("price")
    @staticmethod
    def price(dish: str) -> int:
        return len(dish)


async def main() -> None:
    assert_type(await bare("x"), Answer)
    assert_type(await sync("x", context={"auth": "ada"}), int)
    assert_type(await named(q="x"), list[Answer])
    assert_type(await spelled("x"), str)
    assert_type(await counted(2), list[int])
    assert_type(await counted_in_a_thread(2), list[int])
    assert_type(await weather("Oslo"), str)
    assert_type(await Kitchen.price("soup"), int)
    async with counted.stream(3) as stream:
        async for number in stream:
            assert_type(number, int)
        assert_type(await stream.result, list[int])
    assert_type(await ai.run("length", len, "abc"), int)
    assert_type(ai.run_sync(bare, "x"), Answer)
    assert_type(ai.run_sync(bare("x")), Answer)
    assert_type(await ai.generate("hi"), GenerateResponse)
    async with ai.generate_stream("hi", model=model) as chunks:
        async for chunk in chunks:
            assert_type(chunk, GenerateResponseChunk)
    hits = await ai.retrieve(retriever, "soup", k=2, where=F("price") < 10)
    assert_type(hits, list[ScoredDocument])
    assert_type(await ai.rerank(reranker, "soup", hits), list[ScoredDocument])
    assert_type(await ai.embed(embedder, "soup", task="query"), Embedding)
    assert_type(await ai.index("menu", hits), IndexReport)


def takes_actions(action: Action[object, Answer, object]) -> None: ...
"""

WRONG = """
from flowkit import Flowkit

ai = Flowkit()


@ai.flow()
async def greet(name: str) -> str:
    return name


async def main() -> None:
    number: int = await greet("Ada")
    await ai.run("length", len, 3)
    text: str = ai.run_sync(greet, "Ada")
    print(number, text)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def check(code: str, folder: Path, cache: Path) -> str:
    (folder / "app.py").write_text(code)
    env = {**os.environ, "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "app.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=170)
    return done.stdout + done.stderr


@pytest.mark.heavy
def test_an_app_of_a_user_is_typed(tmp_path: Path, cache: Path):
    assert check(RIGHT, tmp_path, cache) == "Success: no issues found in 1 source file\n"


@pytest.mark.heavy
def test_wrong_uses_are_found(tmp_path: Path, cache: Path):
    found = check(WRONG, tmp_path, cache)

    assert (
        'app.py:13: error: Incompatible types in assignment (expression has type "str", variable has type "int")'
        in found
    )
    assert 'app.py:14: error: No overload variant of "run" of "Flowkit" matches argument types' in found
    assert "Found 2 errors in 1 file" in found
