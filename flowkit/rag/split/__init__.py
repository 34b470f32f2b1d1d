"""Splitters: one document in, its chunks out.

    split.recursive(max_tokens=300, overlap_tokens=30, tokenizer=tokenizer)(document)
    split.exact(max_chars=1000, overlap_chars=100).split_all(documents)

`paragraph` … `recursive` re-join whole parts and repeat whole sentences; `exact` cuts pieces of the source to size;
`prose`, `markdown` and `code` cut where it reads well, and `auto` takes the one that fits the file; `chunk` has
llm-chunk's settings and `semchunk` is that library. A splitter of your own derives from `Splitter`.
"""

from flowkit.rag.split.auto import auto
from flowkit.rag.split.code import code
from flowkit.rag.split.delimited import chunk
from flowkit.rag.split.exactly import exact
from flowkit.rag.split.levels import character, line, paragraph, recursive, regex, sentence, word
from flowkit.rag.split.markdown import markdown
from flowkit.rag.split.prose import prose
from flowkit.rag.split.semantic import semchunk
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import OffsetTokenizer, Tokenizer

__all__ = [
    "OffsetTokenizer",
    "Piece",
    "SentenceDetector",
    "Splitter",
    "Tokenizer",
    "auto",
    "character",
    "chunk",
    "code",
    "exact",
    "line",
    "markdown",
    "paragraph",
    "prose",
    "recursive",
    "regex",
    "semchunk",
    "sentence",
    "sentences",
    "word",
]
