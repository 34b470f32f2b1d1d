"""Area ingestor: documents through `Flowkit.ingest` into a store in memory, with an embedder that counts words.

ADAPTERS["ingestor"]({"documents": [{"text": "hello", "metadata": {}}]})
"""

from collections.abc import Callable, Mapping
from typing import Any

from flowkit import Document, EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, Flowkit, Usage
from flowkit.config import Settings
from flowkit.rag.stores.memory import InMemoryStore
from tests.conformance import decode, splitters
from tests.conformance.vector import NoCounterpart

Step = Callable[[Document], Document | None]


async def ingestor(given: Mapping[str, Any]) -> Any:
    if given.get("input_type") and not given.get("model_supports_input_type", True):
        raise NoCounterpart("a task demanded of an embedder that knows none")
    calls: list[EmbedRequest] = []
    # The vectors count calls, so none may be saved by what an earlier run has embedded.
    settings = Settings(embedding_cache=False)
    ai = Flowkit(plugins=[store := InMemoryStore("stored", embedder="stub")], settings=settings)

    @ai.embedder("stub", info=EmbedderInfo(label="stub", dimensions=1))
    async def stub(request: EmbedRequest) -> EmbedResponse:
        calls.append(request)
        words = sum(len(document.text.split()) for document in request.input)
        vectors = tuple(Embedding(vector=(1.0,)) for _ in request.input)
        return EmbedResponse(embeddings=vectors, usage=Usage(input_tokens=words, total_tokens=words))

    documents = [
        Document.from_text(each["text"], decode.metadata(each["metadata"]) or None) for each in given["documents"]
    ]
    async with ai:
        report = await ai.ingest(
            "stored",
            documents,
            splitter=splitters.splitter_of(given["splitter"], given) if given.get("splitter") else None,
            transform=_step(given.get("document_transformer")),
            transform_chunk=_step(given.get("segment_transformer")),
        )
        stored = (await store.fetch(ids=report.ids, limit=1000)).items if report.ids else ()
    usage = report.usage
    return {
        "stored": [_segment(row.document) for row in stored],
        "token_usage": usage
        and {"input": usage.input_tokens, "output": usage.output_tokens, "total": usage.total_tokens},
        "embed_calls": len(calls),
        # Flowkit always says what a text is embedded for; the vectors look at it where it was asked for.
        "input_type": calls[0].options["task"] if given.get("input_type") and calls and calls[0].options else None,
    }


def _segment(chunk: Document) -> dict[str, Any]:
    ours = ("index", "start", "end", "content_hash")
    rest = {key: value for key, value in chunk.metadata.items() if key not in ours}
    return {"text": chunk.text, "index": int(str(chunk.metadata["index"])), "metadata": rest}


def _step(given: Mapping[str, Any] | None) -> Step | None:
    """The declarative transformers of the vectors."""
    if given is None:
        return None
    key, value = given.get("key", ""), decode.value(given.get("value"))
    steps: dict[str, Step] = {
        "add_metadata": lambda document: document.with_metadata(**{key: value}),
        "uppercase": lambda document: _with_text(document, document.text.upper()),
        "drop_if_metadata": lambda document: None if document.metadata.get(key) == value else document,
        "prefix_metadata": lambda document: _with_text(document, f"{document.metadata.get(key)}\n{document.text}"),
        "lowercase_drop_containing": lambda document: (
            None if value in document.text.lower() else _with_text(document, document.text.lower())
        ),
    }
    if given["op"] not in steps:
        raise NoCounterpart(f"{given['op']} transformer")
    return steps[given["op"]]


def _with_text(document: Document, text: str) -> Document:
    return Document.from_text(text, document.metadata)


ADAPTERS = {"ingestor": ingestor}
