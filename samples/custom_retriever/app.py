"""A retriever of your own: it asks another retriever for many documents, reranks them, and keeps the best.

$ flowkit flow:run find "vegan curry with rice"
"""

import re

from pydantic import BaseModel, ConfigDict, Field

from flowkit import Document, Flowkit, ScoredDocument
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_local import Local

DISHES = (
    "Chickpea and spinach curry with basmati rice, vegan, 13.50 EUR",
    "Chicken curry with basmati rice, 15.50 EUR",
    "Vegan lentil shepherd's pie with mashed potatoes, 14.50 EUR",
    "Wild mushroom risotto with aged cheese, vegetarian, 16.00 EUR",
    "Grilled salmon with dill sauce and new potatoes, 21.00 EUR",
    "Roasted tomato soup with basil oil, vegan, 7.50 EUR",
    "Rib-eye steak with green pepper sauce, 28.00 EUR",
    "Chocolate tart with coconut cream, vegan, 7.00 EUR",
)

ai = Flowkit(plugins=[Local()])
ai.vector_store(InMemoryStore("dishes"), name="dishes", embedder="local/all-minilm-l6-v2")


class PreciseOptions(BaseModel):
    """The options of `precise`. They are checked on every call, and the UI makes a form of them."""

    model_config = ConfigDict(extra="forbid")

    k: int = Field(default=3, ge=1, le=1000, description="How many documents come back")
    pre_rerank_k: int = Field(default=10, ge=1, le=1000, description="How many documents are fetched and reranked")


@ai.reranker
def word_overlap(query: str, documents: list[str]) -> list[float]:
    """Scores a document by the share of the query's words that it has, 0 to 1."""
    wanted = _words(query)
    return [len(wanted & _words(text)) / max(len(wanted), 1) for text in documents]


@ai.retriever
async def precise(query: Document, options: PreciseOptions) -> list[ScoredDocument]:
    """Fetches `pre_rerank_k` dishes by meaning, reranks them by the words they share with the query, and cuts to `k`.

    Vectors find what means the same, but rank words such as "vegan" low when the rest fits; the reranker puts that
    right, and is too slow (or too costly) for the whole index. So `pre_rerank_k` is a trade: more candidates find more
    and take longer. Each hit keeps the `score` of the search and has a `rerank_score` from the reranker.
    """
    candidates = await ai.retrieve("dishes", query, k=max(options.pre_rerank_k, options.k))
    return await ai.rerank(word_overlap, query, candidates, k=options.k)


@ai.flow
async def find(wish: str) -> list[str]:
    """Find dishes for a wish; each line has the dish, its search score and its rerank score."""
    await ai.index("dishes", [Document.from_text(dish) for dish in DISHES])
    hits = await ai.retrieve(precise, wish, options=PreciseOptions(k=3, pre_rerank_k=6))
    return [f"{hit.text} (score {hit.score:.2f}, reranked {hit.rerank_score:.2f})" for hit in hits]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
