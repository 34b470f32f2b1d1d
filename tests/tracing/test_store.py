"""The trace store: what is written is listed, found, read back, and deleted for good."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.tracing.reading import this_process
from flowkit.tracing.rows import SpanError, SpanEvent, SpanLink
from flowkit.tracing.store import TraceStore
from tests.tracing.spans import SECOND, START, span


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TraceStore]:
    store = TraceStore(tmp_path / "traces.db")
    yield store
    store.close()


def names(store: TraceStore, **conditions: object) -> list[str]:
    return [item.name for item in store.list(**conditions).items]  # type: ignore[arg-type]


def test_a_store_without_a_file_is_empty_and_makes_none(store: TraceStore):
    assert store.list().items == []
    assert store.list(text="soup").items == []
    assert store.list_cards() == ([], None)
    assert (store.stats().traces, store.data_version(), store.delete(["1" * 32]), store.clear()) == (0, 0, 0, 0)
    with pytest.raises(NotFoundError, match="no trace 'ab'"):
        store.get("ab")
    assert not store.path.exists()


def test_a_span_comes_back_as_it_went_in(store: TraceStore):
    whole = span(
        "fake/model",
        trace=7,
        kind="model",
        parent_id="00000000000000aa",
        ancestor_id="00000000000000bb",
        local_root=True,
        span_kind="CLIENT",
        state="error",
        error=SpanError("ValueError", "no soup", "Traceback …"),
        failure_source=True,
        input='{"q":"こんにちは"}'.encode(),
        output=b"x" * 5000,
        input_bytes=23,
        output_bytes=5000,
        context=b'{"auth":"<redacted>"}',
        attributes={"n": 1, "f": 1.5, "on": True, "list": ["a", "b"], "名": "値"},
        events=(SpanEvent("tasted", START + 5, {"salt": "enough"}),),
        links=(SpanLink("1" * 32, "2" * 16, {"why": "retry"}),),
        scope=("httpx", "1.0"),
        dropped=True,
    )
    store.write([whole])

    assert store.get(whole.trace_id).spans == [whole]


def test_a_summary_speaks_of_the_root(store: TraceStore):
    tokens = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 3}
    root = span(
        "menuQA",
        state="error",
        error=SpanError("ValueError", "no soup"),
        input=b'"a"' * 200,
        attributes={"batch": "L1"},
    )
    model = span("fake", kind="model", parent_id=root.span_id, attributes=tokens, output=b'"b"', at=1)
    again = span("fake", kind="model", parent_id=root.span_id, attributes=tokens, at=1)
    store.write([model, again])
    store.write([root])

    (item,) = store.list().items
    assert (item.name, item.kind, item.key, item.status) == ("menuQA", "flow", "/flow/menuQA", "error")
    assert (item.start_ns, item.duration_ms, item.spans, item.size_bytes) == (START, 1000.0, 3, 603)
    assert (item.input_tokens, item.output_tokens) == (20, 6)
    assert item.error == "ValueError: no soup"
    assert item.labels == {"batch": "L1"}
    assert (len(item.input or ""), item.output) == (200, None)


def test_a_late_start_never_overwrites_an_end(store: TraceStore):
    end = span(output=b"1")
    start = span(span_id=end.span_id, end_ns=0)
    for rows in ([start, end, start], [start], [end], [start]):
        store.write(rows)

        assert store.get(end.trace_id).spans[0].output == b"1"
        assert (store.list().items[0].spans, store.list().items[0].status) == (1, "success")


def test_an_end_takes_the_place_of_its_start(store: TraceStore):
    start = span(end_ns=0, input=b"x" * 5000, process=this_process())
    store.write([start])
    assert store.list().items[0].status == "running"

    store.write([span(span_id=start.span_id, input=b"small")])

    (found,) = store.get(start.trace_id).spans
    assert (found.input, found.input_bytes, found.state) == (b"small", 5, "success")
    assert store.list().items[0].size_bytes == 5


def test_a_run_whose_process_is_gone_is_lost_not_running_for_ever(store: TraceStore):
    child = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(child, 0)
    host = this_process().partition("@")[2]
    store.write([span("gone", trace=1, end_ns=0, process=f"{child}@{host}")])
    store.write([span("here", trace=2, end_ns=0, process=this_process())])
    store.write([span("elsewhere", trace=3, end_ns=0, process=f"{child}@another-host")])

    assert names(store, status="lost") == ["gone"]
    assert sorted(names(store, status="running")) == ["elsewhere", "here"]


def test_our_span_stands_for_a_trace_that_a_web_server_began(store: TraceStore):
    request = span("GET /menu", type="external", kind=None)
    store.write([request])
    assert (names(store), names(store, internal=True)) == ([], ["GET /menu"])

    flow = span("menuQA", parent_id=request.span_id, at=1)
    step = span("ask", kind=None, type="flowStep", parent_id=flow.span_id, at=2)
    store.write([step])
    store.write([flow])

    (item,) = store.list().items
    assert (item.name, item.spans, item.start_ns) == ("menuQA", 3, START + SECOND)


def test_the_first_process_of_a_distributed_trace_is_its_root(store: TraceStore):
    caller = span("caller", at=0)
    store.write([span("callee", parent_id=caller.span_id, local_root=True, at=1)])
    assert names(store) == ["callee"]

    store.write([caller])

    assert names(store) == ["caller"]


def test_what_tools_run_is_hidden_unless_asked_for(store: TraceStore):
    store.write([span("preview", attributes={"genkitx:ignore-trace": "true"}), span("real", trace=2)])

    assert names(store) == ["real"]
    assert sorted(names(store, internal=True)) == ["preview", "real"]


def test_pages_lead_through_the_list_newest_first(store: TraceStore):
    # Some begin in the same nanosecond.
    store.write([span(str(number), trace=number + 1, at=number // 3) for number in range(20)])

    seen, cursor = [], None
    while True:
        page = store.list(limit=7, cursor=cursor)
        seen += [item.name for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break

    assert seen == [str(number) for number in range(19, -1, -1)]
    with pytest.raises(InvalidInputError, match="no cursor"):
        store.list(cursor="'; DROP TABLE traces")
    with pytest.raises(InvalidInputError, match="limit is 0"):
        store.list(limit=0)


def test_conditions(store: TraceStore):
    store.write(
        [
            span("soup", trace=1, at=0, attributes={"session": "a", 'odd "key" $.x': "1"}),
            span("soup", trace=2, at=10, state="error", kind="tool"),
            span("cake", trace=3, at=20, end_ns=START + 25 * SECOND, attributes={"session": "b"}),
        ]
    )
    began = datetime.fromtimestamp(START / 1e9, UTC)

    assert names(store, status="error") == ["soup"]
    assert names(store, kind="tool", action="soup") == ["soup"]
    assert names(store, action="/flow/soup") == ["soup"]
    assert names(store, since=began + timedelta(seconds=10)) == ["cake", "soup"]
    assert names(store, since=began + timedelta(seconds=5), until=began + timedelta(seconds=20)) == ["soup"]
    assert names(store, min_duration_ms=4000) == ["cake"]
    assert names(store, labels={"session": "b"}) == ["cake"]
    assert names(store, labels={'odd "key" $.x': "1"}) == ["soup"]
    assert names(store, status="success", text="cake") == ["cake"]
    assert names(store, action="' OR 1=1 --") == []


def test_an_id_may_be_shortened_while_it_is_clear(store: TraceStore):
    store.write([span(trace_id="ab12" + "0" * 28), span(trace_id="ab34" + "0" * 28)])

    assert store.get("AB1").trace_id.startswith("ab12")
    with pytest.raises(InvalidInputError, match="several traces begin with 'ab'"):
        store.get("ab")
    with pytest.raises(NotFoundError, match="no trace 'abc'"):
        store.get("abc")
    with pytest.raises(NotFoundError):
        store.get("")


def test_big_values_stay_in_the_file_until_they_are_asked_for(store: TraceStore):
    row = span(input=b"x" * 3000, output=b"small")
    store.write([row])

    light = store.get(row.trace_id, values=False).spans[0]

    assert (light.input, light.input_bytes, light.output) == (None, 3000, b"small")
    assert store.value(row.trace_id, row.span_id, "input") == b"x" * 3000
    assert store.value(row.trace_id, row.span_id, "output") == b"small"
    with pytest.raises(NotFoundError, match="has no output"):
        store.value(row.trace_id, "f" * 16, "output")


def raw(store: TraceStore) -> bytes:
    store.close()
    return b"".join(file.read_bytes() for file in store.path.parent.iterdir())


def test_deleting_one_trace_leaves_no_byte_of_it_behind(store: TraceStore):
    """Not in the free space between others, and not in the text index."""
    words = ["albatross", "badger", "quetzalcoatl", "salamander", "wombat"] * 8
    store.write([span(trace=n + 1, input=f'"{word}"'.encode(), at=n) for n, word in enumerate(words)])
    quetzals = [item.trace_id for item in store.list(text="quetzalcoatl").items]
    assert len(quetzals) == 8
    assert b"quetzalcoatl" in raw(store)

    assert store.delete(quetzals) == 8

    assert b"quetzalcoatl" not in raw(store)
    assert len(store.list(text="badger").items) == 8
    assert b"badger" in raw(store)


def test_deleting_much_makes_the_file_small(store: TraceStore):
    store.write([span(trace=n, input=b'"confidential%d %s"' % (n, b"y" * 5000), at=n) for n in range(1, 51)])
    assert len(names(store, text="confidential7")) == 1
    before = store.stats().size_bytes

    assert store.delete([f"{n:032x}" for n in range(1, 50)] + ["f" * 32]) == 49

    assert names(store) == ["menuQA"]
    assert names(store, text="confidential7") == []
    assert names(store, text="confidential50") == ["menuQA"]
    assert store.stats().size_bytes < before / 3


def test_pruning_keeps_the_newest(store: TraceStore):
    store.write([span(str(n), trace=n, at=n, input=b"z" * 20_000) for n in range(1, 101)])

    assert store.prune(max_traces=60) == 40
    assert names(store, limit=100) == [str(n) for n in range(100, 40, -1)]

    store.prune(max_traces=60, max_bytes=500_000)
    kept = names(store, limit=100)
    assert kept == [str(n) for n in range(100, 100 - len(kept), -1)]
    assert 10 <= len(kept) <= 30
    assert store.stats().size_bytes <= 600_000

    assert store.clear() == len(kept)
    assert store.list(internal=True).items == []


def test_whoever_looks_notices_that_others_have_written(store: TraceStore, tmp_path: Path):
    store.write([span()])
    other = TraceStore(store.path)
    seen = other.data_version()
    assert other.data_version() == seen

    store.write([span(trace=2)])

    assert other.data_version() != seen
    seen = store.data_version()
    store.write([span(trace=3)])
    assert store.data_version() != seen  # also of its own
    other.close()


def test_two_thousand_traces_of_200_kb_are_listed_without_their_values(store: TraceStore):
    value = b'"' + b"v" * 20_000 + b'"'
    for first in range(0, 2000, 100):
        store.write([span(str(n), trace=n + 1, at=n, input=value) for n in range(first, first + 100)])

    page = store.list(limit=1000)

    assert [item.name for item in page.items[:2]] == ["1999", "1998"]
    assert max(len(item.input or "") for item in page.items) == 200
    cards, cursor = store.list_cards(limit=1000)
    assert len(cards) == 1000
    assert max(map(len, cards)) < 2500
    assert len(store.list_cards(limit=1000, cursor=cursor)[0]) == 1000


def test_what_is_handed_from_step_to_step_is_stored_once(store: TraceStore):
    text = b'"' + b"documents " * 10_000 + b'"'
    root = span("rag", input=text, output=text)
    start = span("rag", span_id=root.span_id, end_ns=0, input=text)
    steps = [span(str(n), parent_id=root.span_id, input=text, output=text) for n in range(10)]
    store.write([start])
    store.write([root, *steps])

    assert store.stats().size_bytes < 5 * len(text)
    assert {row.output for row in store.get(root.trace_id).spans} == {text}
