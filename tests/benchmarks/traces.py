"""What the telemetry API costs beside raw ASGI on SQLite, and how long lists and searches take.

    python -m tests.benchmarks.traces                  # 10,000 traces of two spans, then 10,000 of twenty
    python -m tests.benchmarks.traces --traces 2000    # a quick look

Both servers are processes of their own and are asked in turn, a block each, so that a slow moment of the machine hits
both. Cost is the server's CPU time, with everything written. Ratios are medians of the ratios of blocks.
"""

import argparse
import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore

BLOCK = 500
START_MS = 1_796_014_088_705.0
WORDS = [
    "vegan",
    "soup",
    "lasagne",
    "tart",
    "menu",
    "price",
    "table",
    "oven",
    "waiter",
    "guest",
    "Käse",
    "寿司",
    "wine",
]
BARS = {
    "post": 1.3,
    "list 10": 2.0,
    "list 100": 2.0,
    "list 1000": 2.0,
    "files": 5,
    "size": 2.0,
    "first list": 10.0,
    "p95": 50.0,
}


class Server:
    """A server's process, and one kept connection to it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        command = [sys.executable, "-m", "tests.benchmarks._traces_server", kind, str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.connection = http.client.HTTPConnection("127.0.0.1", int(self.process.stdout.readline()), timeout=60)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for too long
            self.connection.close()
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        return answer

    def cpu(self) -> float:
        return float(self.ask("GET", "/__cpu"))

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait()


@contextmanager
def servers(folder: Path) -> Iterator[dict[str, Server]]:
    """Both, as long as it is open."""
    found = {kind: Server(kind, folder / kind) for kind in ("flowkit", "limit")}
    try:
        yield found
    finally:
        for server in found.values():
            server.stop()


def span(trace: int, number: int, *, running: bool = False) -> dict[str, Any]:
    trace_id, span_id = f"{trace:032x}", f"{trace:08x}{number:08x}"
    text = " ".join(random.choices(WORDS, k=60))
    data: dict[str, Any] = {
        "spanId": span_id,
        "traceId": trace_id,
        "startTime": START_MS + trace * 10 + number,
        "endTime": 0 if running else START_MS + trace * 10 + 9,
        "attributes": {
            "genkit:type": "action",
            "genkit:metadata:subtype": "flow" if number == 0 else "model",
            "genkit:key": "/flow/menuQA" if number == 0 else "/model/echo",
            "genkit:name": "menuQA" if number == 0 else "echo",
            "genkit:path": "/{menuQA,t:flow}",
            "genkit:input": json.dumps(text),
            "genkit:state": "success",
        },
        "displayName": "menuQA" if number == 0 else "echo",
        "links": [],
        "spanKind": "INTERNAL",
        "sameProcessAsParentSpan": {"value": True},
        "status": {"code": 0},
        "timeEvents": {"timeEvent": []},
        "instrumentationLibrary": {"name": "genkit-tracer", "version": "v1"},
    }
    if number:
        data["parentSpanId"] = f"{trace:08x}{0:08x}"
    return data


def body(trace: int, *spans: dict[str, Any]) -> bytes:
    found = {"traceId": f"{trace:032x}", "spans": {each["spanId"]: each for each in spans}}
    return json.dumps({**found, "displayName": "menuQA", "startTime": spans[0]["startTime"]}).encode()


def posts(count: int, both: dict[str, Server]) -> int:
    """Ingest: traces of two spans in one POST each. Returns the bytes that were sent."""
    costs: dict[str, list[float]] = {kind: [] for kind in both}
    sent = 0
    for first in range(1, count + 1, BLOCK):
        bodies = [body(n, span(n, 0), span(n, 1)) for n in range(first, min(first + BLOCK, count + 1))]
        sent += sum(map(len, bodies))
        for kind, server in both.items():
            before = server.cpu()
            for each in bodies:
                server.ask("POST", "/api/traces", each)
            costs[kind].append((server.cpu() - before) / len(bodies) * 1e6)
    show("post", costs, "µs of CPU per POST of a trace of two spans")
    return sent


def realtime(first: int, count: int, both: dict[str, Server]) -> None:
    """Each span at its start and at its end: four POSTs for a trace."""
    costs: dict[str, list[float]] = {kind: [] for kind in both}
    for block in range(4):
        numbers = range(first + block * count // 4, first + (block + 1) * count // 4)
        bodies = [
            body(n, span(n, part, running=running)) for n in numbers for running in (True, False) for part in (0, 1)
        ]
        for kind, server in both.items():
            before = server.cpu()
            for each in bodies:
                server.ask("POST", "/api/traces", each)
            costs[kind].append((server.cpu() - before) / len(numbers) * 1e6)
    show("realtime", costs, "µs of CPU per trace that comes in four POSTs")


def lists(newest: int, both: dict[str, Server]) -> None:
    for limit in (10, 100, 1000):
        times: dict[str, list[float]] = {kind: [] for kind in both}
        for _ in range(60 if limit < 1000 else 20):
            for kind, server in both.items():
                times[kind].append(timed(lambda: server.ask("GET", f"/api/traces?limit={limit}")))  # noqa: B023
        show(f"list {limit}", times, "ms")
    times = {kind: [] for kind in both}
    for n in range(newest - 100, newest):
        for kind, server in both.items():
            times[kind].append(timed(lambda: server.ask("GET", f"/api/traces/{n:032x}")))  # noqa: B023
    show("get", times, "ms for a trace of two spans")


def footprint(folder: Path, sent: int) -> None:
    files = [file for file in (folder / "flowkit").rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    check("files", len(files), "files on disk")
    check("size", size / sent, f"times the JSON that was sent ({sent / 1e6:.1f} MB)")
    server = Server("flowkit", folder / "flowkit")
    server.cpu()  # until it answers
    check(
        "first list", timed(lambda: server.ask("GET", "/api/traces?limit=10")), "ms for the first list after a restart"
    )
    server.stop()


def searches(folder: Path, count: int) -> None:
    """Lists and searches of our own over traces of twenty spans."""
    store = TraceStore(folder / "flowkit" / ".flowkit" / "traces.db")
    rows: list[SpanRow] = []
    began = time.perf_counter()
    for trace in range(count):
        for number in range(20):
            start = int((START_MS + trace * 10) * 1e6) + number
            row = SpanRow(f"{trace:032x}", f"{trace:08x}{number:08x}", "menuQA" if number == 0 else "echo", start)
            row.end_ns = start + random.randrange(1_000_000, 3_000_000_000)
            row.parent_id = f"{trace:08x}{0:08x}" if number else None
            row.type, row.kind = "action", "flow" if number == 0 else "model"
            row.key = f"/{row.kind}/{row.name}"
            row.state = "error" if trace % 20 == 0 and number == 0 else "success"
            row.input = json.dumps(" ".join(random.choices(WORDS, k=12)), ensure_ascii=False).encode()
            rows.append(row)
        if len(rows) >= 2000:
            store.write(rows)
            rows = []
    store.write(rows)
    print(f"\n{count} traces of 20 spans, written in {time.perf_counter() - began:.0f} s", flush=True)
    began = time.perf_counter()
    store.index_words()
    store.close()
    print(f"their words indexed in {time.perf_counter() - began:.0f} s")
    server = Server("flowkit", folder / "flowkit")
    for name, query in {
        "newest 50": "",
        "status": "status=error",
        "kind and action": "kind=flow&action=menuQA",
        "slower than 2 s": "minMs=2000",
        "since": f"since={(START_MS + count * 5) / 1000}",
        "one word": "q=lasagne",
        "two words": "q=vegan+lasagne",
        "Japanese": "q=%E5%AF%BF%E5%8F%B8",
        "a word that is nowhere": "q=zebra",
        "all of it": "q=wine&status=error&minMs=100",
    }.items():
        cpu = server.cpu()
        times = [timed(lambda: server.ask("GET", f"/api/traces/summaries?limit=50&{query}")) for _ in range(40)]  # noqa: B023
        cpu = (server.cpu() - cpu) / len(times) * 1000
        check("p95", sorted(times)[37], f"ms, p95: {name} (median {statistics.median(times):.1f}, CPU {cpu:.1f})")
    server.stop()


def timed(work: Callable[[], object]) -> float:
    """In ms."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def show(name: str, found: dict[str, list[float]], unit: str) -> None:
    ours, limit = found["flowkit"], found["limit"]
    ratio = statistics.median(a / b for a, b in zip(ours, limit, strict=True))
    bar = BARS.get(name)
    verdict = "" if bar is None else f" (bar {bar:g}) {'ok' if ratio <= bar else 'ABOVE'}"
    print(
        f"{name:10} {statistics.median(ours):8.2f} flowkit {statistics.median(limit):8.2f} limit"
        f"  ratio {ratio:.2f}{verdict}  {unit}",
        flush=True,
    )


def check(name: str, value: float, meaning: str) -> None:
    bar = BARS[name]
    print(f"{name:10} {value:8.2f} (bar {bar:g}) {'ok' if value <= bar else 'ABOVE'}  {meaning}", flush=True)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with servers(folder) as both:
            sent = posts(count, both)
            realtime(count + 1, max(4, count // 20), both)
            lists(count, both)
        footprint(folder, sent)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "flowkit").mkdir()
        searches(Path(scratch), count)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--traces", type=int, default=10_000)
    main(arguments.parse_args().traces)
