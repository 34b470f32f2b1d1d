"""Documents: text (or other parts) with metadata. A chunk is a Document, and so is a hit.

Document.from_text("Tomato soup", {"source": "menu.pdf", "page": 2})
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Self

from pydantic import Field, PrivateAttr, model_validator

from flowkit.errors import InvalidInputError
from flowkit.schema.metadata import Metadata, StoredMetadata
from flowkit.schema.parts import Part, TextPart
from flowkit.schema.text import clean_text, is_blank
from flowkit.schema.wire import JSON, Wire

__all__ = ["Document", "ScoredDocument", "document_id", "embedded_text", "metadata_hash", "text_hash"]

# Made once: json.dumps makes an encoder for each call, which costs more than the encoding.
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode


class Document(Wire):
    """Content parts, metadata and an optional id, in Genkit's wire form (`id` is an extra key there).

    Text, metadata and id are cleaned of NUL and lone surrogates here, once, so that every store can hold them.
    """

    content: tuple[Part, ...]
    metadata: Metadata = Field(default_factory=Metadata)
    id: str | None = None
    _cleaned: int = PrivateAttr(default=0)

    @model_validator(mode="after")
    def _clean(self) -> Self:
        cleaned = 0
        parts = list(self.content)
        for at, part in enumerate(parts):
            if isinstance(part, TextPart):
                text, changed = clean_text(part.text)
                if changed:
                    parts[at] = part.model_copy(update={"text": text})
                    cleaned += changed
        if cleaned:
            object.__setattr__(self, "content", tuple(parts))
            self._cleaned = cleaned
        if self.id is not None and not self.id.isprintable():
            object.__setattr__(self, "id", clean_text(self.id)[0])
        return self

    @classmethod
    def from_text(cls, text: str, metadata: Mapping[str, Any] | None = None, *, id: str | None = None) -> "Document":
        """A document of one text part.

        Raises:
            InvalidInputError: the text is blank, the metadata is no dict, or a value in it is no JSON value.
        """
        if not isinstance(text, str) or is_blank(text):
            raise InvalidInputError("a document needs text", hint="skip empty pages and files")
        if not isinstance(metadata, Mapping | None):
            raise InvalidInputError(f"metadata is a {type(metadata).__name__}, not a dict", hint='write {"page": 3}')
        return cls(content=(TextPart(text=text),), metadata=StoredMetadata(metadata or {}), id=id)

    @property
    def text(self) -> str:
        """All text parts joined, without a separator (as Genkit does)."""
        if len(self.content) == 1 and isinstance(self.content[0], TextPart):
            return self.content[0].text
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def source(self) -> str | None:
        """Where it came from: `metadata["source"]` when that is a string."""
        source = self.metadata.get("source")
        return source if isinstance(source, str) else None

    @property
    def cleaned_characters(self) -> int:
        """How many characters were removed or replaced when this document was made."""
        return self._cleaned

    @property
    def identity(self) -> str:
        """What makes two documents the same: the id, else text and source, else text and metadata. Never a score."""
        if self.id:
            return self.id
        text = self.text or "\n".join(part.model_dump_json() for part in self.content)
        return document_id(self.source, text, 0, {k: v for k, v in self.metadata.items() if k != "score"})

    def __eq__(self, other: object) -> bool:
        # Not pydantic's, which would also compare how many characters were cleaned.
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.id, self.text))

    def to_chunk(self) -> Self:
        """The whole document as one chunk: `index` is 0 unless it has one."""
        return self if "index" in self.metadata else self.with_metadata(index=0)

    def with_metadata(self, **more: Any) -> Self:
        """A copy with more (or changed) metadata; None drops the key, a UUID becomes its string."""
        metadata = self.metadata.copy()
        metadata.update(more)
        return self.model_copy(update={"metadata": metadata})

    def with_id(self, id: str) -> Self:
        return self.model_copy(update={"id": clean_text(id)[0]})


class ScoredDocument(Document):
    """A hit: a document with `score` 0…1 (higher is better) and, after reranking, `rerank_score`."""

    score: float = 0.0
    rerank_score: float | None = None

    @classmethod
    def of(cls, document: Document, score: float, *, rerank_score: float | None = None) -> "ScoredDocument":
        # model_construct: the document has been validated already, and a search returns many of these.
        return cls.model_construct(
            content=document.content, metadata=document.metadata, id=document.id, score=score, rerank_score=rerank_score
        )


def text_hash(text: str) -> str:
    """32 hex digits of SHA-256: decides whether a chunk is embedded again."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def metadata_hash(metadata: Mapping[str, JSON]) -> str:
    """32 hex digits over the metadata as canonical JSON: decides whether a stored row is updated."""
    return text_hash(_canonical(metadata))


def embedded_text(document: Document) -> str:
    """The text that stands for a document where only text is taken: each text part on a line of its own, so that words
    at their ends stay apart."""
    if len(document.content) == 1:
        return document.text
    return "\n".join(part.text for part in document.content if isinstance(part, TextPart))


def document_id(source: str | None, text: str, occurrence: int, metadata: Mapping[str, JSON] | None = None) -> str:
    """The id of a chunk: a hash of source, text and how many equal texts of that source came before it.

    Without a source, text and metadata decide.
    """
    where = f"source:{source}" if source is not None else f"metadata:{metadata_hash(metadata or {})}"
    return text_hash(f"{where}\x00{occurrence}\x00{text}")
