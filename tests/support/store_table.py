"""The table of docs/reference/stores.md, made from what the stores declare.

$ python -m tests.support.store_table      # writes it into the page
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flowkit.plugin import StoreAbilities
from flowkit.rag.stores.abilities import abilities_of
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_chroma import Chroma
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector, Table
from flowkit_pinecone import Pinecone
from samples.lance_store.lance_store import Lance
from samples.qdrant_store.qdrant_store import Qdrant
from tests.support.modules import ROOT

__all__ = ["PAGE", "STORES", "page", "table"]

PAGE = ROOT / "docs" / "reference" / "stores.md"
_BEGIN, _END = "<!-- table: python -m tests.support.store_table -->\n", "<!-- end of the table -->\n"
_OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "and", "or", "not")
_REAL, _EMULATED = "real", "**emulated**"


@dataclass(frozen=True)
class Column:
    """A store as it can be made. `proved` says what the contract suite ran against."""

    title: str
    store: object
    proved: str = _REAL


STORES: Sequence[Column] = (
    Column("`DevStore`", DevStore("menu")),
    Column("`PgVector`", PgVector("menu")),
    Column("`PgVector`, `index=None`", PgVector("menu", index=None)),
    Column("`PgVector`, `source=`", PgVector("menu", source=Table("dishes")), "real, tests of its own"),
    Column("`Chroma`, folder", Chroma("menu", path="data")),
    Column("`Chroma`, server", Chroma("menu", host="localhost")),
    Column("`Pinecone`", Pinecone("menu"), _EMULATED),
    Column("in memory", InMemoryStore("menu")),
    Column("Qdrant (sample)", Qdrant("menu")),
    Column("LanceDB (sample)", Lance("menu")),
)


def _mark(yes: bool) -> str:
    return "✓" if yes else "–"


def _filters(can: StoreAbilities) -> str:
    left = [operator for operator in _OPERATORS if operator not in can.unsupported_filters]
    return "all" if len(left) == len(_OPERATORS) else ", ".join(left)


_ROWS: Sequence[tuple[str, Callable[[StoreAbilities], str]]] = (
    ("search by vector", lambda can: "exact" if can.exact else "by an index"),
    ("search by words (BM25)", lambda can: _mark("keyword" in can.modes)),
    ("hybrid search", lambda can: _mark("hybrid" in can.modes)),
    ("operators of filters", _filters),
    ("pages, by id and by filter; manifest", lambda can: "✓"),
    ("write; delete by id, by filter, all", lambda can: _mark(can.writes)),
    ("sync (`ai.ingest`)", lambda can: _mark(can.writes)),
    ("source of `store:copy`", lambda can: "✓"),
    ("target of `store:copy`", lambda can: _mark(can.writes)),
    ("namespaces", lambda can: _mark(can.namespaces)),
    ("tells its size", lambda can: _mark(can.tells_size)),
)


def table() -> str:
    """The table, as Markdown."""
    lines = ["| | " + " | ".join(column.title for column in STORES) + " |", "|---" * (len(STORES) + 1) + "|"]
    for title, told in _ROWS:
        cells = [told(abilities_of(column.store)) for column in STORES]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines.append("| the contract ran against | " + " | ".join(column.proved for column in STORES) + " |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """A page with the table of today in it."""
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    return before + _BEGIN + "\n" + table() + "\n" + _END + after


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
