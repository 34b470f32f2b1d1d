"""How the running app would cut a document, for an embedder that it has: with that embedder's own tokens.

told = await split_preview(ai.registry, {"document": …, "splitter": "auto", "settings": {}, "embedder": "local/…"})
"""

from collections.abc import Mapping
from typing import Any

from flowkit.ai.embed import embedder_info
from flowkit.core.registry import Registry
from flowkit.core.threads import run_in_thread
from flowkit.rag.ingest.defaults import MAX_TOKENS, estimated_tokens, tokenizer_of
from flowkit.schema.documents import Document
from flowkit.server.preview.cut import cut
from flowkit.server.preview.shapes import ESTIMATE, SplitPreviewData

__all__ = ["split_preview"]


async def split_preview(registry: Registry, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The preview in its wire form.

    Raises:
        NotFoundError: no such embedder.
        InvalidInputError: the text cannot be cut so.
    """
    action = await registry.find("embedder", str(asked["embedder"]))
    count = tokenizer_of(registry, action.name)
    limit = min(MAX_TOKENS, embedder_info(action).max_input_tokens or MAX_TOKENS)

    def work() -> SplitPreviewData:
        return cut(
            Document.from_wire(asked["document"]),
            str(asked["splitter"]),
            asked["settings"],
            count=count,
            counted_by=ESTIMATE if count is estimated_tokens else action.name,
            max_tokens=limit,
        )

    preview: SplitPreviewData = await run_in_thread(work)
    return preview.to_wire()
