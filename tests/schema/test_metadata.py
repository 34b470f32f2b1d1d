"""Metadata: what may be stored, and how it is read."""

import copy
import pickle
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document
from flowkit.schema.metadata import Metadata

ID = UUID("3f2504e0-4f89-41d3-9a0c-0305e82c3301")


class TestStoring:
    def test_json_values_are_kept_as_they_are(self):
        entries = {"s": "x", "b": True, "i": 1, "f": 1.5, "l": [1, "a", None], "o": {"n": None, "d": {"x": [1]}}}
        metadata = Metadata(entries)
        assert metadata == entries
        assert metadata["b"] is True
        assert type(metadata["i"]) is int

    def test_none_drops_the_key(self):
        metadata = Metadata({"a": 1, "b": None})
        metadata["a"] = None
        assert metadata == {}

    def test_tuples_become_lists_all_the_way_down(self):
        assert Metadata({"t": (1, ("a", {"n": (2,)}))}) == {"t": [1, ["a", {"n": [2]}]]}

    def test_nul_and_lone_surrogates_are_cleaned_in_keys_and_values(self):
        assert Metadata({"k\x00": "a\x00b\ud800", "l": ["\x00x"]}) == {"k": "ab\ufffd", "l": ["x"]}

    @pytest.mark.parametrize("key", ["", " ", "\t\n", "\x00", 5, None])
    def test_blank_keys_are_refused(self, key):
        with pytest.raises(InvalidInputError, match="blank or not a string"):
            Metadata({key: "x"})

    def test_a_no_break_space_is_a_key(self):
        assert Metadata({"\xa0": 1}) == {"\xa0": 1}

    @pytest.mark.parametrize("number", [2**63 - 1, -(2**63)])
    def test_64_bits_fit(self, number):
        assert Metadata({"n": number})["n"] == number

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (2**63, "beyond 64 bits"),
            (-(2**63) - 1, "beyond 64 bits"),
            (float("nan"), "not a finite number"),
            (float("inf"), "not a finite number"),
            (b"x", "a bytes is no JSON value"),
            ({1, 2}, "a set is no JSON value"),
            ({"deep": {"er": object()}}, r"'k\.deep\.er': a object"),
            ([[2**63]], "beyond 64 bits"),
        ],
    )
    def test_what_is_no_json_is_refused_and_the_key_named(self, value, message):
        with pytest.raises(InvalidInputError, match=message) as caught:
            Metadata({"k": value})
        assert "'k" in str(caught.value)

    def test_every_way_in_follows_the_rules(self):
        metadata = Metadata()
        metadata.update({"a": (1,)}, b=(2,))
        metadata.setdefault("c", (3,))
        metadata |= {"d": (4,)}
        assert metadata == {"a": [1], "b": [2], "c": [3], "d": [4]}
        for way_in in (
            lambda: metadata.update(e=2**64),
            lambda: metadata.setdefault("e", 2**64),
            lambda: metadata.__ior__({"e": 2**64}),
            lambda: metadata.__setitem__("e", 2**64),
        ):
            with pytest.raises(InvalidInputError):
                way_in()

    def test_copies_are_independent(self):
        metadata = Metadata({"a": 1})
        for duplicate in (metadata.copy(), copy.copy(metadata), pickle.loads(pickle.dumps(metadata))):
            metadata["b"] = 2
            assert duplicate == {"a": 1}
            assert type(duplicate) is Metadata
            del metadata["b"]

    def test_merge_refuses_shared_keys_even_with_equal_values(self):
        metadata = Metadata({"a": "1", "c": 1})
        assert metadata.merge({"b": 2}) == {"a": "1", "c": 1, "b": 2}
        assert metadata.merge(None) == metadata
        assert metadata.merge({}) is not metadata
        assert metadata == {"a": "1", "c": 1}
        with pytest.raises(InvalidInputError, match="both sides: a, c"):
            metadata.merge({"c": 1, "a": "1", "z": 0})


class TestGetters:
    def test_a_missing_key_is_none(self):
        metadata = Metadata()
        getters = (metadata.get_str, metadata.get_uuid, metadata.get_int, metadata.get_float, metadata.get_bool)
        assert [get("k") for get in getters] == [None] * 5

    @pytest.mark.parametrize(
        ("stored", "number"),
        [
            (1, 1),
            (1.0, 1),
            (2.9, 2),
            (-2.9, -2),
            ("1", 1),
            ("-7", -7),
            ("+7", 7),
            ("007", 7),
            (2**63 - 1, 2**63 - 1),
            ("4294967297", 4294967297),
        ],
    )
    def test_integers(self, stored, number):
        found = Metadata({"k": stored}).get_int("k")
        assert found == number
        assert type(found) is int

    @pytest.mark.parametrize(
        "stored",
        ["2.5", " 2", "2 ", "", "+", "1_000", "0x10", "١", "9" * 5000, "9223372036854775808", True, [1], ID],
        ids=lambda stored: repr(stored)[:20],
    )
    def test_what_is_no_integer(self, stored):
        with pytest.raises(InvalidInputError, match=r"'k' is .* not an integer"):
            Metadata({"k": stored}).get_int("k")

    @pytest.mark.parametrize(
        ("stored", "number"),
        [(1, 1.0), (1.5, 1.5), ("1", 1.0), ("-2.5", -2.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0)],
    )
    def test_floats(self, stored, number):
        found = Metadata({"k": stored}).get_float("k")
        assert found == number
        assert type(found) is float

    @pytest.mark.parametrize(
        "stored",
        ["abc", " 1", "", "1_0", "nan", "inf", "0x1p3", True, {}, ID, f"{'1' * 200_000}x"],
        ids=lambda stored: repr(stored)[:20],
    )
    def test_what_is_no_float(self, stored):
        with pytest.raises(InvalidInputError, match=r"'k' is .* not a number"):
            Metadata({"k": stored}).get_float("k")

    def test_strings(self):
        assert Metadata({"k": "x"}).get_str("k") == "x"
        for stored in (1, 1.5, True, ID, ["x"]):
            with pytest.raises(InvalidInputError, match="not a string"):
                Metadata({"k": stored}).get_str("k")

    def test_uuids(self):
        assert Metadata({"k": ID}).get_uuid("k") == ID
        assert Metadata({"k": str(ID).upper()}).get_uuid("k") == ID
        for stored in ("nope", ID.hex, f"{{{ID}}}", 5):
            with pytest.raises(InvalidInputError, match="not a UUID"):
                Metadata({"k": stored}).get_uuid("k")

    def test_bools(self):
        assert Metadata({"k": False}).get_bool("k") is False
        for stored in (0, 1, "true"):
            with pytest.raises(InvalidInputError, match="not a bool"):
                Metadata({"k": stored}).get_bool("k")


class TestInADocument:
    def test_a_uuid_becomes_its_string(self):
        for document in (
            Document.from_text("x", {"id": ID}),
            Document.from_text("x", Metadata({"id": ID})),
            Document.from_text("x").with_metadata(id=ID),
            Document.from_wire({"content": [{"text": "x"}], "metadata": Metadata({"id": ID})}),
        ):
            assert document.metadata["id"] == str(ID)
            assert document.metadata.get_uuid("id") == ID
            document.metadata["other"] = ID
            assert document.metadata["other"] == str(ID)

    def test_documents_do_not_share_metadata(self):
        metadata = Metadata({"a": 1})
        first, second = Document.from_text("x", metadata), Document.from_text("y", metadata)
        first.metadata["a"] = 2
        assert (metadata["a"], second.metadata["a"]) == (1, 1)

    def test_a_model_field_takes_a_plain_dict_and_null(self):
        class Holder(BaseModel):
            metadata: Metadata

        assert Holder.model_validate({"metadata": {"a": 1}}).metadata == {"a": 1}
        assert Holder.model_validate({"metadata": None}).metadata == {}
        assert type(Holder.model_validate({"metadata": {}}).model_dump()["metadata"]) is dict
        with pytest.raises(ValueError, match="metadata is list, not an object"):
            Holder.model_validate({"metadata": []})


def test_values_nest_a_hundred_deep_and_never_in_themselves():
    deep: list[Any] = []
    for _ in range(99):
        deep = [deep]
    assert Metadata({"deep": deep})["deep"] == deep

    circle: list[Any] = []
    circle.append({"again": circle})
    bottomless: list[Any] = []
    for _ in range(100_000):
        bottomless = [bottomless]
    for value in ([deep], circle, bottomless):
        with pytest.raises(InvalidInputError, match=r"metadata 'deep.*' nests over 100 deep, or holds itself"):
            Metadata({"deep": value})


def test_metadata_of_a_document_is_a_dict():
    for wrong in ([1], "page", 3):
        with pytest.raises(InvalidInputError, match=r"metadata is a .*, not a dict"):
            Document.from_text("soup", wrong)  # type: ignore[arg-type]
