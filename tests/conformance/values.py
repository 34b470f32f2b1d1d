"""Areas metadata, document, similarity, search_request and token_usage.

ADAPTERS["similarity"]({"op": "cosine", "a": [1, 0], "b": [0, 1]})     # {"value": 0.0}
"""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowkit import Document, Embedding, Metadata, Usage
from flowkit.errors import InvalidInputError
from flowkit.plugin import SearchQuery
from flowkit.rag import load
from flowkit.schema.embedding import cosine, cosine_from_relevance, relevance
from tests.conformance import decode
from tests.conformance.vector import NoCounterpart


def metadata(given: Mapping[str, Any]) -> Any:
    found = Metadata(decode.metadata(given["metadata"]))
    op, key = given["op"], given.get("key", "")
    match op:
        case "create":
            pass
        case "get":
            return {"value": _getter(found, given["as"])(key)}
        case "contains" | "contains_key":
            return {"value": key in found}
        case "put":
            found[key] = decode.value(given["value"])
        case "put_all":
            found.update(decode.metadata(given["other"]))
        case "remove":
            found.pop(key, None)
        case "merge":
            found = found.merge(decode.metadata(given["other"]))
        case "copy_isolated":
            original, found = found, found.copy()
            original["a key of its own"] = 1
        case _:
            raise NoCounterpart(op)
    return {"metadata": dict(found)}


def _getter(found: Metadata, kind: str) -> Any:
    getters = {
        "string": found.get_str,
        "uuid": found.get_uuid,
        "int": found.get_int,
        "integer": found.get_int,
        "long": found.get_int,
        "float": found.get_float,
        "double": found.get_float,
    }
    if kind not in getters:
        raise NoCounterpart(f"get as {kind}")
    return getters[kind]


def document(given: Mapping[str, Any]) -> Any:
    match given["op"]:
        case "create":
            made = Document.from_text(given["text"], decode.metadata(given["metadata"]))
        case "to_segment":
            inner = given["document"]
            made = Document.from_text(inner["text"], decode.metadata(inner["metadata"])).to_chunk()
        case "load":
            made = asyncio.run(_loaded(given))
        case other:
            raise NoCounterpart(other)
    return {"text": made.text, "metadata": dict(made.metadata)}


async def _loaded(given: Mapping[str, Any]) -> Document:
    """What a loader says is put over what its parser says; the `source` that all of ours say is not in the vectors."""

    def parser(content: Path) -> Document:
        return Document.from_text(content.read_text(encoding="utf-8"), decode.metadata(given["parser_metadata"]))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "document.txt")
        path.write_text(given["text"], encoding="utf-8")
        (item,) = [
            item async for item in load.file(path, parser=parser, metadata=decode.metadata(given["source_metadata"]))
        ]
    if isinstance(item, load.Skipped):
        raise InvalidInputError(item.reason)
    return item.with_metadata(source=None)


def similarity(given: Mapping[str, Any]) -> Any:
    match given["op"]:
        case "cosine":
            return {"value": cosine(given["a"], given["b"])}
        case "relevance_from_cosine":
            return {"value": relevance(given["value"])}
        case "cosine_from_relevance":
            return {"value": cosine_from_relevance(given["value"])}
        case "normalize":
            return {"vector": Embedding(vector=tuple(given["a"])).normalized().vector}
        case other:
            raise NoCounterpart(other)


def search_request(given: Mapping[str, Any]) -> Any:
    options = {"k": "max_results", "min_score": "min_score"}
    told = {name: given[theirs] for name, theirs in options.items() if given.get(theirs) is not None}
    query = SearchQuery(vector=given["query_embedding"], **told)
    return {"max_results": query.k, "min_score": query.min_score}


def token_usage(given: Mapping[str, Any]) -> Any:
    total = Usage.sum(_usage(counts) for counts in given["usages"])
    if total is None:
        return None
    return {"input": total.input_tokens, "output": total.output_tokens, "total": total.total_tokens}


def _usage(counts: list[int | None] | None) -> Usage | None:
    names = ("input_tokens", "output_tokens", "total_tokens")
    return None if counts is None else Usage(**dict(zip(names, counts, strict=False)))


ADAPTERS = {
    "document": document,
    "metadata": metadata,
    "search_request": search_request,
    "similarity": similarity,
    "token_usage": token_usage,
}
