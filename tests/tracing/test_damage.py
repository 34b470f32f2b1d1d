"""Damaged and foreign files: what can be read is read, the rest is counted or named, and nothing is overwritten."""

import sqlite3
from pathlib import Path

import pytest

from flowkit.errors import StoreError
from flowkit.tracing.database import VERSION
from flowkit.tracing.store import TraceStore
from tests.tracing.spans import span


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "traces.db"
    store = TraceStore(path)
    for number in range(1, 6):
        root = span(str(number), trace=number, at=number, attributes={"n": number})
        store.write([root, span("step", trace=number, parent_id=root.span_id, kind=None, attributes={"n": number})])
    store.close()
    return path


def alter(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    "change",
    [
        "labels = '{\"n\": '",
        "labels = CAST(x'7bff7d' AS TEXT)",
        "name = CAST(x'ff' AS TEXT)",
        "start_ns = 'yesterday'",
        "end_ns = 'never'",
    ],
)
def test_unreadable_traces_are_skipped_and_counted(path: Path, change: str):
    alter(path, f"UPDATE traces SET {change} WHERE name = '3'")
    store = TraceStore(path)

    page = store.list()

    assert [item.name for item in page.items] == ["5", "4", "2", "1"]
    assert page.skipped == 1
    with pytest.raises(StoreError, match=r"trace '0+3' in .*traces\.db cannot be read"):
        store.get(f"{3:032x}")
    assert store.delete([f"{3:032x}"]) == 1
    assert store.list().skipped == 0


@pytest.mark.parametrize(
    "change", ["more = '{\"attributes\"'", "more = CAST(x'ff' AS TEXT)", "more = '{\"error\": 7}'", "marks = 'x'"]
)
def test_unreadable_spans_are_skipped_and_counted(path: Path, change: str):
    alter(path, f"UPDATE spans SET {change} WHERE trace = 3 AND name = 'step'")
    store = TraceStore(path)

    trace = store.get(f"{3:032x}")

    assert [row.name for row in trace.spans] == ["3"]
    assert trace.skipped == 1
    assert len(store.list(text="step").items) == 5  # names are still searched


def test_pages_go_on_behind_an_unreadable_row(path: Path):
    alter(path, "UPDATE traces SET labels = '{' WHERE name = '4'")
    store = TraceStore(path)

    first = store.list(limit=2)
    second = store.list(limit=2, cursor=first.cursor)

    assert [item.name for item in [*first.items, *second.items]] == ["5", "3", "2", "1"]


def test_a_newer_format_is_refused_with_a_hint(path: Path):
    alter(path, f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()

    for use in (TraceStore(path).list, lambda: TraceStore(path).write([span()]), TraceStore(path).clear):
        with pytest.raises(StoreError, match="was written by a newer flowkit") as error:
            use()
        assert error.value.status == "DATA_LOSS"
        assert "upgrade" in str(error.value.hint)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["text", "torn", "another database"])
def test_a_file_that_is_no_trace_store_is_named_and_left_alone(path: Path, kind: str):
    if kind == "text":
        path.write_text("dear diary" * 1000)
    elif kind == "torn":
        path.write_bytes(path.read_bytes()[:6000])
    else:
        path.unlink()
        alter(path, "CREATE TABLE customers (name TEXT)")
    before = path.read_bytes()

    for use in (TraceStore(path).list, lambda: TraceStore(path).write([span()])):
        with pytest.raises(StoreError, match=str(path)) as error:
            use()
        assert error.value.status == "DATA_LOSS"
        assert "move" in str(error.value.hint)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path):
    path = tmp_path / "traces.db"
    path.touch()

    assert TraceStore(path).list().items == []
    TraceStore(path).write([span()])
    assert len(TraceStore(path).list().items) == 1


def test_a_file_that_is_held_by_another_says_so(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("flowkit.tracing.database._BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = TraceStore(path)
    try:
        with pytest.raises(StoreError, match="database is locked") as error:
            store.write([span()])
        assert error.value.status == "UNAVAILABLE"
        assert len(store.list().items) == 5  # reading goes on
    finally:
        holder.close()
    store.write([span(trace=9)])
    assert len(store.list().items) == 6
