"""What every splitter is: a callable from one document to its chunks.

class ByHeading(Splitter):
    def pieces(self, text: str) -> list[Piece]: ...
ByHeading()(document)
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from flowkit.errors import InvalidInputError
from flowkit.rag.parsed import take
from flowkit.rag.split.mapped import BLANK
from flowkit.rag.split.memory import Memory
from flowkit.schema.documents import Document, text_hash
from flowkit.schema.metadata import Metadata
from flowkit.schema.parts import TextPart

__all__ = ["Piece", "Splitter"]


class Piece(NamedTuple):
    """A chunk's text, and the span of the document's text that it covers."""

    text: str
    start: int
    end: int


class Splitter(ABC):
    """Cuts documents into chunks; a subclass says where.

    A chunk is a Document with all metadata of its document (but what its parser tells the splitter, as `page_starts`),
    and `index` (int, from 0), `start` and `end` (the span in the document's text that the chunk covers; equal to it up
    to whitespace), `content_hash`, and `page` (from 1) where the document says in `page_starts` at which characters its
    pages begin. A chunk that goes over several pages has in `page_breaks` where the further ones begin.
    """

    @abstractmethod
    def pieces(self, text: str) -> list[Piece]:
        """The chunks of `text`, in order, none of them blank."""

    def __call__(self, document: Document) -> list[Document]:
        """The chunks of one document, in order; a document without text has none."""
        if not isinstance(document, Document):
            raise InvalidInputError(
                f"a splitter cuts a Document, not a {type(document).__name__}", hint="wrap it: Document.from_text(text)"
            )
        kept = document.metadata.copy()
        page_starts = take(kept).page_starts
        chunks = []
        for index, (text, start, end) in enumerate(self._remembered(document.text)):
            metadata = Metadata(kept)
            # Straight into the dict, and model_construct below: all of it is valid, and chunks are many.
            dict.update(metadata, index=index, start=start, end=end, content_hash=text_hash(text))
            if page_starts:
                # Blanks that a chunk begins with may be the end of the page before.
                first = start + len(text) - len(text.lstrip(BLANK))
                page = bisect_right(page_starts, first)
                dict.__setitem__(metadata, "page", max(1, page))
                if inside := page_starts[page : bisect_left(page_starts, end)]:
                    dict.__setitem__(metadata, "page_breaks", inside)
            part = TextPart(text=text)
            chunks.append(Document.model_construct(content=(part,), metadata=metadata, id=None))
        return chunks

    def _remembered(self, text: str) -> list[Piece]:
        """Ours give the same for the same text each time; of a subclass of somebody else that is not known."""
        if not type(self).__module__.startswith("flowkit."):
            return self.pieces(text)
        return self._memory.recall(text, self.pieces)

    @cached_property
    def _memory(self) -> Memory[Piece]:
        return Memory()

    def split_all(self, documents: Iterable[Document]) -> list[Document]:
        """The chunks of several documents in one list, in order; `index` starts again with each document."""
        return [chunk for document in documents for chunk in self(document)]
