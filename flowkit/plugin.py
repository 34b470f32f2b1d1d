"""For plugin authors: everything a plugin may import, in one place.

from flowkit.plugin import Action, ActionInfo, Kind, Registry, StorePlugin
"""

from flowkit.ai.embed import make_embedder
from flowkit.ai.evaluate import make_evaluator
from flowkit.ai.generate import make_model
from flowkit.ai.index import make_indexer
from flowkit.ai.rerank import make_reranker
from flowkit.ai.retrieve import make_retriever
from flowkit.config import Settings, project_root
from flowkit.core.action import Action
from flowkit.core.context import RunContext, current_run
from flowkit.core.kinds import Kind
from flowkit.core.per_loop import PerLoop
from flowkit.core.plugin import ActionInfo, CheckedPlugin, Plugin
from flowkit.core.registry import Registry
from flowkit.core.spans import ATTRIBUTES, annotate
from flowkit.core.sqlite_files import make_private_file, transaction, use_wal
from flowkit.core.threads import run_in_thread
from flowkit.core.together import together
from flowkit.rag.stores.abilities import NamespacedStore, SqlStore, StoreAbilities
from flowkit.rag.stores.contract import (
    EmbeddedDocument,
    Page,
    RowKey,
    SearchMode,
    SearchQuery,
    StoreStats,
    Vector,
    VectorStore,
)
from flowkit.rag.stores.serve import SearchOptions, StorePlugin
from flowkit.schema.documents import document_id, embedded_text, metadata_hash, text_hash
from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, EmbedTask
from flowkit.schema.filters import And, Comparison, Membership, Not, Or, check, compile, joined_types, key_type
from flowkit.schema.model import (
    Citation,
    GenerateRequest,
    GenerateResponse,
    GenerateResponseChunk,
    ModelInfo,
    ModelSupports,
    Usage,
)
from flowkit.schema.parts import Part, TextPart
from flowkit.schema.text import is_blank
from flowkit.schema.wire import Wire

__all__ = [
    "ATTRIBUTES",
    "Action",
    "ActionInfo",
    "And",
    "CheckedPlugin",
    "Citation",
    "Comparison",
    "EmbedRequest",
    "EmbedResponse",
    "EmbedTask",
    "EmbeddedDocument",
    "EmbedderInfo",
    "Embedding",
    "GenerateRequest",
    "GenerateResponse",
    "GenerateResponseChunk",
    "Kind",
    "Membership",
    "ModelInfo",
    "ModelSupports",
    "NamespacedStore",
    "Not",
    "Or",
    "Page",
    "Part",
    "PerLoop",
    "Plugin",
    "Registry",
    "RowKey",
    "RunContext",
    "SearchMode",
    "SearchOptions",
    "SearchQuery",
    "Settings",
    "SqlStore",
    "StoreAbilities",
    "StorePlugin",
    "StoreStats",
    "TextPart",
    "Usage",
    "Vector",
    "VectorStore",
    "Wire",
    "annotate",
    "check",
    "compile",
    "current_run",
    "document_id",
    "embedded_text",
    "is_blank",
    "joined_types",
    "key_type",
    "make_embedder",
    "make_evaluator",
    "make_indexer",
    "make_model",
    "make_private_file",
    "make_reranker",
    "make_retriever",
    "metadata_hash",
    "project_root",
    "run_in_thread",
    "text_hash",
    "together",
    "transaction",
    "use_wal",
]
