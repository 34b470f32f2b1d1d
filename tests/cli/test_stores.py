"""`store:list`: the indexes of the dev store."""

import json

import pytest

from flowkit import Document, Flowkit
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore
from tests.cli.conftest import Project


@pytest.fixture
async def indexed(project: Project) -> Project:
    """A project with two indexes."""
    folder = project.folder / ".flowkit" / "indexes"
    stores = [DevStore(name, embedder="fake-embedder", folder=folder) for name in ("menu", "Käse 以上")]
    async with Flowkit(plugins=[FakeEmbedder(16), *stores]) as ai:
        await ai.index("menu", [Document.from_text(f"dish {number}") for number in range(1200)])
        await ai.index("Käse 以上", [Document.from_text("Gouda")])
    return project


def test_indexes_are_listed(indexed: Project):
    heading, *rows = indexed.run("store:list").out.splitlines()

    assert heading.split() == ["Index", "Documents", "Dimension", "Size", "Embedder"]
    assert sorted(row.split()[0] for row in rows) == ["Käse", "menu"]
    (menu,) = (row for row in rows if row.startswith("menu"))
    assert menu.split()[1:3] == ["1,200", "16"]
    assert menu.endswith("fake-embedder")


def test_indexes_are_listed_as_json(indexed: Project):
    listed = {row["name"]: row for row in json.loads(indexed.run("store:list", "--json").out)}

    assert listed["menu"]["documents"] == 1200
    assert listed["menu"]["dimension"] == 16
    assert listed["menu"]["sizeBytes"] > 10_000
    assert listed["Käse 以上"]["documents"] == 1


def test_an_index_that_cannot_be_read_does_not_hide_the_others(indexed: Project):
    (folder,) = (path.parent for path in (indexed.folder / ".flowkit").rglob("*.db*") if "menu" in str(path.parent))
    for file in folder.iterdir():
        if file.suffix != ".f32":
            file.write_bytes(b"no database" * 1000)

    run = indexed.run("store:list")

    assert run.code == 0
    rows = run.out.splitlines()[1:]
    (broken,) = (row for row in rows if row.startswith("menu"))
    assert broken.split()[1:3] == ["–", "–"]
    assert len(rows) == 2


def test_no_indexes_are_no_error(project: Project):
    run = project.run("store:list")

    assert (run.code, run.out) == (0, "")
    assert "no indexes yet" in run.err
