"""Areas splitter and splitter_overlap.

ADAPTERS["splitter"]({"splitter": {"type": "word", "max_size": 9, "max_overlap": 0}, "document": {...}})
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from flowkit import Document
from tests.conformance import decode
from tests.conformance.vector import NoCounterpart

_OUR_KEYS = ("index", "start", "end", "content_hash")
"""What every chunk carries; the vectors know `index` only, beside the metadata."""


def splitter(given: Mapping[str, Any]) -> Any:
    document = Document.from_text(given["document"]["text"], decode.metadata(given["document"]["metadata"]))
    chunks = splitter_of(given["splitter"], given)(document)
    return {"segments": [_segment(chunk) for chunk in chunks]}


def _segment(chunk: Document) -> dict[str, Any]:
    rest = {key: value for key, value in chunk.metadata.items() if key not in _OUR_KEYS}
    return {"text": chunk.text, "index": chunk.metadata["index"], "metadata": rest}


def overlap(given: Mapping[str, Any]) -> Any:
    return {"overlap": splitter_of(given["splitter"], given).overlap(given["text"])}


def splitter_of(options: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    from flowkit.rag.split import levels as split

    arguments: dict[str, Any] = {"max_chars": options["max_size"], "overlap_chars": options["max_overlap"]}
    counter = _counter(options.get("counter"), given.get("size_table") or {})
    if counter is not None:
        arguments = {
            "max_tokens": options["max_size"],
            "overlap_tokens": options["max_overlap"],
            "tokenizer": counter,
        }
    if "sub_splitter" in options:
        arguments["sub_splitter"] = splitter_of(options["sub_splitter"], given)
    match options["type"]:
        case "regex":
            return split.regex(options["regex"], options["join"], **arguments)
        case "paragraph" | "line" | "sentence" | "word" | "character" | "recursive":
            return getattr(split, options["type"])(**arguments)
        case other:
            raise NoCounterpart(f"{other} splitter")


def _counter(name: str | None, table: Mapping[str, int]) -> Callable[[str], int] | None:
    match name:
        case None:
            return None
        case "whitespace":
            return lambda text: len(text.split())
        case _ if table:
            return lambda text: table[sha256(text.encode()).hexdigest()[:16]]
        case _:
            raise NoCounterpart(f"the {name} tokenizer")


ADAPTERS = {"splitter": splitter, "splitter_overlap": overlap}
