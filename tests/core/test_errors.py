"""Errors: the tree is as drawn, user exceptions pass through with a note, and tracebacks show the user's code."""

import re
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import flowkit
from flowkit import Document, Flowkit, FlowkitError, GenerateRequest, errors
from flowkit.errors import GRPC_CODE, HTTP_STATUS, BackendError, InvalidInputError, Status
from tests.support.traced import Spans

PACKAGE = Path(flowkit.__file__).parent


def drawn() -> list[tuple[int, str, str]]:
    """Depth, class and status of each line of the drawing in the module's docstring."""
    lines = (errors.__doc__ or "").splitlines()
    found = [re.match(r"^    ((?:│   |├── |└── |    )*)(\w+) +([A-Z_]+)", line) for line in lines]
    return [(len(line[1]) // 4, line[2], line[3]) for line in found if line]


def grown(kind: type[FlowkitError], depth: int = 0) -> list[tuple[int, str, str]]:
    children = [cls for cls in kind.__subclasses__() if cls.__module__ == errors.__name__]
    return [(depth, kind.__name__, kind.default_status), *(line for c in children for line in grown(c, depth + 1))]


def test_the_drawing_is_the_tree():
    assert drawn() == grown(FlowkitError)


def test_the_module_exports_every_error():
    assert {name for _, name, _ in drawn()} < set(errors.__all__)


def test_every_status_has_its_numbers():
    assert list(GRPC_CODE) == list(HTTP_STATUS) == list(get_args(Status))
    assert [GRPC_CODE[s] for s in ("OK", "INVALID_ARGUMENT", "NOT_FOUND", "INTERNAL", "UNAUTHENTICATED")] == [
        0,
        3,
        5,
        13,
        16,
    ]
    assert HTTP_STATUS["RESOURCE_EXHAUSTED"] == 429


def test_an_error_says_what_and_what_to_do():
    error = BackendError("the service is busy", hint="try later", status="RESOURCE_EXHAUSTED", details={"after": 3})

    assert str(error) == "the service is busy (try later)"
    assert (error.code, error.http_status, error.details) == (8, 429, {"after": 3})
    assert isinstance(InvalidInputError("x"), ValueError)


# Exceptions of users.


class Stuck(Exception):
    """An exception that takes no notes."""

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("frozen")


async def test_an_exception_passes_unwrapped_with_a_note_of_where_it_began(ai: Flowkit, spans: Spans):
    error = KeyError("soup")

    @ai.flow()
    async def inner() -> None:
        raise error

    @ai.flow()
    async def outer() -> None:
        await ai.run("a step", inner)

    with pytest.raises(KeyError) as caught:
        await outer()

    assert caught.value is error
    assert error.__notes__ == [f"in flow 'inner', trace {spans.named('outer').trace_hex}"]
    assert [(span.name, span.state, span.failure_source) for span in spans] == [
        ("inner", "error", True),
        ("a step", "error", False),
        ("outer", "error", False),
    ]


async def test_an_untraced_exception_has_a_note_too(ai: Flowkit):
    @ai.flow()
    async def inner() -> None:
        raise KeyError("soup")

    @ai.flow()
    async def outer() -> None:
        await inner()

    with pytest.raises(KeyError) as caught:
        await outer()
    assert caught.value.__notes__ == ["in flow 'inner'"]


async def test_one_exception_that_is_raised_run_after_run_keeps_one_note(ai: Flowkit, spans: Spans):
    error = KeyError("soup")

    @ai.flow()
    async def fails() -> None:
        raise error

    for _ in range(3):
        with pytest.raises(KeyError):
            await fails()

    assert error.__notes__ == [f"in flow 'fails', trace {spans[-1].trace_hex}"]
    assert [span.failure_source for span in spans] == [True] * 3


async def test_an_exception_that_cannot_be_written_to_passes_as_it_is(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def fails() -> None:
        raise Stuck("x")

    with pytest.raises(Stuck):
        await fails()
    assert spans.named("fails").state == "error"


async def test_a_cause_is_kept_through_batches_and_threads(ai: Flowkit):
    @ai.embedder()
    def fails(texts: list[str]) -> list[list[float]]:
        try:
            raise OSError("no network")
        except OSError as error:
            raise BackendError("cannot embed") from error

    with pytest.raises(BackendError) as caught:
        await ai.embed_many(fails, ["text"] * 250)
    assert isinstance(caught.value.__cause__, OSError)


# Tracebacks: at most three lines of the framework for an action between two lines of the user's.


def soup() -> None:
    raise ValueError("soup")


async def frames_between(run: Callable[[], Awaitable[object]]) -> list[list[str]]:
    """The functions of ours in a traceback, a list for each stretch between two of the user's."""
    with pytest.raises(ValueError, match="soup") as caught:
        await run()
    stretches: list[list[str]] = [[]]
    for frame in traceback.extract_tb(caught.value.__traceback__):
        if Path(frame.filename).is_relative_to(PACKAGE):
            stretches[-1].append(frame.name)
        elif stretches[-1]:
            stretches.append([])
    return [stretch for stretch in stretches if stretch]


def flows(ai: Flowkit) -> dict[str, Callable[[], Awaitable[Any]]]:
    """One call for each way in which a user's function can run."""

    @ai.flow()
    async def plain() -> None:
        soup()

    @ai.flow()
    def sync() -> None:
        soup()

    @ai.flow()
    async def stream():
        soup()
        yield 1

    @ai.flow()
    def sync_stream():
        soup()
        yield 1

    @ai.flow()
    async def nested() -> None:
        await plain()

    @ai.flow()
    async def step() -> None:
        await ai.run("a", plain)
        await ai.run("b", soup)

    @ai.flow()
    async def sync_step() -> None:
        await ai.run("b", soup)

    return {
        "a flow": plain,
        "a sync flow": sync,
        "a streaming flow": stream,
        "a sync streaming flow": sync_stream,
        "a nested flow": nested,
        "a step": step,
        "a sync step": sync_step,
    }


def kinds(ai: Flowkit) -> dict[str, Callable[[], Awaitable[Any]]]:
    """The same for what verbs run."""

    @ai.retriever()
    async def retriever(query: str) -> list[Document]:
        soup()
        return []

    @ai.retriever()
    def sync_retriever(query: str) -> list[Document]:
        soup()
        return []

    @ai.indexer()
    async def indexer(documents: list[str]) -> None:
        soup()

    @ai.reranker()
    async def reranker(query: str, documents: list[str]) -> list[float]:
        soup()
        return []

    @ai.embedder()
    async def embedder(texts: list[str]) -> list[list[float]]:
        soup()
        return []

    @ai.model()
    async def model(request: GenerateRequest) -> str:
        soup()
        return ""

    @ai.model()
    async def streaming_model(request: GenerateRequest):
        soup()
        yield ""

    document = Document.from_text("x")
    return {
        "a retriever": lambda: ai.retrieve(retriever, "q"),
        "a sync retriever": lambda: ai.retrieve(sync_retriever, "q"),
        "an indexer": lambda: ai.index(indexer, [document]),
        "a reranker": lambda: ai.rerank(reranker, "q", [document]),
        "an embedder": lambda: ai.embed(embedder, "x"),
        "an embedder in batches": lambda: ai.embed_many(embedder, ["x"] * 250),
        "a model": lambda: ai.generate("q", model=model),
        "a streaming model": lambda: ai.generate("q", model=streaming_model),
    }


@pytest.mark.parametrize("way", [*flows(Flowkit()), *kinds(Flowkit())])
async def test_a_traceback_has_three_lines_of_ours_for_an_action(ai: Flowkit, way: str):
    for stretch in await frames_between((flows(ai) | kinds(ai))[way]):
        assert len(stretch) <= 3, stretch
