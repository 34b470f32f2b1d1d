"""What is kept of traces: a limit in number and one in bytes, the same for apps and for the dev server."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.errors import InvalidInputError
from flowkit.tracing.store import TraceStore
from tests.server.dev_server import dev_server
from tests.server.telemetry.spans import trace_data


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)


async def test_an_app_keeps_as_many_traces_as_it_is_told(tmp_path: Path):
    settings = Settings.from_env({"FLOWKIT_TRACES": "1", "FLOWKIT_MAX_TRACES": "20", "FLOWKIT_ROOT": str(tmp_path)})
    store = TraceStore(settings.data_folder / "traces.db")
    async with Flowkit(settings=settings) as ai:

        @ai.flow
        async def cook(n: int) -> int:
            return n

        for n in range(200):
            await cook(n)
        await eventually(lambda: [each.input for each in store.list(limit=300).items][:1] == ["199"])
        await eventually(lambda: store.stats().traces <= 21)  # a twentieth more, until it is looked at

    assert [each.input for each in store.list(limit=20).items] == [str(n) for n in range(199, 179, -1)]


async def test_the_dev_server_keeps_as_many_of_those_that_are_posted(tmp_path: Path):
    async with dev_server(tmp_path, Settings(max_traces=20)) as browser:
        for n in range(1, 101):
            await browser.http.post("/api/traces", json=trace_data(f"flow{n}", trace=n, span=n, at=n))

        await eventually(lambda: browser.dev.traces.store.stats().traces <= 21)
        listed = (await browser.get("/api/traces/summaries"))["traces"]
        assert [trace["name"] for trace in listed][:20] == [f"flow{n}" for n in range(100, 80, -1)]
        retention = (await browser.get("/api/settings"))["retention"]
        assert (retention["maxTraces"], retention["maxBytes"]) == (20, 1_000_000_000)


async def test_large_values_go_before_there_are_many_traces(tmp_path: Path):
    async with dev_server(tmp_path, Settings(max_traces_bytes=3_000_000)) as browser:
        for n in range(1, 41):
            body = trace_data(f"flow{n}", trace=n, span=n, at=n, genkit__input=f'"{n}{"x" * 500_000}"')
            await browser.http.post("/api/traces", json=body)

        await eventually(lambda: browser.dev.traces.store.stats().traces <= 8)
        names = [trace["name"] for trace in (await browser.get("/api/traces/summaries"))["traces"]]
        assert names == [f"flow{n}" for n in range(40, 40 - len(names), -1)]
        assert len(names) >= 3
        assert (await browser.get("/api/settings"))["retention"]["maxBytes"] == 3_000_000


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FLOWKIT_MAX_TRACES", "many", "FLOWKIT_MAX_TRACES is 'many'"),
        ("FLOWKIT_MAX_TRACES", "1.5", "FLOWKIT_MAX_TRACES is '1.5'"),
        ("FLOWKIT_MAX_TRACES", "0", "FLOWKIT_MAX_TRACES is 0 (it is at least 1)"),
        ("FLOWKIT_MAX_TRACES_BYTES", "-5", "FLOWKIT_MAX_TRACES_BYTES is -5 (it is at least 1000000)"),
    ],
)
def test_what_is_no_limit_is_refused_by_its_name(name: str, value: str, said: str):
    with pytest.raises(InvalidInputError) as refused:
        Settings.from_env({name: value})

    assert said in str(refused.value)


def test_a_limit_in_code_is_checked_too():
    with pytest.raises(InvalidInputError, match="max_traces is 0"):
        Settings(max_traces=0)


def test_nothing_said_is_the_default():
    assert Settings.from_env({"FLOWKIT_MAX_TRACES": " "}).max_traces == Settings().max_traces == 10_000
