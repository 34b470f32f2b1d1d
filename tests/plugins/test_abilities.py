"""What stores declare is what the pages about them say."""

from tests.support.store_table import PAGE, STORES, page


def test_the_table_of_the_docs_is_what_the_stores_declare():
    text = PAGE.read_text(encoding="utf-8")

    assert text == page(text), "run: python -m tests.support.store_table"


def test_only_pinecone_was_proved_on_an_emulated_server():
    assert [column.title for column in STORES if "real" not in column.proved] == ["`Pinecone`"]
