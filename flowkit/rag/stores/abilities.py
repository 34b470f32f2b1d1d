"""What a store can do, in its own words: pages, tables and messages are made from it.

class MyStore(StorePlugin): abilities = StoreAbilities(modes=("vector",))
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from flowkit.rag.stores.contract import SearchMode

__all__ = ["NamespacedStore", "SqlStore", "StoreAbilities", "abilities_of"]


@dataclass(frozen=True, slots=True)
class StoreAbilities:
    """One store, as it was made. `flowkit.testing.StoreContract` compares this with what the store does."""

    modes: tuple[SearchMode, ...] = ("vector", "keyword", "hybrid")
    """How it searches; any other mode raises UnsupportedError."""
    unsupported_filters: tuple[str, ...] = ()
    """Operators of filters that raise UnsupportedFilter: "contains", …"""
    exact: bool = True
    """A vector search compares every row, so that nothing near is missed."""
    writes: bool = True
    """False for a store that reads what others keep; writing and deleting raise UnsupportedError."""
    namespaces: bool = False
    """Parts of an index that do not see each other's rows."""
    tells_size: bool = True
    """`stats().size_bytes` is a number."""


@runtime_checkable
class NamespacedStore(Protocol):
    """What a store with namespaces has besides the methods of `VectorStore`."""

    @property
    def namespace(self) -> str:
        """The one whose rows this store sees; "" is the one without a name."""
        ...

    async def namespaces(self) -> Mapping[str, int]:
        """How many rows each namespace of the open index has; those without rows may be missing."""
        ...


@runtime_checkable
class SqlStore(Protocol):
    """What a store that keeps its rows in tables may have, so that its SQL can be read before it runs."""

    def creation_sql(self, *, dimension: int, embedder: str | None = None) -> str:
        """The script that makes the index, safe to run again; what `open(create=True)` would do. Connects to nothing.

        Raises:
            UnsupportedError: as it is set up, the store makes nothing.
        """
        ...


def abilities_of(store: Any) -> StoreAbilities:
    """What a store declares as its `abilities`; everything, when it declares nothing."""
    found = getattr(store, "abilities", None)
    return found if isinstance(found, StoreAbilities) else StoreAbilities()
