"""Log records: listed by Genkit's routes, and kept with the span in which they were made."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.tracing.log_rows import LogRow
from flowkit.tracing.log_store import LogStore
from flowkit.tracing.logs import LogKeeper
from flowkit.tracing.quiet import quiet
from flowkit.tracing.store import TraceStore
from tests.server.dev_server import Browser
from tests.server.telemetry.spans import trace_data

LOGGER = logging.getLogger("kitchen")
START = 1_796_000_000_000_000_000


def row(text: str, n: int, severity: int = 9, level: str = "INFO", trace: int | None = None) -> LogRow:
    return LogRow(START + n * 1_000_000, text, severity, level, None if trace is None else f"{trace:032x}")


async def test_the_list_is_filtered_and_goes_on_from_a_token(browser: Browser):
    rows = [row("lit", 1), row("warm", 2, 9, "INFO", 1), row("cold", 3, 13, "WARN", 1), row("fire", 4, 17, "ERROR")]
    await browser.dev.traces.take_logs(rows)

    async def texts(path: str = "/api/logs", **query: object) -> list[str]:
        return [log["body"] for log in (await browser.get(path, **query))["logs"]]

    assert await texts() == ["fire", "cold", "warm", "lit"]
    assert await texts(severityNumber=13) == ["fire", "cold"]
    assert await texts(severityText="warn") == ["cold"]
    assert await texts(traceId=f"{1:032x}") == ["cold", "warm"]
    assert await texts(f"/api/traces/{1:032x}/logs") == ["cold", "warm"]
    assert await texts(q="FIR") == ["fire"]
    first = await browser.get("/api/logs", limit=3)
    assert await texts(limit=3, continuationToken=first["continuationToken"]) == ["lit"]


async def test_a_trace_takes_its_logs_with_it(browser: Browser):
    await browser.http.post("/api/traces", json=trace_data())
    await browser.dev.traces.take_logs([row("of the trace", 1, trace=1), row("of nothing", 2)])

    assert (await browser.http.delete(f"/api/traces/{1:032x}")).json() == {"deleted": 1}

    assert [log["body"] for log in (await browser.get("/api/logs"))["logs"]] == ["of nothing"]


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[LogKeeper]:
    keeper = LogKeeper(TraceStore(tmp_path / ".flowkit" / "traces.db"))
    keeper.install()
    yield keeper
    keeper.remove()


def kept(keeper: LogKeeper) -> list[LogRow]:
    assert keeper.flush()
    return keeper.logs.list().items[::-1]


async def test_a_record_is_tied_to_the_span_that_was_current(keeper: LogKeeper, tmp_path: Path):
    ai = Flowkit(settings=Settings(traces=True, root=tmp_path))
    ids = {}

    @ai.flow()
    async def menu() -> None:
        LOGGER.warning("in the %s", "flow", extra={"table": 4})
        await ai.run("cook", cook)

    def cook() -> None:  # runs in a thread
        LOGGER.error("in the step")

    LOGGER.warning("outside")
    await menu()
    await ai.aclose()

    store = TraceStore(tmp_path / ".flowkit" / "traces.db")
    trace = store.get(store.list().items[0].trace_id)
    ids = {span.name: span.span_id for span in trace.spans}
    outside, in_flow, in_step = kept(keeper)
    assert (outside.trace_id, outside.span_id) == (None, None)
    assert (in_flow.body, in_flow.trace_id, in_flow.span_id) == ("in the flow", trace.trace_id, ids["menu"])
    assert (in_flow.severity_text, in_flow.severity_number, in_flow.scope) == ("WARN", 13, ("kitchen", None))
    assert in_flow.attributes["table"] == 4
    assert in_flow.attributes["code.function"] == "menu"
    assert (in_step.severity_text, in_step.span_id) == ("ERROR", ids["cook"])


def test_an_exception_is_kept_with_its_stack(keeper: LogKeeper):
    try:
        raise ValueError("no soup")
    except ValueError:
        LOGGER.exception("failed")

    (record,) = kept(keeper)
    assert record.attributes["exception.type"] == "ValueError"
    assert "no soup" in record.attributes["exception.stacktrace"]


def test_what_the_loggers_level_holds_back_is_not_kept(keeper: LogKeeper):
    LOGGER.setLevel(logging.ERROR)
    try:
        LOGGER.warning("held back")
    finally:
        LOGGER.setLevel(logging.NOTSET)

    assert kept(keeper) == []


def test_the_root_logger_is_left_alone(tmp_path: Path):
    """With a handler there, `logging.basicConfig` would do nothing."""
    before = list(logging.getLogger().handlers)
    keeper = LogKeeper(TraceStore(tmp_path / "traces.db"))
    keeper.install()
    after = list(logging.getLogger().handlers)
    keeper.remove()

    assert after == before


def test_a_record_that_cannot_be_made_into_text_fails_nobody(keeper: LogKeeper, caplog: pytest.LogCaptureFixture):
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("broken")

    LOGGER.propagate = False  # pytest's own handler would fail
    try:
        LOGGER.warning("%d", "no number")
        LOGGER.warning("fine", extra={"broken": Broken()})
        LOGGER.warning("fine, too")
    finally:
        LOGGER.propagate = True

    assert [record.body for record in kept(keeper)] == ["fine, too"]
    assert keeper.dropped == 2


def test_nothing_that_writing_logs_logs_is_kept(keeper: LogKeeper, monkeypatch: pytest.MonkeyPatch):
    """A store that logs each write: kept, each line would make the next."""
    write = LogStore.write
    writes = []

    def chatty(self: LogStore, rows: list[LogRow]) -> None:
        writes.append(len(rows))
        LOGGER.warning("writing %d", len(rows))
        write(self, rows)

    monkeypatch.setattr(LogStore, "write", chatty)
    LOGGER.warning("one")
    with quiet():
        LOGGER.warning("sending a trace")

    assert [record.body for record in kept(keeper)] == ["one"]
    assert writes == [1]


def test_secrets_in_attributes_are_replaced(keeper: LogKeeper):
    LOGGER.warning("in", extra={"api_key": "sk-123"})

    assert kept(keeper)[0].attributes["api_key"] == "<redacted>"


def test_records_of_many_threads_are_all_kept(keeper: LogKeeper):
    threads = [threading.Thread(target=lambda: [LOGGER.warning("%d", n) for n in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(kept(keeper)) == 100  # a page
    assert keeper.logs.count() == 200


def test_when_nobody_keeps_any_more_nothing_is_left_behind(tmp_path: Path):
    before = logging.Logger.callHandlers
    keeper = LogKeeper(TraceStore(tmp_path / "traces.db"))
    keeper.install()
    keeper.install()
    LOGGER.warning("kept")
    keeper.remove()
    LOGGER.warning("not kept")

    assert logging.Logger.callHandlers is before
    assert [record.body for record in keeper.logs.list().items] == ["kept"]


async def test_the_oldest_records_go(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("flowkit.tracing.log_store.MAX_LOGS", 3)

    await browser.dev.traces.take_logs([row(str(n), n) for n in range(5)])

    assert [log["body"] for log in (await browser.get("/api/logs"))["logs"]] == ["4", "3", "2"]
