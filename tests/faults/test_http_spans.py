"""An instrumented HTTP client: its span stands under the step that made the request; the server learns the trace."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu

pytest.importorskip("opentelemetry.instrumentation.httpx", reason="httpx is not instrumented on this machine")
pytestmark = pytest.mark.heavy

APP = """
import asyncio
import os
import httpx
from flowkit import Flowkit
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor

spans = None
if os.environ.get("WITH_PROVIDER"):
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)

HTTPXClientInstrumentor().instrument()
ai = Flowkit()


async def get(url: str, path: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(url + path)).text


def get_sync(url: str, path: str) -> str:
    with httpx.Client(trust_env=False) as client:
        return client.get(url + path).text


@ai.flow
async def fetch(url: str) -> list[dict]:
    await ai.run("first", get, url, "/first")
    await asyncio.gather(ai.run("left", get, url, "/left"), ai.run("right", get_sync, url, "/right"))
    await get(url, "/outside")
    return [span_facts(span) for span in (spans.get_finished_spans() if spans else ())]


def span_facts(span):
    parent = span.parent
    return {
        "name": span.name,
        "id": f"{span.context.span_id:016x}",
        "trace": f"{span.context.trace_id:032x}",
        "parent": f"{parent.span_id:016x}" if parent else None,
        "url": span.attributes.get("http.url") or span.attributes.get("url.full") or "",
    }
"""


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, str]]]:
    """A server, and what `traceparent` it was sent for each path."""
    sent: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent[self.path] = self.headers.get("traceparent", "")
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *arguments: object) -> None:
            return

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_address[1]}", sent
    served.shutdown()
    served.server_close()
    thread.join()


PARENTS = {"/first": "first", "/left": "left", "/right": "right", "/outside": "fetch"}


@pytest.mark.parametrize("provided", [False, True], ids=["our own provider", "a provider of the user's"])
def test_requests_stand_under_the_step_that_made_them(menu: Menu, server, provided: bool):
    url, sent = server
    menu.write("app.py", APP)

    run = menu.process("flow:run", "fetch", json.dumps(url), env={"WITH_PROVIDER": "1"} if provided else {})

    assert run.code == 0, run.err
    (item,) = TraceStore(menu.folder / ".flowkit" / "traces.db").list().items
    local = TraceStore(menu.folder / ".flowkit" / "traces.db").get(item.trace_id).spans
    ours = {span.name: span.span_id for span in local if span.type != "external"}
    assert ours.keys() == {"fetch", "first", "left", "right"}
    if provided:
        exported = {span["url"].removeprefix(url): span for span in json.loads(run.out) if span["url"]}
        clients = {path: (span["id"], span["trace"], span["parent"]) for path, span in exported.items()}
    else:
        clients = {
            _path(span, url): (span.span_id, span.trace_id, span.parent_id) for span in local if span.type == "external"
        }
    assert clients.keys() == PARENTS.keys()
    for path, (span_id, trace_id, parent) in clients.items():
        assert parent == ours[PARENTS[path]], path
        assert trace_id == item.trace_id
        assert sent[path].split("-")[1:3] == [item.trace_id, span_id], "the server is told the same"


def _path(span: SpanRow, url: str) -> str:
    found = span.attributes.get("http.url") or span.attributes.get("url.full")
    assert isinstance(found, str)
    return found.removeprefix(url)
