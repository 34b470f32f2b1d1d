"""What a store can do, in its own words: pages, tables and messages are made from it.

class MyStore(StorePlugin): abilities = StoreAbilities(modes=("vector",))
"""

from dataclasses import dataclass
from typing import Any

from flowkit.rag.stores.contract import SearchMode

__all__ = ["StoreAbilities", "abilities_of"]


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


def abilities_of(store: Any) -> StoreAbilities:
    """What a store declares as its `abilities`; everything, when it declares nothing."""
    found = getattr(store, "abilities", None)
    return found if isinstance(found, StoreAbilities) else StoreAbilities()
