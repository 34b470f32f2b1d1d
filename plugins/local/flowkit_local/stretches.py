"""Stretches of whole sentences, each as long as the model reads at once.

for stretch in stretches(passages, tokenizer, limit=254): ...
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flowkit_local.passages import Passage
from flowkit_local.tokenizer import Tokenizer

__all__ = ["Span", "Stretch", "stretches"]


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens of one sentence in a stretch."""

    passage: int
    sentence: int
    start: int
    end: int


@dataclass(slots=True)
class Stretch:
    ids: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


def stretches(passages: Sequence[Passage], tokenizer: Tokenizer, limit: int) -> list[Stretch]:
    """The passages' tokens, at most `limit` in a stretch. Only a sentence over the limit is cut."""
    found: list[Stretch] = []
    for at, passage in enumerate(passages):
        found.append(Stretch())
        for number, sentence in enumerate(passage.sentences):
            ids = tokenizer.encode(passage.quote(sentence)).ids
            if found[-1].ids and len(found[-1].ids) + len(ids) > limit:
                found.append(Stretch())
            for cut in range(0, len(ids), limit):
                if cut:
                    found.append(Stretch())
                piece = ids[cut : cut + limit]
                start = len(found[-1].ids)
                found[-1].ids += piece
                found[-1].spans.append(Span(at, number, start, start + len(piece)))
    return [stretch for stretch in found if stretch.ids]
