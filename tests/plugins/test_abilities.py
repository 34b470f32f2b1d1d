"""What the docs say of each store is what the contract suite proves."""

from collections.abc import Callable
from typing import Any

import pytest

from flowkit.errors import ConfigError
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_chroma import Chroma
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector
from tests.plugins.devstore.test_contract import TestDevStore as DevStoreContract
from tests.support.store_table import PAGE, STORES, declared, page

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_of_the_docs_is_what_these_tests_prove():
    assert page(TEXT, declared()) == TEXT, "run: python -m tests.support.store_table"
    assert "not proved" not in TEXT


def test_what_a_store_leaves_out_of_the_contract_is_not_claimed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DevStoreContract, "test_a_plan_says_what_a_sync_then_does", None)
    without = dict(declared())
    assert page(TEXT, without) != TEXT
    row = next(line for line in page(TEXT, without).splitlines() if line.startswith("| sync "))
    assert row.split(" | ")[1] == "not proved"


def test_only_pinecone_was_proved_on_an_emulated_server():
    (row,) = (line for line in TEXT.splitlines() if line.startswith("| the contract ran against "))
    against = dict(zip((column.title for column in STORES), row.strip("| ").split(" | ")[1:], strict=True))
    assert {title for title, how in against.items() if "real" not in how} == {"`Pinecone`", "`Pinecone`, `hybrid=True`"}


@pytest.mark.parametrize(
    "made",
    [
        lambda mode: DevStore("menu", mode=mode),
        lambda mode: PgVector("menu", mode=mode),
        lambda mode: Chroma("menu", path="data", mode=mode),
    ],
    ids=["devstore", "pgvector", "chroma"],
)
def test_a_mode_that_there_is_not_is_refused_when_a_store_is_made(made: Callable[[Any], Any]):
    with pytest.raises(ConfigError, match="index 'menu' has no mode 'keywords'") as caught:
        made("keywords")

    assert "did you mean 'keyword'?" in (caught.value.hint or "")
    assert made("hybrid").mode == "hybrid"


def test_a_store_that_says_nothing_of_a_mode_searches_by_vector():
    assert InMemoryStore("menu").mode == "vector"
