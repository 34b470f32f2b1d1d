"""flowkit: RAG and AI flows in which every step can be seen.

    ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")], model="local/extractive")

Names are loaded when they are first used: `flowkit --help` and the pytest plugin import this package, and need none.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowkit.app import Flowkit
    from flowkit.core.access import FlowLimits, FlowRequest, api_key
    from flowkit.core.action import Action
    from flowkit.core.context import RunContext
    from flowkit.errors import FlowkitError
    from flowkit.schema.documents import Document, ScoredDocument
    from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse
    from flowkit.schema.evaluation import EvalCase, EvalResult, Score
    from flowkit.schema.filters import F, Filter
    from flowkit.schema.messages import Message
    from flowkit.schema.metadata import Metadata
    from flowkit.schema.model import (
        Citation,
        GenerateRequest,
        GenerateResponse,
        GenerateResponseChunk,
        ModelInfo,
        Usage,
    )
    from flowkit.schema.retrieval import IndexReport

__all__ = [
    "Action",
    "Citation",
    "Document",
    "EmbedRequest",
    "EmbedResponse",
    "EmbedderInfo",
    "Embedding",
    "EvalCase",
    "EvalResult",
    "F",
    "Filter",
    "FlowLimits",
    "FlowRequest",
    "Flowkit",
    "FlowkitError",
    "GenerateRequest",
    "GenerateResponse",
    "GenerateResponseChunk",
    "IndexReport",
    "Message",
    "Metadata",
    "ModelInfo",
    "RunContext",
    "Score",
    "ScoredDocument",
    "Usage",
    "api_key",
]

_HOMES = {
    "flowkit.app": ("Flowkit",),
    "flowkit.core.access": ("FlowLimits", "FlowRequest", "api_key"),
    "flowkit.core.action": ("Action",),
    "flowkit.core.context": ("RunContext",),
    "flowkit.errors": ("FlowkitError",),
    "flowkit.schema.documents": ("Document", "ScoredDocument"),
    "flowkit.schema.embedding": ("EmbedderInfo", "Embedding", "EmbedRequest", "EmbedResponse"),
    "flowkit.schema.evaluation": ("EvalCase", "EvalResult", "Score"),
    "flowkit.schema.filters": ("F", "Filter"),
    "flowkit.schema.messages": ("Message",),
    "flowkit.schema.metadata": ("Metadata",),
    "flowkit.schema.model": (
        "Citation",
        "GenerateRequest",
        "GenerateResponse",
        "GenerateResponseChunk",
        "ModelInfo",
        "Usage",
    ),
    "flowkit.schema.retrieval": ("IndexReport",),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'flowkit' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
