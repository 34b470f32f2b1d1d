"""A splitter for a folder of anything: Markdown by heading, programs by structure, other text by paragraph.

auto(max_tokens=254, overlap_tokens=25, tokenizer=tokenizer)(document)      # by the ending of document.source
"""

from collections.abc import Callable
from pathlib import PurePosixPath

from flowkit.rag.parsed import MARKDOWN, TEXT_FORMAT
from flowkit.rag.split.code import code, language_of
from flowkit.rag.split.markdown import markdown
from flowkit.rag.split.prose import prose
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import Tokenizer
from flowkit.schema.documents import Document

__all__ = ["Auto", "auto"]

_MARKDOWN = {".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"}


def auto(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> "Auto":
    """`markdown`, `code` or `prose`, all of the same sizes, by the ending of the document's `source`.

    Where its parser has written the text as Markdown (web pages, Office files, e-books), it is cut by heading, too.

    Raises:
        InvalidInputError: the maximum is below 1, the overlap is outside 0…maximum - 1, or the units are mixed.
    """
    by_heading = markdown(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
        sentence_detector=sentence_detector,
    )
    # Without an overlap: a function that is repeated in part says less than its name, which each chunk has.
    by_structure = code(
        max_chars=max_chars, max_tokens=max_tokens, tokenizer=tokenizer, sentence_detector=sentence_detector
    )
    by_paragraph = prose(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
        sentence_detector=sentence_detector,
    )
    return Auto(by_heading, by_structure, by_paragraph)


class Auto(Splitter):
    """See `auto`."""

    def __init__(self, by_heading: Splitter, by_structure: Splitter, by_paragraph: Splitter) -> None:
        self._by_heading = by_heading
        self._by_structure = by_structure
        self._by_paragraph = by_paragraph

    def __call__(self, document: Document) -> list[Document]:
        is_markdown = document.metadata.get(TEXT_FORMAT) == MARKDOWN
        return (self._by_heading if is_markdown else self.of(document.source))(document)

    def of(self, source: str | None) -> Splitter:
        """The splitter for documents of that source."""
        if PurePosixPath(source or "").suffix.lower() in _MARKDOWN:
            return self._by_heading
        return self._by_structure if language_of(source) is not None else self._by_paragraph

    def pieces(self, text: str) -> list[Piece]:
        return self._by_paragraph.pieces(text)
