"""A document made from stored columns is the one that validation makes."""

import copy
import pickle

from flowkit import Document, ScoredDocument
from flowkit.rag.stores.hits import stored_document, stored_hit

METADATA = {"page": 2, "tags": ["a"], "o": {"p": None}}


def test_a_stored_document_equals_a_validated_one():
    made = stored_document("soup", METADATA, id="a")
    validated = Document.from_text("soup", METADATA, id="a")

    assert made == validated
    assert repr(made) == repr(validated)
    assert made.__dict__.keys() == validated.__dict__.keys()
    assert made.to_wire() == validated.to_wire()
    assert made.content[0] == validated.content[0]
    assert made.cleaned_characters == 0
    assert made.with_metadata(page=3).metadata["page"] == 3


def test_a_stored_hit_equals_a_validated_one():
    made = stored_hit("soup", METADATA, id="a", score=0.5)
    validated = ScoredDocument.of(Document.from_text("soup", METADATA, id="a"), 0.5)

    assert made == validated
    assert made.to_wire() == validated.to_wire()
    assert copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made


def test_two_documents_share_nothing():
    first, second = stored_document("x", {}, id="a"), stored_document("x", {}, id="b")

    first.metadata["n"] = 1

    assert second.metadata == {}
