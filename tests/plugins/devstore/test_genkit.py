"""Taking over an index of Genkit's dev-local vector store."""

import json
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import IdentityError, ParseError
from flowkit.plugin import SearchQuery, document_id
from flowkit_devstore import DevStore, import_genkit

ENTRIES = {
    "91a034a34d20c2510771b32d2a115647": {
        "doc": {"content": [{"text": "ab"}], "metadata": {"p": 1, "none": None}},
        "embedding": {"embedding": [1, 0, 0]},
    },
    "0cc175b9c0f1b6a831c399e269772661": {
        "doc": {"content": [{"text": "返金は三日以内"}], "metadata": {"source": "faq.md"}},
        "embedding": {"embedding": [0, 3, 4], "metadata": {"embedType": "text"}},
    },
}


def genkit_file(folder: Path, entries: object = ENTRIES) -> Path:
    path = folder / "__db_menu.json"
    path.write_text(json.dumps(entries, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


async def test_documents_and_vectors_are_taken_over(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path / "indexes")

    assert await import_genkit(genkit_file(tmp_path), store) == 2

    best, other = await store.search(SearchQuery(vector=[0, 0.6, 0.8]))
    assert (best.text, best.source, best.score) == ("返金は三日以内", "faq.md", 1)
    assert dict(other.metadata) == {"p": 1}
    assert [hit.text for hit in await store.search(SearchQuery(text="返金"))] == ["返金は三日以内"]
    (item,) = (await store.fetch(ids=[best.id or ""], with_vectors=True)).items
    assert list(item.vector) == [0, 3, 4]
    await store.aclose()


async def test_importing_twice_and_indexing_the_same_documents_later_adds_nothing(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path / "indexes")
    await import_genkit(genkit_file(tmp_path), store)
    await import_genkit(genkit_file(tmp_path), store)

    document = Document.from_text("返金は三日以内", {"source": "faq.md"})
    assert (await store.stats()).count == 2
    assert (await store.fetch(ids=[document_id("faq.md", document.text, 0)])).items
    await store.aclose()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[]", "no object"),
        ('{"k": {"doc": {"content": [{"text": "x"}]}}}', "'k'"),
        ('{"k": {"embedding": {"embedding": [1]}}}', "'k'"),
        ('{"k": {"doc": {"content": 5}, "embedding": {"embedding": [1]}}}', "'k'"),
    ],
)
async def test_what_is_no_index_of_genkit_is_named(tmp_path: Path, content: str, message: str):
    path = tmp_path / "__db_menu.json"
    path.write_text(content)
    store = DevStore("menu", folder=tmp_path / "indexes")

    with pytest.raises(ParseError, match=message) as caught:
        await import_genkit(path, store)

    assert str(path) in caught.value.message
    assert not store.path.exists()


async def test_a_missing_file_and_an_empty_index(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path / "indexes")

    with pytest.raises(ParseError, match="no file"):
        await import_genkit(tmp_path / "nowhere.json", store)
    assert await import_genkit(genkit_file(tmp_path, {}), store) == 0
    assert (await store.stats()).count == 0
    await store.aclose()


async def test_vectors_of_another_dimension_are_refused(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path / "indexes")
    await store.open(create=True, dimension=7)

    with pytest.raises(IdentityError, match="7"):
        await import_genkit(genkit_file(tmp_path), store)
    await store.aclose()
