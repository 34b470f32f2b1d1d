"""Transformers: between parsing and embedding, documents and chunks are rewritten or left out.

    plain = transform.html_to_text(selector="main")(document)
    await ai.ingest("docs", "site/", transform=transform.html_to_text(), transform_chunk=transform.prefix("title"))

Any function from a document to a document, or to None (leave it out), is one; it may be async.
"""

from flowkit.rag.transform.apply import Transform, transform_all
from flowkit.rag.transform.graph import GraphDocument, GraphEdge, GraphNode
from flowkit.rag.transform.html import html_to_text
from flowkit.rag.transform.llm_graph import LlmGraph, llm_graph
from flowkit.rag.transform.prefix import prefix

__all__ = [
    "GraphDocument",
    "GraphEdge",
    "GraphNode",
    "LlmGraph",
    "Transform",
    "html_to_text",
    "llm_graph",
    "prefix",
    "transform_all",
]
