"""Counting tokens: once per document where the tokenizer tells offsets, and with the same result as by asking."""

from hypothesis import given
from hypothesis import strategies as st

from flowkit import Document
from flowkit.rag import split
from tests.rag.split.texts import OffsetCounter, byte_pairs, squeezed, texts, worded


# No word here needs the whole limit: words that do are cut between tokens, which only offsets allow.
@given(text=texts(odd=False, long=False), limit=st.integers(32, 90), overlap=st.sampled_from([0, 0.1, 0.5]))
def test_offsets_and_counts_give_the_same_chunks(minilm: OffsetCounter, text: str, limit: int, overlap: float):
    sizes = {"max_tokens": limit, "overlap_tokens": int(limit * overlap)}

    by_offsets = split.recursive(**sizes, tokenizer=minilm)(Document.from_text(text))
    by_counts = split.recursive(**sizes, tokenizer=minilm.count)(Document.from_text(text))

    assert by_offsets == by_counts


@given(text=texts(), limit=st.integers(4, 40), overlap=st.sampled_from([0, 0.1, 1]))
def test_no_chunk_has_too_many_tokens(minilm: OffsetCounter, text: str, limit: int, overlap: float):
    chunks = split.recursive(max_tokens=limit, overlap_tokens=int(limit * overlap), tokenizer=minilm)(
        Document.from_text(text)
    )

    for chunk in chunks:
        assert minilm.count(chunk.text) <= limit
        assert squeezed(chunk.text) == squeezed(text[chunk.metadata["start"] : chunk.metadata["end"]])


def test_a_document_is_tokenised_once():
    tokenizer = OffsetCounter(byte_pairs)
    text = "One short sentence. Another one.\n\n" * 50

    chunks = split.recursive(max_tokens=40, overlap_tokens=15, tokenizer=tokenizer)(Document.from_text(text))

    assert len(chunks) > 10
    assert tokenizer.tokenised == [text]
    # Only the joins between parts are asked about.
    assert not any(asked.strip() for asked in tokenizer.counted)


def test_a_word_of_many_tokens_is_cut_between_tokens():
    tokenizer = OffsetCounter(byte_pairs)

    chunks = split.recursive(max_tokens=2, tokenizer=tokenizer)(Document.from_text("abcdefghij"))

    assert worded(chunks) == ["abcdef", "ghij"]


def test_a_plain_function_is_a_tokenizer():
    chunks = split.word(max_tokens=3, tokenizer=lambda text: len(text.split()))(Document.from_text("a b c d e"))

    # The blank between words costs one, as a text of its own does.
    assert worded(chunks) == ["a b", "c d", "e"]


def test_a_blank_join_costs_its_length_and_a_text_its_tokens():
    chunks = split.sentence(max_tokens=10, tokenizer=lambda text: len(text.split()))(
        Document.from_text("Alpha beta gamma. Delta epsilon zeta eta. Theta iota.")
    )

    assert worded(chunks) == ["Alpha beta gamma. Delta epsilon zeta eta. Theta iota."]
