"""Text as sparse values, so that a dot product with a question's gives BM25 without document frequencies.

document_words("Tomato soup, tomato bread")     # {"indices": [term's hash, …], "values": [weight, …]}
query_words("soup?")

Pinecone tells no document frequencies and no mean length: every term of a question weighs the same, and the length of
a text is compared with a fixed one.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from flowkit.rag.keyword import BM25_B, BM25_K1, TERMS_VERSION, query_terms, terms

__all__ = ["MEAN_TERMS", "MOST_TERMS", "RULES", "Sparse", "document_words", "query_words"]

Sparse = dict[str, list[Any]]
"""Indices and values, as Pinecone takes them."""
MEAN_TERMS = 200
"""What counts as the mean length of a text: about what a chunk of 300 tokens has."""
MOST_TERMS = 1_000
"""How many values Pinecone takes for a record, and for a query."""
RULES = f"1.{TERMS_VERSION}"
"""By which rules texts become sparse values: those of this file, and of the terms."""
_DIGITS = 6


def document_words(text: str) -> Sparse | None:
    """What is stored beside the vector; None for a text without words.

    Of more than 1,000 terms those with the greatest weight are kept, of equal ones the first.
    """
    found = terms(text)
    burden = BM25_K1 * (1 - BM25_B + BM25_B * len(found) / MEAN_TERMS)
    return _sparse((term, (BM25_K1 + 1) * count / (count + burden)) for term, count in Counter(found).items())


def query_words(text: str) -> Sparse | None:
    """What is asked for; None for a text without words.

    A term counts once, however often it is there: without document frequencies a common one would drown the rest.
    """
    return _sparse((term, 1.0) for term in dict.fromkeys(query_terms(text)))


def _sparse(weights: Iterable[tuple[str, float]]) -> Sparse | None:
    kept: dict[int, float] = {}
    for term, weight in weights:
        index = crc32(term.encode("utf-8", "surrogatepass"))
        kept[index] = kept.get(index, 0.0) + weight
    if not kept:
        return None
    if len(kept) > MOST_TERMS:
        kept = dict(sorted(kept.items(), key=lambda entry: -entry[1])[:MOST_TERMS])
    return {"indices": list(kept), "values": [round(weight, _DIGITS) for weight in kept.values()]}
