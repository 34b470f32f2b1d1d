"""Documents, hits, and the hashes that name them."""

import pytest

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document, ScoredDocument, document_id, metadata_hash, text_hash
from flowkit.schema.parts import Media, MediaPart, TextPart
from flowkit.schema.text import clean_text, is_blank


@pytest.mark.parametrize("text", ["", " ", "\t", "\r\n \x00", None, 5])
def test_a_document_needs_text(text):
    with pytest.raises(InvalidInputError, match="needs text"):
        Document.from_text(text)


def test_a_no_break_space_is_text():
    assert Document.from_text("\xa0").text == "\xa0"


def test_text_is_all_text_parts_joined_without_a_separator():
    picture = MediaPart(media=Media(url="data:image/png;base64,AA=="))
    assert Document(content=(TextPart(text="a"), picture, TextPart(text="b"))).text == "ab"
    assert Document(content=()).text == ""


def test_text_is_cleaned_once_and_counted():
    dirty = Document.from_text("a\x00b\ud800c")
    assert dirty.text == "ab\ufffdc"
    assert dirty.cleaned_characters == 2
    assert Document.from_text("ab\ufffdc").cleaned_characters == 0


def test_documents_are_equal_by_value():
    assert Document.from_text("x", {"a": 1}) == Document.from_text("x", {"a": 1})
    assert Document.from_text("x", {"a": 1}) != Document.from_text("x", {"a": 2})
    assert Document.from_text("x\x00") == Document.from_text("x")
    assert len({Document.from_text("x"), Document.from_text("x"), Document.from_text("y")}) == 2
    assert ScoredDocument.of(Document.from_text("x"), 0.5) != ScoredDocument.of(Document.from_text("x"), 0.6)


def test_changes_give_new_documents():
    document = Document.from_text("x", {"a": 1})
    changed = document.with_metadata(a=None, b=2).with_id("7")
    assert (changed.metadata, changed.id, changed.text) == ({"b": 2}, "7", "x")
    assert (document.metadata, document.id) == ({"a": 1}, None)


def test_a_whole_document_is_a_chunk_with_index_0_unless_it_has_one():
    assert Document.from_text("x", {"a": 1}).to_chunk().metadata == {"a": 1, "index": 0}
    assert Document.from_text("x", {"index": "1"}).to_chunk().metadata == {"index": "1"}


class TestIdentity:
    def test_the_id_decides_when_there_is_one(self):
        assert Document.from_text("a", id="1").identity == Document.from_text("b", id="1").identity == "1"

    def test_else_source_and_text(self):
        one = Document.from_text("a", {"source": "x.txt", "page": 1})
        assert one.identity == Document.from_text("a", {"source": "x.txt", "page": 2}).identity
        assert one.identity != Document.from_text("a", {"source": "y.txt"}).identity
        assert one.identity != Document.from_text("b", {"source": "x.txt"}).identity

    def test_else_text_and_metadata(self):
        assert Document.from_text("a", {"n": 1}).identity == Document.from_text("a", {"n": 1}).identity
        assert Document.from_text("a", {"n": 1}).identity != Document.from_text("a", {"n": 2}).identity

    def test_scores_never_count(self):
        document = Document.from_text("a")
        hits = [ScoredDocument.of(document, 0.1), ScoredDocument.of(document.with_metadata(score=1), 0.9)]
        assert {hit.identity for hit in hits} == {document.identity}

    def test_documents_without_text_differ_by_content(self):
        urls = ("data:,a", "data:,b", "data:,a")
        identities = {Document(content=(MediaPart(media=Media(url=url)),)).identity for url in urls}
        assert len(identities) == 2


class TestHashes:
    def test_the_id_tells_source_text_and_occurrence_apart(self):
        ids = {
            document_id("s", "t", 0),
            document_id("s", "t", 1),
            document_id("s", "u", 0),
            document_id("r", "t", 0),
            document_id(None, "t", 0),
            document_id(None, "t", 0, {"a": 1}),
        }
        assert len(ids) == 6
        assert all(len(id) == 32 for id in ids)

    def test_with_a_source_metadata_does_not_change_the_id(self):
        assert document_id("s", "t", 0, {"page": 1}) == document_id("s", "t", 0, {"page": 2})

    def test_metadata_hashes_ignore_the_order_of_keys(self):
        assert metadata_hash({"a": 1, "b": {"c": 2, "d": 3}}) == metadata_hash({"b": {"d": 3, "c": 2}, "a": 1})
        assert metadata_hash({"a": 1}) != metadata_hash({"a": "1"})

    def test_hashes_stay_what_they_are(self):
        # Stored ids and manifests rest on these; a change would embed every index again.
        assert text_hash("Tomato soup") == "def837e6e1d87fb49a0650d611a372ef"
        assert document_id("menu.pdf", "Tomato soup", 0) == "83406c72b8c5e9e894942e966387a9a5"
        assert metadata_hash({"page": 1, "lang": "é"}) == "dd91150720da9c39918ef30fcfc1c395"


class TestText:
    def test_cleaning_counts_what_it_changes(self):
        assert clean_text("plain ä 😀") == ("plain ä 😀", 0)
        assert clean_text("\x00a\ud83d\x00") == ("a\ufffd", 3)

    def test_blank_is_only_what_is_at_most_a_space(self):
        assert all(map(is_blank, ["", " ", "\t\r\n\x00\x1f"]))
        assert not any(map(is_blank, ["\xa0", "\u2003", " x ", "\u200b"]))
