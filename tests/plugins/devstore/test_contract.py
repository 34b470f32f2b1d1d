"""The dev store keeps the contract."""

from pathlib import Path

import pytest

from flowkit.testing import StoreContract
from flowkit_devstore import DevStore


class TestDevStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> DevStore:
        return DevStore("menu", folder=tmp_path)

    def make_store(self, store: DevStore) -> DevStore:  # type: ignore[override]
        return DevStore(store.index, folder=store.path.parent)
