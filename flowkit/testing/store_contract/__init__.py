"""The contract suite: what every vector store promises, as tests that run against the real thing.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path): return MyStore("menu", folder=tmp_path)
"""

import pytest

# So that a failed assert shows its values; pytest wants to know before the modules are loaded.
pytest.register_assert_rewrite(__name__)

from flowkit.testing.store_contract.suite import StoreContract  # noqa: E402

__all__ = ["StoreContract"]
