"""The model `local/extractive`: answers with sentences of the given documents, or says that it does not know.

    response = await ai.generate(model="local/extractive", prompt="What is vegan?", docs=hits)
    response.text, response.citations

It invents nothing, needs no key, and gives the same answer every time.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flowkit import Citation, Document, Message, RunContext
from flowkit.errors import InvalidInputError
from flowkit.plugin import GenerateRequest, GenerateResponse, GenerateResponseChunk, ModelInfo, ModelSupports, Usage
from flowkit.rag.keyword import terms
from flowkit_local.encoder import Encoder
from flowkit_local.evidence import Evidence
from flowkit_local.passages import Passage, Sentence
from flowkit_local.question import question_of

__all__ = ["CONFIG_SCHEMA", "EXTRACTIVE_INFO", "UNKNOWN", "Extractive"]

UNKNOWN = "I don't know: the documents that were given do not answer this."
"""What it says when no sentence reaches the threshold."""

_SENTENCES = 2
_MOST_SENTENCES = 20
_THRESHOLD = 0.47
_CLOSE = 0.8
"""Further sentences are given when they score at least this share of the best one's."""
_REPEATS = 0.8
"""What the score of a sentence counts that has no word but the question's."""

EXTRACTIVE_INFO = ModelInfo(
    label="Local extractive answers",
    supports=ModelSupports(
        multiturn=True, media=False, tools=False, system_role=True, output=("text",), context=True, constrained="none"
    ),
    stage="stable",
)

CONFIG_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "integer",
            "minimum": 1,
            "maximum": _MOST_SENTENCES,
            "default": _SENTENCES,
            "description": "How many sentences an answer has at most",
        },
        "threshold": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": _THRESHOLD,
            "description": "What the best sentence must score; below it the answer is that it does not know",
        },
    },
}


@dataclass(frozen=True, slots=True)
class _Settings:
    sentences: int = _SENTENCES
    threshold: float = _THRESHOLD

    @classmethod
    def of(cls, config: dict[str, Any] | None) -> "_Settings":
        given = config or {}
        sentences, threshold = given.get("sentences", _SENTENCES), given.get("threshold", _THRESHOLD)
        if isinstance(sentences, bool) or not isinstance(sentences, int) or not 1 <= sentences <= _MOST_SENTENCES:
            raise InvalidInputError(
                f"config.sentences of local/extractive is {sentences!r}", hint=f"give 1 to {_MOST_SENTENCES}"
            )
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise InvalidInputError(
                f"config.threshold of local/extractive is {threshold!r}", hint="give a number from 0 to 1"
            )
        return cls(sentences, float(threshold))


@dataclass(frozen=True, slots=True)
class _Found:
    """A sentence that may answer."""

    score: float
    document: Document
    passage: Passage
    sentence: Sentence

    @property
    def quote(self) -> str:
        return self.passage.quote(self.sentence)

    @property
    def citation(self) -> Citation:
        start, end = _in_source(self.document, self.sentence)
        return Citation(
            document_id=self.document.id,
            source=self.document.source,
            page=_page(self.document, start),
            start=start,
            end=end,
            quote=self.quote,
        )


class Extractive:
    """The model's function; `encoder` reads the texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._evidence = Evidence(encoder)

    async def answer(self, request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
        """Answers with the sentences of the documents that fit the question best, and cites them."""
        settings = _Settings.of(request.config)
        question = question_of(request.messages)
        documents = [document for document in request.docs or () if document.text]
        ranked = await self.rank(question, documents)
        best = ranked[0].score if ranked else 0.0
        chosen = list(_distinct(ranked, settings.sentences)) if best >= settings.threshold else []
        text = ""
        for piece in _joined([found.quote for found in chosen] or [UNKNOWN]):
            ctx.send_chunk(GenerateResponseChunk.of_text(piece))
            text += piece
        message = Message.model(text).model_copy(
            update={"metadata": {"citations": [found.citation.to_wire() for found in chosen]}}
        )
        return GenerateResponse(
            message=message,
            usage=self._usage([question, *(document.text for document in documents)], text),
            custom={"score": round(best, 4), "threshold": settings.threshold},
        )

    async def rank(self, question: str, documents: Sequence[Document]) -> list[_Found]:
        """All sentences that could answer, the best first; equal ones in the order of the documents."""
        passages = [Passage.of(document.text) for document in documents]
        if not question or not any(passage.sentences for passage in passages):
            return []
        scores = await self._evidence.scores(question, passages)
        asked = set(terms(question))
        found = []
        for document, passage, row in zip(documents, passages, scores, strict=True):
            for sentence, score in zip(passage.sentences, row, strict=True):
                if not sentence.leads:
                    repeats = asked.issuperset(terms(passage.quote(sentence)))
                    found.append(_Found(score * (_REPEATS if repeats else 1), document, passage, sentence))
        return sorted(found, key=lambda item: -item.score)

    def _usage(self, given: Sequence[str], text: str) -> Usage:
        count = self._encoder.tokenizer.count
        taken, made = sum(map(count, given)), count(text)
        return Usage(
            input_tokens=taken,
            output_tokens=made,
            total_tokens=taken + made,
            input_characters=sum(map(len, given)),
            output_characters=len(text),
        )


def _distinct(ranked: Sequence[_Found], count: int) -> Iterator[_Found]:
    """The best ones that are close to each other, without those that overlapping chunks repeat."""
    taken: list[_Found] = []
    for found in ranked:
        if len(taken) == count or found.score < _CLOSE * ranked[0].score:
            return
        if not any(_repeats(found, other) for other in taken):
            taken.append(found)
            yield found


def _repeats(one: _Found, other: _Found) -> bool:
    ours, theirs = one.quote, other.quote
    return ours in theirs or theirs in ours


def _page(document: Document, start: int) -> int | None:
    """The page on which a sentence begins. A chunk over several pages says where the further ones begin."""
    page, breaks = document.metadata.get("page"), document.metadata.get("page_breaks")
    if type(page) is not int:
        return None
    return page + bisect_right(breaks, start) if isinstance(breaks, list) else page


def _in_source(document: Document, sentence: Sentence) -> tuple[int, int]:
    """The sentence's span in the parsed text.

    A chunk may differ from what it covers by whitespace; then the span is widened so that it still holds the sentence.
    """
    start, end = document.metadata.get("start"), document.metadata.get("end")
    if type(start) is not int:
        return sentence.start, sentence.end
    shift = end - start - len(document.text) if type(end) is int else 0
    return start + sentence.start + min(0, shift), start + sentence.end + max(0, shift)


def _joined(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences as pieces of one text, with a space between them except in scripts that have none.

    The lines of a PDF end where its page did; only citations keep them.
    """
    sentences = [" ".join(sentence.split()) for sentence in sentences]
    for at, sentence in enumerate(sentences):
        bare = at == 0 or ord(sentences[at - 1][-1]) >= 0x2E80
        yield sentence if bare else f" {sentence}"
