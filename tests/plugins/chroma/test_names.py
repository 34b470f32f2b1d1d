"""Any text names an index, and no two names share a collection."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit.errors import ConfigError, InvalidInputError
from flowkit_chroma import Chroma
from flowkit_chroma.names import collection_name, index_name

LEGAL = re.compile(r"(?!.*\.\.)[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")
NAMES = ["メニュー", "my index", "a", "x" * 200, "x" * 600, "A_b-c.1", "é", "fk_n-6d", "..", "127.0.0.1", "-a-", "a..b"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_a_name_becomes_one_that_chroma_allows_and_back(name: str):
    assert LEGAL.fullmatch(collection_name(name))
    assert index_name(collection_name(name)) in (name, None if len(name) > 500 else name)


@given(st.sets(st.text(min_size=1).filter(str.strip), min_size=2, max_size=2))
def test_two_names_have_two_collections(names: set[str]):
    usable = [name for name in names if name.strip("".join(map(chr, range(0x21))))]
    made = {collection_name(name) for name in usable}
    assert len(made) == len(usable)
    assert all(LEGAL.fullmatch(name) for name in made)


def test_an_ordinary_name_stays():
    assert collection_name("menu") == "menu"


def test_a_store_is_in_a_folder_or_in_a_server():
    with pytest.raises(InvalidInputError, match="blank"):
        Chroma(" ", path="x")
    with pytest.raises(ConfigError, match="path= or host="):
        Chroma("menu")
    with pytest.raises(ConfigError, match="path= or host="):
        Chroma("menu", path="x", host="localhost")
