"""From documents to the chunks that are stored: transform, split, transform the chunks, give ids.

pipeline = Pipeline(splitter, transform=None, transform_chunk=prefix("title"))
rows = await pipeline.chunks(documents, tally)
"""

from collections.abc import Callable, Iterable, Sequence

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError
from flowkit.rag.ingest.tally import Tally
from flowkit.rag.load.skipped import Skipped
from flowkit.rag.parsed import take
from flowkit.rag.transform.apply import Transform, transformed
from flowkit.schema.documents import Document, text_hash
from flowkit.schema.text import is_blank

__all__ = ["Pipeline", "Split"]

Split = Callable[[Document], Iterable[Document]]
"""One document in, its chunks out."""


class Pipeline:
    """The steps in order. `splitter=None` stores whole documents."""

    def __init__(
        self, splitter: Split | None, *, transform: Transform | None = None, transform_chunk: Transform | None = None
    ) -> None:
        for name, step in (("splitter", splitter), ("transform", transform), ("transform_chunk", transform_chunk)):
            if step is not None and not callable(step):
                raise InvalidInputError(
                    f"{name} is a {type(step).__name__}, which cannot be called",
                    hint="pass a function from a document to what becomes of it",
                )
        self._splitter = splitter
        self._transform = transform
        self._transform_chunk = transform_chunk
        self.skipped: list[Skipped] = []
        self.warnings: list[str] = []
        self.cleaned = 0

    async def chunks(self, documents: Sequence[Document], tally: Tally) -> list[Document]:
        """The chunks of several documents, with ids, in order."""
        for document in documents:
            tally.read(document.source)
            self.cleaned += document.cleaned_characters
            self._look_at(document)
        kept = await transformed(self._transform, list(documents), "transform")
        whole = [document for document in kept if self._has_text(document)]
        parts = await run_in_thread(self._split, (whole,))
        made = await transformed(self._transform_chunk, parts, "transform_chunk")
        rows = [_hashed(chunk) for chunk in made if not is_blank(chunk.text)]
        return tally.numbered(rows)

    def _look_at(self, document: Document) -> None:
        told = take(dict(document.metadata)).warnings
        if not told and document.metadata.get("text_layer") == "damaged":
            glyphs = document.metadata.get("unreadable_glyphs", "some")
            told = [f"the text layer is damaged, {glyphs} characters cannot be read"]
        self.warnings += [f"{document.source or 'a document'}: {each}" for each in told]

    def _has_text(self, document: Document) -> bool:
        if is_blank(document.text):
            self.skipped.append(Skipped(source=document.source or "a document", reason="it has no text", empty=True))
            return False
        return True

    def _split(self, documents: Sequence[Document]) -> list[Document]:
        if self._splitter is None:
            return [_whole(document) for document in documents]
        chunks: list[Document] = []
        for document in documents:
            chunks.extend(self._splitter(document))
        return chunks


def _whole(document: Document) -> Document:
    """A document as its only chunk, without what its parser told of it."""
    metadata = document.metadata.copy()
    take(metadata)
    return _plain(document.model_copy(update={"metadata": metadata})).to_chunk()


def _plain(document: Document) -> Document:
    """A hit of another index as a document: its score is nothing to keep."""
    if type(document) is Document:
        return document
    return Document.model_construct(content=document.content, metadata=document.metadata, id=document.id)


def _hashed(chunk: Document) -> Document:
    """`content_hash` is that of the text that is stored, whatever a transformer has made of the splitter's."""
    chunk = _plain(chunk)
    known = chunk.metadata.get("content_hash")
    if known is None:
        return chunk
    found = text_hash(chunk.text)
    return chunk if known == found else chunk.with_metadata(content_hash=found)
