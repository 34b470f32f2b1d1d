"""`split.semchunk` is the library of that name, without overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from tests.rag.split.texts import texts, worded, words


def test_chunks_are_those_of_the_library():
    import semchunk

    text = "One sentence; a clause, more. Another one!\n\nA paragraph (with a note)." * 9

    chunks = split.semchunk(max_chars=40)(Document.from_text(text))

    assert worded(chunks) == semchunk.chunk(text, 40, len, memoize=False)


@given(text=texts(), limit=st.integers(1, 50), tokens=st.booleans())
def test_chunks_are_pieces_of_the_source_within_the_limit(text: str, limit: int, tokens: bool):
    splitter = split.semchunk(max_tokens=limit, tokenizer=words) if tokens else split.semchunk(max_chars=limit)

    chunks = splitter(Document.from_text(text))

    behind = 0
    for chunk in chunks:
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        assert chunk.text == text[start:end]
        assert (words(chunk.text) if tokens else len(chunk.text)) <= limit
        assert not text[behind:start].strip()
        behind = end
    assert not text[behind:].strip()


@pytest.mark.parametrize("limit", [0, -1])
def test_its_size_is_checked_before_the_library_is_called(limit: int):
    with pytest.raises(InvalidInputError, match=f"max_chars={limit} "):
        split.semchunk(max_chars=limit)


def test_a_character_of_too_many_tokens_is_an_error():
    splitter = split.semchunk(max_tokens=3, tokenizer=lambda text: len(text.encode()))

    with pytest.raises(InvalidInputError, match="max_tokens=3"):
        splitter(Document.from_text("ab🍲"))
