"""Names and ids: any text, never the same for two, in the same order, and back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit.errors import InvalidInputError
from flowkit_pinecone import Pinecone
from flowkit_pinecone.names import index_name, pinecone_name, record_id, row_id

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(TEXT.filter(lambda text: bool(text.strip())))
def test_a_name_is_one_that_pinecone_takes_and_comes_back(index: str):
    try:
        name = pinecone_name(index)
    except InvalidInputError:
        return  # blank in another way
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name)
    assert len(name) <= 45
    assert index_name(name) == (None if name.startswith("fk-h-") else index)


@pytest.mark.parametrize("index", ["menu", "a", "menu-2", "0", "x" * 45])
def test_a_name_that_pinecone_takes_stays(index: str):
    assert pinecone_name(index) == index


def test_names_that_look_alike_stay_apart():
    names = [
        "Menu",
        "menu",
        "fk-menu",
        "fk-n--4denu",
        "menu-",
        "-menu",
        "me nu",
        "メニュー",
        "x" * 46,
        "x" * 47,
        "MENU",
    ]
    assert len({pinecone_name(name) for name in names}) == len(names)


@given(TEXT, TEXT)
def test_ids_come_back_and_keep_their_order(one: str, other: str):
    assert row_id(record_id(one)) == one
    assert re.fullmatch(r"[\x21-\x7e]+", record_id(one))
    assert (record_id(one) < record_id(other)) is (one < other)


def test_ids_of_plain_letters_stay_readable():
    assert record_id("menu.pdf#3") == "menu.pdf#3"


def test_an_id_that_is_too_long_is_refused_with_its_length():
    assert len(record_id("x" * 512)) == 512
    with pytest.raises(InvalidInputError, match="540 bytes"):
        record_id("日" * 60)


@pytest.mark.parametrize("options", [{"metric": "manhattan"}, {"namespace": "flowkit-catalog"}, {"wait_seconds": -1}])
def test_what_cannot_be_is_refused_at_once(options: dict[str, object]):
    with pytest.raises(InvalidInputError):
        Pinecone("menu", **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        Pinecone(" ")
