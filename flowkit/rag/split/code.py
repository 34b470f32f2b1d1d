"""Source code by its structure: functions and classes stay whole where they fit.

chunks = code(max_tokens=254, tokenizer=tokenizer)(document)
chunks[0].metadata["heading"]            # "Basket.total"
"""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from flowkit.errors import InvalidInputError
from flowkit.rag.split.packing import Packing
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.syntax import LANGUAGES, Name, parsed_code
from flowkit.rag.split.tokens import Tokenizer
from flowkit.schema.documents import Document

__all__ = ["Code", "code", "language_of"]


def code(
    *,
    language: str | None = None,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> "Code":
    """Chunks that are pieces of a program: statements that follow each other, as many as fit.

    A class over the limit is cut between its methods, a function between its statements, and only what has no parts
    between lines. Comments and decorators go with what they stand before. The overlap begins at a line where it can.
    Each chunk that begins in a function or class, or with one, has its name as `heading`.

    Args:
        language: "python", "javascript", "typescript", "java", "go", …; by default told by the ending of the document's
            `source`. Other languages, and programs that do not read, are cut by their indentation.

    Raises:
        InvalidInputError: no such language, the maximum is below 1, the overlap is outside 0…maximum - 1, or the units
            are mixed.
    """
    if language is not None and language not in LANGUAGES.values():
        known = ", ".join(sorted(set(LANGUAGES.values())))
        raise InvalidInputError(f"no language {language!r}", hint=f"there are {known}; others need no name")
    sizes = Sizes.of(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
        overlap_below_max=True,
    )
    return Code(sizes, sentence_detector, language)


def language_of(source: str | None) -> str | None:
    """The language that a file's name tells, None when it tells none."""
    return LANGUAGES.get(PurePosixPath(source or "").suffix.removeprefix(".").lower())


class Code(Splitter):
    """See `code`."""

    def __init__(self, sizes: Sizes, sentence_detector: SentenceDetector, language: str | None) -> None:
        self._sizes = sizes
        self._detector = sentence_detector
        self._language = language

    def __call__(self, document: Document) -> list[Document]:
        """The chunks of one document, with `heading` where they belong to a function or class."""
        if self._language is None and (language := language_of(document.source)) is not None:
            return Code(self._sizes, self._detector, language)(document)
        chunks = super().__call__(document)
        names = parsed_code(document.text, self._language).names
        for chunk in chunks:
            heading = _heading(names, chunk.metadata["start"], chunk.metadata["end"])
            if heading is not None:
                chunk.metadata["heading"] = heading
        return chunks

    def pieces(self, text: str) -> list[Piece]:
        units = parsed_code(text, self._language).units
        spans = Packing(text, self._sizes, self._detector, prose=False).pack(units)
        return [Piece(text[start:end], start, end) for start, end in spans]


def _heading(names: Sequence[Name], start: int, end: int) -> str | None:
    """The innermost name around the chunk's beginning, else the first one that begins in it."""
    around = [name for name in names if name.start <= start < name.end]
    within = [name for name in names if start < name.start < end]
    return around[-1].name if around else within[0].name if within else None
