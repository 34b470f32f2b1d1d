"""A splitter remembers what it has cut, and nobody notices but the clock."""

import pickle

import pytest

from flowkit import Document
from flowkit.rag import split
from flowkit.rag.split import Piece, Splitter, memory

TEXT = "The soup is hot. The salad is cold.\n\nThe cake is sweet. Who would not want some?"


class Counter:
    """A tokenizer that says how much it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, text: str) -> int:
        self.asked += 1
        return len(text.split())


def test_the_same_text_is_cut_once_and_each_document_has_its_own_chunks():
    count = Counter()
    splitter = split.recursive(max_tokens=8, tokenizer=count)
    first = splitter(Document.from_text(TEXT, {"source": "a.txt"}))
    asked = count.asked

    second = splitter(Document.from_text(TEXT, {"source": "b.txt", "page_starts": [0, 37]}))
    second[0].metadata["seen"] = True

    assert count.asked == asked
    assert [chunk.text for chunk in second] == [chunk.text for chunk in first]
    assert {chunk.source for chunk in first} == {"a.txt"}
    assert [chunk.metadata["page"] for chunk in second][-1] == 2
    assert "seen" not in splitter(Document.from_text(TEXT))[0].metadata


def test_what_was_not_cut_lately_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "MOST_CHARACTERS", 2_000)
    count = Counter()
    splitter = split.recursive(max_tokens=8, tokenizer=count)
    texts = [f"Dish {number} is good. " * 6 for number in range(30)]
    for text in texts:
        splitter(Document.from_text(text))
    asked = count.asked

    splitter(Document.from_text(texts[-1]))
    assert count.asked == asked
    splitter(Document.from_text(texts[0]))
    assert count.asked > asked


def test_a_splitter_of_somebody_else_is_asked_each_time():
    class Growing(Splitter):
        size = 4

        def pieces(self, text: str) -> list[Piece]:
            return [Piece(text[: self.size], 0, self.size)]

    splitter = Growing()
    splitter(Document.from_text(TEXT))
    splitter.size = 8

    assert [chunk.text for chunk in splitter(Document.from_text(TEXT))] == ["The soup"]


def test_a_splitter_that_has_cut_can_go_to_another_process():
    splitter = split.exact(max_chars=20)
    chunks = splitter(Document.from_text(TEXT))

    assert pickle.loads(pickle.dumps(splitter))(Document.from_text(TEXT)) == chunks
