"""flowkit: RAG and AI flows in which every step can be seen.

    ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")], model="local/extractive")
"""

from flowkit.app import Flowkit
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
]
