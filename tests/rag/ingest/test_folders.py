"""A folder is ingested by its path: what its files are called, what is left out, what a full sync may delete."""

from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.errors import NotFoundError
from flowkit.rag import load
from flowkit.rag.ingest.defaults import estimated_tokens
from flowkit.rag.load import walk
from flowkit.rag.stores.memory import InMemoryStore
from tests.rag.ingest.conftest import Counting, app, done, texts
from tests.rag.parse.papers import paper


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A project with two folders of documents."""
    files: dict[str, str | bytes] = {
        "docs/guide.md": "# Guide\n\n## Paying\n\nBy card.\n\n## Cancelling\n\nWithin 14 days.",
        "docs/deep/notes.txt": "Notes on soup.",
        "docs/shop.py": "def total():\n    return 1\n",
        "docs/page.html": "<h1>Bread</h1><p>Fresh.</p><script>x</script>",
        "docs/menu.pdf": paper("Soup is 3.50", "Bread is 1.00"),
        "docs/.hidden.md": "secret",
        "docs/.git/config": "secret",
        "docs/node_modules/a.js": "secret",
        "docs/photo.jpg": b"\xff\xd8\xff",
        "docs/empty.md": "",
        "docs/broken.pdf": "no pdf",
        "docs/latin.txt": "Crème brûlée".encode("latin-1"),
        "other/guide.md": "# Other guide\n\nText.",
    }
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return tmp_path / "docs"


async def sources(store: InMemoryStore) -> set[str | None]:
    page = await store.fetch(limit=1000)
    return {row.document.source for row in page.items}


async def test_files_are_read_by_their_format_and_the_rest_is_told(ai: Flowkit, store: InMemoryStore, docs: Path):
    report = await ai.ingest("docs", docs)

    assert await sources(store) == {
        "docs/deep/notes.txt",
        "docs/guide.md",
        "docs/latin.txt",
        "docs/menu.pdf",
        "docs/page.html",
        "docs/shop.py",
    }
    assert {item.source for item in report.skipped} == {
        "docs/broken.pdf",
        "docs/empty.md",
        "docs/photo.jpg",
    }
    assert not any("secret" in text or "<p>" in text for text in await texts(store))
    found = {row.document.text: row.document.metadata for row in (await store.fetch(limit=100)).items}
    assert [metadata.get("heading") for text, metadata in sorted(found.items()) if text.startswith("#")] == [
        "Bread",
        "Guide > Paying",
        "Guide > Cancelling",
    ]
    assert next(metadata["page"] for metadata in found.values() if metadata["source"] == "docs/menu.pdf") == 1


async def test_edits_additions_removals_and_renames_are_followed(ai: Flowkit, store: InMemoryStore, docs: Path):
    await ai.ingest("docs", docs)
    (docs / "guide.md").write_text("# Guide\n\n## Paying\n\nBy card.\n\n## Cancelling\n\nWithin 30 days.")
    (docs / "deep" / "notes.txt").rename(docs / "notes.txt")
    (docs / "new.md").write_text("New.")
    (docs / "shop.py").unlink()

    report = await ai.ingest("docs", docs, sync="full")

    assert report.sources.model_dump() == {"added": 2, "changed": 1, "removed": 2, "unchanged": 3}
    assert await sources(store) == {
        "docs/guide.md",
        "docs/latin.txt",
        "docs/menu.pdf",
        "docs/new.md",
        "docs/notes.txt",
        "docs/page.html",
    }
    assert done(await ai.ingest("docs", docs, sync="full"))[:3] == (0, 0, 0)


async def test_what_is_gone_from_a_folder_is_told_and_stays_unless_the_sync_is_full(
    ai: Flowkit, store: InMemoryStore, docs: Path
):
    await ai.ingest("docs", docs)
    (docs / "shop.py").unlink()

    report = await ai.ingest("docs", docs)

    assert (report.outdated, report.deleted) == (1, 0)
    assert "docs/shop.py" in await sources(store)


async def test_a_full_sync_of_a_folder_leaves_what_comes_from_elsewhere(ai: Flowkit, store: InMemoryStore, docs: Path):
    await ai.ingest("docs", docs.parent / "other")
    await ai.ingest("docs", docs, sync="full")
    (docs / "shop.py").unlink()

    report = await ai.ingest("docs", docs, sync="full")

    assert report.sources.removed == 1
    assert {"other/guide.md", "docs/guide.md"} <= await sources(store)


async def test_a_file_that_cannot_be_read_any_more_keeps_its_chunks_and_an_emptied_one_does_not(
    ai: Flowkit, store: InMemoryStore, docs: Path
):
    await ai.ingest("docs", docs)
    (docs / "menu.pdf").write_bytes(b"%PDF-broken")
    (docs / "guide.md").write_text("\n")

    await ai.ingest("docs", docs, sync="full")

    assert "docs/menu.pdf" in await sources(store)
    assert "docs/guide.md" not in await sources(store)


async def test_a_folder_that_cannot_be_read_keeps_the_chunks_of_all_its_files(
    ai: Flowkit, store: InMemoryStore, docs: Path, monkeypatch: pytest.MonkeyPatch
):
    await ai.ingest("docs", docs)
    real = walk._entries
    monkeypatch.setattr(walk, "_entries", lambda at: "Input/output error" if at.endswith("deep") else real(at))
    (docs / "shop.py").unlink()

    report = await ai.ingest("docs", docs, sync="full")

    assert report.sources.removed == 1
    assert "docs/deep/notes.txt" in await sources(store)
    assert "docs/deep/" in {item.source for item in report.skipped}


async def test_a_loader_decides_what_of_a_folder_is_ingested_and_a_full_sync_deletes_the_rest_of_it(
    ai: Flowkit, store: InMemoryStore, docs: Path
):
    await ai.ingest("docs", docs.parent / "other")
    await ai.ingest("docs", docs)

    await ai.ingest("docs", load.directory(docs, glob="**/*.md"), sync="full")

    assert await sources(store) == {"docs/guide.md", "other/guide.md"}


async def test_one_loader_may_serve_two_projects(counting: Counting, docs: Path):
    loader = load.directory(docs, glob="*.md")
    found = []
    for root in (docs.parent, docs):
        store = InMemoryStore("docs", embedder="counting")
        async with app(store, counting, root) as ai:
            await ai.ingest("docs", loader)
            found.append(await sources(store))

    assert found == [{"docs/guide.md"}, {"guide.md"}]


async def test_a_folder_outside_of_the_project_has_its_own_name_before_its_files(
    store: InMemoryStore, counting: Counting, docs: Path, tmp_path_factory: pytest.TempPathFactory
):
    async with app(store, counting, tmp_path_factory.mktemp("elsewhere")) as ai:
        await ai.ingest("docs", docs / "deep")
        await ai.ingest("docs", docs / "guide.md")
        assert await sources(store) == {"deep/notes.txt", "guide.md"}


async def test_one_file_may_be_ingested_and_nothing_else_is_touched(ai: Flowkit, store: InMemoryStore, docs: Path):
    await ai.ingest("docs", docs)

    report = await ai.ingest("docs", str(docs / "shop.py"), sync="full")

    assert done(report) == (0, 0, 0, 1)
    assert len(await sources(store)) == 6
    with pytest.raises(NotFoundError):
        await ai.ingest("docs", docs / "nothing.md")


async def test_chunks_are_as_large_as_the_embedder_takes(ai: Flowkit, store: InMemoryStore, docs: Path):
    (docs / "long.txt").write_text("A sentence of seven words is here. " * 200)

    await ai.ingest("docs", docs / "long.txt")

    sizes = [estimated_tokens(text) for text in await texts(store)]
    assert 250 < max(sizes) <= 300


def test_estimated_tokens_are_rather_too_many():
    assert estimated_tokens("soup") == 1
    assert estimated_tokens("unbelievable soup.") == 5
    assert estimated_tokens("今日は") == 3
    assert estimated_tokens(" \n") == 0
