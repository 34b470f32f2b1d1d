"""An app whose spans are kept in memory, and a global tracer provider that lasts for one test."""

import logging
from collections.abc import Callable, Iterator

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler
from opentelemetry.util._once import Once

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.core.spans import Tracing
from flowkit.testing.outline import MemorySink

SetProvider = Callable[..., InMemorySpanExporter]


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


@pytest.fixture
def ai(sink: MemorySink) -> Flowkit:
    app = Flowkit(settings=Settings())
    app.runtime.tracing = Tracing(sink)
    return app


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenTelemetry lets a process set its provider once; here once per test."""
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(otel, "_TRACER_PROVIDER_SET_ONCE", Once())


@pytest.fixture
def set_provider() -> SetProvider:
    """Sets an SDK provider, as a user would; returns what it exports."""

    def set_it(sampler: Sampler = ALWAYS_ON) -> InMemorySpanExporter:
        exporter = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        otel.set_tracer_provider(provider)
        return exporter

    return set_it


@pytest.fixture(autouse=True)
def no_error_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that is tested here may log an error: asyncio and OpenTelemetry do when contexts are mixed up."""
    yield
    errors = [r for when in ("setup", "call") for r in caplog.get_records(when) if r.levelno >= logging.ERROR]
    assert [record.getMessage() for record in errors] == []
