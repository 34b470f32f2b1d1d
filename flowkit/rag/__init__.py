"""The toolbox for retrieval: everything between files on a disk and documents in a prompt.

    from flowkit.rag import parse, split
    chunks = split.recursive(max_chars=1000, overlap_chars=100)(parse.pdf(Path("menu.pdf")))

Names are loaded when they are first used: an app that only retrieves needs neither parsers nor splitters.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowkit.rag import filters, ingest, load, parse, split, transform
    from flowkit.rag.easy import EasyRag, easy_rag
    from flowkit.rag.stores.transfer import CopyReport, copy_index

__all__ = [
    "CopyReport",
    "EasyRag",
    "copy_index",
    "easy_rag",
    "filters",
    "ingest",
    "load",
    "parse",
    "split",
    "transform",
]

_HOMES = {
    "CopyReport": "flowkit.rag.stores.transfer",
    "EasyRag": "flowkit.rag.easy",
    "copy_index": "flowkit.rag.stores.transfer",
    "easy_rag": "flowkit.rag.easy",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'flowkit.rag' has no attribute {name!r}")
    home = _HOMES.get(name)
    value = import_module(f"flowkit.rag.{name}") if home is None else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
