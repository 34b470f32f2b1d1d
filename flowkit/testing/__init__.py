"""For tests of apps, plugins and stores. Names are loaded when they are first used.

from flowkit.testing import FakeModel, MemorySink, StoreContract, trace_outline
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowkit.testing.fakes import FakeEmbedder, FakeModel
    from flowkit.testing.outline import MemorySink, trace_outline
    from flowkit.testing.store_contract import StoreContract

__all__ = ["FakeEmbedder", "FakeModel", "MemorySink", "StoreContract", "trace_outline"]

_HOMES = {
    "flowkit.testing.fakes": ("FakeEmbedder", "FakeModel"),
    "flowkit.testing.outline": ("MemorySink", "trace_outline"),
    "flowkit.testing.store_contract": ("StoreContract",),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'flowkit.testing' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
