"""How well each sentence answers a question, 0…1: by the model's token states, and by the words they share.

    scores = await Evidence(encoder).scores("What is vegan?", passages)

Late interaction (Khattab and Zaharia, 2020) over states that saw the sentences around them: each token of the question
takes its best counterpart in the sentence. Matches of the sentences before count a little less, since an answer often
only points back ("It opened in 1889").
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flowkit.rag.keyword import idf, query_terms, terms
from flowkit_local.encoder import Encoder
from flowkit_local.passages import Passage, Sentence
from flowkit_local.readable import readable, token_weights
from flowkit_local.stretches import stretches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Evidence", "keyword_scores"]

_CARRY = (0.8, 0.7)
"""What counts of a match one and two sentences earlier."""
_CARRY_LEAD = 0.95
"""The same when that sentence is a heading or a question."""
_KEYWORDS = 0.05
"""The share of keywords in the score where the model can read the question."""
_KANA = 0.3
"""Hiragana is grammar for the most part, so terms with it say less."""
_MOST_STRETCHES = 16
"""Read for one answer; of more, those that share most words with the question."""
_KEPT = 32
"""Stretches whose states are kept, about 0.4 MB each."""

_HIRAGANA = re.compile("[\u3040-\u309f]")


class Evidence:
    """Scores sentences with an encoder that reads English, and other languages by their words alone."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._read: dict[tuple[int, ...], Floats] = {}

    async def scores(self, question: str, passages: Sequence[Passage]) -> list[list[float]]:
        """A score for each sentence of each passage."""
        by_keywords = keyword_scores(question, passages)
        if not readable(question):
            return [[_on_the_models_scale(score) for score in row] for row in by_keywords]
        by_model = await self._model_scores(question, passages, by_keywords)
        return [
            [(1 - _KEYWORDS) * ours + _KEYWORDS * theirs for ours, theirs in zip(row, other, strict=True)]
            for row, other in zip(by_model, by_keywords, strict=True)
        ]

    async def _model_scores(
        self, question: str, passages: Sequence[Passage], by_keywords: Sequence[Sequence[float]]
    ) -> list[list[float]]:
        import numpy as np

        encoder = self._encoder
        limit = encoder.max_text_tokens
        asked = encoder.tokenizer.encode(question).ids[-limit:]
        weights = np.asarray(token_weights(asked, encoder.tokenizer), dtype=np.float32)
        read = stretches(passages, encoder.tokenizer, limit)
        if len(read) > _MOST_STRETCHES:
            read.sort(key=lambda stretch: -max(by_keywords[s.passage][s.sentence] for s in stretch.spans))
            del read[_MOST_STRETCHES:]
        query, *seen = await self._states([asked, *(stretch.ids for stretch in read)])

        best = [np.zeros((len(passage.sentences), len(asked)), dtype=np.float32) for passage in passages]
        for stretch, rows in zip(read, seen, strict=True):
            similar = query @ rows.T
            for span in stretch.spans:
                found = best[span.passage][span.sentence]
                np.maximum(found, similar[:, span.start : span.end].max(axis=1), out=found)
        return [
            (_carried(found, passage.sentences) @ weights).tolist()
            for found, passage in zip(best, passages, strict=True)
        ]

    async def _states(self, texts: Sequence[list[int]]) -> "list[Floats]":
        """The states of each text at length 1, without the marks. The latest ones are kept: talk stays on a subject."""
        before, after = self._encoder.marks
        keys = [tuple(text) for text in texts]
        kept = self._read
        found = {key: kept[key] for key in keys if key in kept}
        new = [key for key in dict.fromkeys(keys) if key not in found]
        rows = await self._encoder.states([[*before, *key, *after] for key in new])
        for key, states in zip(new, rows, strict=True):
            found[key] = _unit(states[len(before) : len(states) - len(after)])
        # A new dict in one step, so that no lock is needed: what two callers read at once is only read again.
        latest = {**{key: states for key, states in kept.items() if key not in found}, **found}
        self._read = dict(list(latest.items())[-_KEPT:])
        return [found[key] for key in keys]


def keyword_scores(question: str, passages: Sequence[Passage]) -> list[list[float]]:
    """For each sentence the share of the question's terms that it has, weighted by how rare they are here, 0…1."""
    import numpy as np

    having = [[set(terms(passage.quote(s))) for s in passage.sentences] for passage in passages]
    everywhere = [found for row in having for found in row]
    asked = list(dict.fromkeys(query_terms(question)))
    weights = np.asarray(
        [
            idf(len(everywhere), sum(term in found for found in everywhere))
            * (_KANA if _HIRAGANA.search(term) else 1.0)
            for term in asked
        ]
    )
    weights /= weights.sum() or 1.0
    scores: list[list[float]] = []
    for row, passage in zip(having, passages, strict=True):
        found = np.asarray([[term in terms_of for term in asked] for terms_of in row], dtype=float)
        scores.append((_carried(found.reshape(len(row), len(asked)), passage.sentences) @ weights).tolist())
    return scores


def _carried(found: "NDArray[Any]", sentences: Sequence[Sentence]) -> "NDArray[Any]":
    """Matches (sentences × parts of the question) with those of the two sentences before, discounted."""
    import numpy as np

    carried = found.copy()
    for back, share in enumerate(_CARRY, start=1):
        for at in range(back, len(sentences)):
            factor = _CARRY_LEAD if back == 1 and sentences[at - 1].leads else share
            np.maximum(carried[at], factor * found[at - back], out=carried[at])
    return carried


def _unit(states: "Floats") -> "Floats":
    import numpy as np

    unit: Floats = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
    return unit


def _on_the_models_scale(keywords: float) -> float:
    """A keyword share as a score that means about as much as one with the model in it (measured on Japanese)."""
    return 0.83 * math.sqrt(keywords)
