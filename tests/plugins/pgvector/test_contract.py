"""pgvector keeps the contract of vector stores: reading whole tables, and through each kind of index."""

from collections.abc import Callable

import pytest

from flowkit.testing import StoreContract
from flowkit_pgvector import PgVector

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]


# Makes Postgres use the vector index on the smallest table.
BY_INDEX = "-c enable_seqscan=off -c enable_sort=off -c enable_bitmapscan=off"


class PgVectorContract(StoreContract):
    @pytest.fixture(autouse=True)
    def _maker(self, make_store: Callable[..., PgVector], dsn: str) -> None:
        self._make = make_store
        self.dsn = dsn

    def make_store(self, store: PgVector) -> PgVector:  # type: ignore[override]
        return self._make(**self.options())

    def options(self) -> dict[str, object]:
        return {}

    @pytest.fixture
    def store(self, _maker: None) -> PgVector:
        return self._make(**self.options())


class TestExactSearch(PgVectorContract):
    def options(self) -> dict[str, object]:
        return {"index": None}


class TestHnsw(PgVectorContract):
    exact = False

    def options(self) -> dict[str, object]:
        from psycopg.conninfo import make_conninfo

        return {"exact_below": 0, "dsn": make_conninfo(self.dsn, options=BY_INDEX)}
