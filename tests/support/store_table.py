"""The table of docs/reference/stores.md: what the contract suite proved of each store, when it ran on all of them.

$ python -m tests.support.store_table      # runs the suite and writes the table into the page

A cell says ✓ (or more) where the store declares an operation and every test of it passed, – where it declares that it
cannot do it, "not proved" in any other case. Between two runs the tests compare the page with the tests that there are.
"""

import importlib
import inspect
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

from flowkit.plugin import StoreAbilities
from flowkit.rag.stores.abilities import abilities_of
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import StoreContract
from flowkit.testing.store_contract.filtering import FilteringTests
from flowkit.testing.store_contract.lifecycle import LifecycleTests
from flowkit.testing.store_contract.reading import ReadingTests
from flowkit.testing.store_contract.scoring import ScoringTests
from flowkit.testing.store_contract.syncing import SyncingTests
from flowkit.testing.store_contract.words import WordsTests
from flowkit.testing.store_contract.writing import WritingTests
from flowkit_chroma import Chroma
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector, Table
from flowkit_pinecone import Pinecone
from samples.lance_store.lance_store import Lance
from samples.qdrant_store.qdrant_store import Qdrant
from tests.support.modules import ROOT

__all__ = ["PAGE", "STORES", "Column", "declared", "page", "ran"]

PAGE = ROOT / "docs" / "reference" / "stores.md"
_BEGIN, _END = "<!-- table: python -m tests.support.store_table -->\n", "<!-- end of the table -->\n"
_OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "and", "or", "not")
_OUR_OWN_SERVERS = {"tests.servers.pinecone"}
"""They behave as a service does; the others start the real program."""

Proved = Mapping["Column", frozenset[str]]
"""The tests of each store that passed, by name."""


@dataclass(frozen=True, eq=False)
class Column:
    """A store as it can be made, and where it is tested: classes that inherit the contract, or a module of its own
    tests, of which `own` says what they stand for."""

    title: str
    store: object
    tests: tuple[str, ...]
    own: Mapping[str, str] = field(default_factory=dict)

    def modules(self) -> Iterator[tuple[ModuleType, str]]:
        """The modules of its tests, each with the name of the class; "" for all of it."""
        for node in self.tests:
            file, _, name = node.partition("::")
            yield importlib.import_module(file.removesuffix(".py").replace("/", ".")), name


def _contract(file: str, *classes: str) -> tuple[str, ...]:
    return tuple(f"tests/{file}.py::{name}" for name in classes)


STORES: Sequence[Column] = (
    Column("`DevStore`", DevStore("menu"), _contract("plugins/devstore/test_contract", "TestDevStore")),
    Column("`PgVector`", PgVector("menu"), _contract("plugins/pgvector/test_contract", "TestHnsw")),
    Column(
        "`PgVector`, `index=None`",
        PgVector("menu", index=None),
        _contract("plugins/pgvector/test_contract", "TestExactSearch"),
    ),
    Column(
        "`PgVector`, `source=`",
        PgVector("menu", source=Table("dishes")),
        ("tests/plugins/pgvector/test_sources.py",),
        own={
            "search by vector": "test_a_table_is_searched_with_its_columns_as_metadata",
            "operators of filters": "test_filters_hold_for_a_table_as_for_an_index",
            "pages, by id and by filter; manifest": "test_rows_are_read_by_id_and_page_and_have_keys",
            "source of `store:copy`": "test_a_table_is_copied_into_an_index",
        },
    ),
    Column("`Chroma`, folder", Chroma("menu", path="data"), _contract("plugins/chroma/test_contract", "TestFolder")),
    Column(
        "`Chroma`, server",
        Chroma("menu", host="localhost"),
        _contract("plugins/chroma/test_contract", "TestAsyncClient", "TestClientOnThreads"),
    ),
    Column("`Pinecone`", Pinecone("menu"), _contract("plugins/pinecone/test_contract", "TestPinecone")),
    Column(
        "`Pinecone`, `hybrid=True`",
        Pinecone("menu", hybrid=True),
        _contract("plugins/pinecone/test_contract", "TestPineconeHybrid"),
    ),
    Column("in memory", InMemoryStore("menu"), _contract("rag/stores/test_memory", "TestInMemoryStore")),
    Column("Qdrant (sample)", Qdrant("menu"), _contract("samples/test_qdrant_store", "TestQdrant")),
    Column("LanceDB (sample)", Lance("menu"), _contract("samples/test_lance_store", "TestLance")),
)


@dataclass(frozen=True)
class Row:
    """An operation: the tests of the contract that prove it, whether a store says that it can, and how it does it."""

    title: str
    tests: tuple[str, ...] = ()
    can: Callable[[StoreAbilities], bool] = lambda _: True
    told: Callable[[StoreAbilities], str] = lambda _: "✓"


def _tests(part: type, *, but: str = "", only: str = "") -> tuple[str, ...]:
    names = (name for name in vars(part) if name.startswith("test_"))
    return tuple(name for name in names if only in name and not (but and but in name))


def _filters(can: StoreAbilities) -> str:
    left = [operator for operator in _OPERATORS if operator not in can.unsupported_filters]
    return "all" if len(left) == len(_OPERATORS) else ", ".join(left)


_COPY = ("test_an_index_is_copied_out_and_in_with_its_vectors",)
_DECLARES = ("test_it_can_do_what_it_declares",)
_KEYWORD = tuple(name for name in _tests(WordsTests, but="hybrid") if "lacks" not in name)
_ROWS: Sequence[Row] = (
    Row(
        "search by vector",
        _tests(ScoringTests, but="equal"),  # the order of equal scores is promised by exact search only
        told=lambda can: "exact" if can.exact else "by an index",
    ),
    Row("search by words (BM25)", _KEYWORD, lambda can: "keyword" in can.modes),
    Row("hybrid search", _tests(WordsTests, only="hybrid"), lambda can: "hybrid" in can.modes),
    Row("operators of filters", _tests(FilteringTests), told=_filters),
    Row("pages, by id and by filter; manifest", _tests(ReadingTests)),
    Row("write; delete by id, by filter, all", _tests(WritingTests), lambda can: can.writes),
    Row("identity; many writers and readers at once", _tests(LifecycleTests), lambda can: can.writes),
    Row("sync (`ai.ingest`)", _tests(SyncingTests, only="sync"), lambda can: can.writes),
    Row("source of `store:copy`", _COPY),
    Row("target of `store:copy`", _COPY, lambda can: can.writes),
    Row("namespaces", (), lambda can: can.namespaces),
    Row("tells its size", _DECLARES, lambda can: can.tells_size),
)


def _cell(row: Row, column: Column, proved: frozenset[str]) -> str:
    can = abilities_of(column.store)
    if not row.can(can):
        return "–"
    needed = {column.own[row.title]} if row.title in column.own else set(row.tests)
    return row.told(can) if needed <= proved else "not proved"


def _against(column: Column) -> str:
    used = {getattr(value, "__module__", "") for module, _ in column.modules() for value in vars(module).values()}
    what = "**emulated**" if used & _OUR_OWN_SERVERS else "real"
    return what if all(name for _, name in column.modules()) else f"{what}, tests of its own"


def table(proved: Proved) -> str:
    """The table, as Markdown."""
    lines = ["| | " + " | ".join(column.title for column in STORES) + " |", "|---" * (len(STORES) + 1) + "|"]
    for row in _ROWS:
        cells = [_cell(row, column, proved[column]) for column in STORES]
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    lines.append("| the contract ran against | " + " | ".join(map(_against, STORES)) + " |")
    return "\n".join(lines) + "\n"


def page(text: str, proved: Proved) -> str:
    """A page with the table in it."""
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    return before + _BEGIN + "\n" + table(proved) + "\n" + _END + after


def declared() -> Proved:
    """What there is to prove each store, run by `make test`: what it leaves out, or leaves to `make soak`, is not."""
    return {
        column: frozenset().union(*(_names(module, name) for module, name in column.modules())) for column in STORES
    }


def _names(module: ModuleType, name: str) -> set[str]:
    if _is_soak(module):
        return set()
    holder: Any = getattr(module, name) if name else module
    if name and not issubclass(holder, StoreContract):
        raise TypeError(f"{name} does not inherit the contract")
    found = {key: value for key, value in inspect.getmembers(holder) if key.startswith("test_")}
    return {key for key, value in found.items() if value is not None and not _is_soak(value)}


def _is_soak(tested: object) -> bool:
    marks = getattr(tested, "pytestmark", [])
    return any(mark.name in ("soak", "skip") for mark in (marks if isinstance(marks, list) else [marks]))


def ran() -> Proved:
    """What passed, of a run of the suite on every store. Raises SystemExit when a test failed, or could not run."""
    nodes = [node for column in STORES for node in column.tests]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        run = subprocess.run([sys.executable, "-m", "pytest", f"--junitxml={report}", "-q", *nodes], cwd=ROOT)
        if run.returncode != 0:
            raise SystemExit("the suite did not pass, so the page is left as it is")
        cases = list(ET.parse(report).iter("testcase"))
    outcomes: dict[str, dict[str, bool]] = {}
    for case in cases:
        name = case.attrib["name"].partition("[")[0]
        held = outcomes.setdefault(case.attrib["classname"], {})
        held[name] = held.get(name, True) and len(case) == 0  # a child says failure or skipped
    return {column: _passed(column, outcomes) for column in STORES}


def _passed(column: Column, outcomes: Mapping[str, Mapping[str, bool]]) -> frozenset[str]:
    places = [".".join(filter(None, (module.__name__, name))) for module, name in column.modules()]
    return frozenset(name for place in places for name, passed in outcomes[place].items() if passed)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), ran()), encoding="utf-8")
