"""Traces as pages draw them."""

import json
import sqlite3
from pathlib import Path

from flowkit.server.dev.trace_shapes import SpanOutline
from flowkit.tracing.rows import SpanError, SpanEvent, SpanRow
from flowkit.tracing.store import TraceStore

TRACE = "ab" * 16
SPANS = (
    SpanRow(
        TRACE, "11" * 8, 'menu"QA\n寿司', 1_000_000_000, 3_500_000_000, type="action", kind="flow", key="/flow/menuQA"
    ),
    SpanRow(TRACE, "22" * 8, "retrieve", 1_250_000_000, 2_000_000_000, parent_id="11" * 8, type="flowStep"),
    SpanRow(TRACE, "33" * 8, "GET", 1_500_000_001, ancestor_id='2"2', parent_id="44" * 8),
)


def stored(folder: Path) -> TraceStore:
    first, second, third = SPANS
    first.state, first.input, first.output = "error", b'{"q": "\xe5\xaf\xbf\xe5\x8f\xb8", "n": null}', b"null"
    first.error, first.failure_source = SpanError("ValueError", 'no "dish"', "Traceback …"), True
    first.context = b'{"auth": {"uid": "a"}}'
    second.state, second.output, second.dropped = "success", json.dumps("x" * 5_000).encode(), True
    third.attributes, third.scope = {"http.status": 200}, ("httpx", None)
    third.events = (SpanEvent("retry", 1_600_000_000, {"after": 1.5}),)
    store = TraceStore(folder / "traces.db")
    store.write(list(SPANS))
    return store


def test_a_span_is_told_with_all_that_is_known_and_small(tmp_path: Path):
    spans = [json.loads(text) for text in stored(tmp_path).outline(TRACE).spans]

    assert [SpanOutline.from_wire(span).to_wire() for span in spans] == spans
    assert spans[0] == {
        "spanId": "11" * 8,
        "name": 'menu"QA\n寿司',
        "label": "flow",
        "type": "action",
        "startTimeMs": 1000.0,
        "inputBytes": 26,
        "outputBytes": 4,
        "kind": "flow",
        "key": "/flow/menuQA",
        "durationMs": 2500.0,
        "state": "error",
        "input": {"q": "寿司", "n": None},
        "failureSource": True,
        "error": {"type": "ValueError", "message": 'no "dish"', "stack": "Traceback …"},
        "context": {"auth": {"uid": "a"}},
    }
    assert (spans[1]["label"], spans[1]["parentId"], spans[1]["valuesDropped"]) == ("step", "11" * 8, True)
    assert spans[1]["outputBytes"] == 5_002
    assert "output" not in spans[1]
    assert "durationMs" not in spans[2]
    assert (spans[2]["ancestorId"], spans[2]["library"], spans[2]["attributes"]) == (
        '2"2',
        "httpx",
        {"http.status": 200},
    )
    assert spans[2]["events"] == [{"name": "retry", "timeMs": 1600.0, "attributes": {"after": 1.5}}]


def test_a_value_that_is_damaged_in_the_file_costs_no_other(tmp_path: Path):
    stored(tmp_path).close()
    with sqlite3.connect(tmp_path / "traces.db") as db:
        db.execute("UPDATE spans SET input = substr(input, 1, 9) WHERE kind = 'flow'")
        db.execute("UPDATE spans SET more = '{' WHERE name = 'GET'")
    db.close()

    found = TraceStore(tmp_path / "traces.db").outline(TRACE)

    assert [json.loads(text)["label"] for text in found.spans] == ["flow", "step"]
    assert "input" not in json.loads(found.spans[0])
    assert found.skipped == 1
