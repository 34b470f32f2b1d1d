"""Areas html_to_text and graph_transformer.

ADAPTERS["html_to_text"]({"document": {"text": "<p>Hi</p>", "metadata": {}}})
"""

from collections.abc import Mapping
from typing import Any

from flowkit import Document
from flowkit.rag import transform
from tests.conformance import decode


def html_to_text(given: Mapping[str, Any]) -> Any:
    document = Document.from_text(given["document"]["text"], decode.metadata(given["document"]["metadata"]))
    to_text = transform.html_to_text(
        given.get("selector"),
        metadata_selectors=given.get("metadata_selectors") or {},
        include_links=given.get("include_links", False),
    )
    made = to_text(document)
    return {"text": made.text, "metadata": dict(made.metadata)}


async def graph_transformer(given: Mapping[str, Any]) -> Any:
    drawn = await transform.llm_graph(lambda request: given["llm_response"])(Document.from_text(given["text"]))
    if drawn is None:
        return {"graph": None}
    return {
        "graph": {
            "nodes": sorted(f"{node.id}|{node.type}" for node in drawn.nodes),
            "edges": sorted(f"{edge.source.id}|{edge.type}|{edge.target.id}" for edge in drawn.edges),
        }
    }


ADAPTERS = {"graph_transformer": graph_transformer, "html_to_text": html_to_text}
