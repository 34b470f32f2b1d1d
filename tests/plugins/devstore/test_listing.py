"""The list of indexes in a folder."""

from pathlib import Path

import pytest

from flowkit_devstore import DevStore, list_indexes
from tests.plugins.devstore.numbered import filled


async def test_indexes_are_listed_by_name_with_their_numbers(tmp_path: Path):
    open_one = await filled(tmp_path, 30, index="Zoo 🐘")
    await (await filled(tmp_path, 0, index="x" * 300)).aclose()
    store = DevStore("menu", embedder="local/one", folder=tmp_path)
    await store.open(create=True, dimension=384)
    await store.aclose()
    (tmp_path / "something else").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "index.db").touch()

    zoo, menu, long = list_indexes(tmp_path)

    assert (zoo.name, zoo.count, zoo.dimension, zoo.embedder, zoo.path) == ("Zoo 🐘", 30, 6, None, open_one.path)
    assert (menu.name, menu.count, menu.dimension, menu.embedder) == ("menu", 0, 384, "local/one")
    assert (long.name, long.count, long.dimension) == ("x" * 300, 0, None)
    assert zoo.size_bytes > 30 * 6 * 4
    assert not any(info.error for info in (zoo, menu, long))
    await open_one.aclose()


def test_no_folder_means_no_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    assert list_indexes() == []
    assert list_indexes(tmp_path / "nowhere") == []
    assert list(tmp_path.iterdir()) == []
