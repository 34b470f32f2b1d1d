"""What the telemetry API costs beside raw ASGI on SQLite and Genkit's own server, and how long lists and searches take.

    python -m tests.benchmarks.traces                  # 10,000 traces of two spans, then 10,000 of twenty
    python -m tests.benchmarks.traces --traces 2000    # a quick look

The servers are processes of their own and are asked in turn, a block each, so that a slow moment of the machine hits
all. Cost is the server's CPU time, with everything written. Ratios are medians of the ratios of blocks. Without npm
it goes on with two of them.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore
from tests.benchmarks._traces_processes import Server, servers

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
PEER_BARS = {"post": 2.5, "realtime": 2.7, "list 10": 20, "list 100": 13, "list 1000": 5}
"""How many times as much Genkit's server takes, at least."""


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


def posts(count: int, asked: dict[str, Server]) -> int:
    """Ingest: traces of two spans in one POST each. Returns the bytes that were sent."""
    costs: dict[str, list[float]] = {kind: [] for kind in asked}
    sent = 0
    for first in range(1, count + 1, BLOCK):
        bodies = [body(n, span(n, 0), span(n, 1)) for n in range(first, min(first + BLOCK, count + 1))]
        sent += sum(map(len, bodies))
        for kind, server in asked.items():
            before = server.cpu()
            for each in bodies:
                server.ask("POST", "/api/traces", each)
            costs[kind].append((server.cpu() - before) / len(bodies) * 1e6)
    show("post", costs, "µs of CPU per POST of a trace of two spans")
    return sent


def realtime(first: int, count: int, asked: dict[str, Server]) -> None:
    """Each span at its start and at its end: four POSTs for a trace."""
    costs: dict[str, list[float]] = {kind: [] for kind in asked}
    for block in range(4):
        numbers = range(first + block * count // 4, first + (block + 1) * count // 4)
        bodies = [
            body(n, span(n, part, running=running)) for n in numbers for running in (True, False) for part in (0, 1)
        ]
        for kind, server in asked.items():
            before = server.cpu()
            for each in bodies:
                server.ask("POST", "/api/traces", each)
            costs[kind].append((server.cpu() - before) / len(numbers) * 1e6)
    show("realtime", costs, "µs of CPU per trace that comes in four POSTs")


def lists(newest: int, asked: dict[str, Server]) -> None:
    for limit in (10, 100, 1000):
        times: dict[str, list[float]] = {kind: [] for kind in asked}
        for _ in range(60 if limit < 1000 else 20):
            for kind, server in asked.items():
                times[kind].append(timed(lambda: server.ask("GET", f"/api/traces?limit={limit}")))  # noqa: B023
        show(f"list {limit}", times, "ms")
    times = {kind: [] for kind in asked}
    for n in range(newest - 100, newest):
        for kind, server in asked.items():
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
    ours = found["flowkit"]
    told = "".join(f" {statistics.median(values):8.2f} {kind}" for kind, values in found.items())
    ratio = statistics.median(a / b for a, b in zip(ours, found["limit"], strict=True))
    print(f"{name:10}{told}  ratio {ratio:.2f}{verdict(ratio, most=BARS.get(name))}  {unit}", flush=True)
    if "genkit" in found:
        ratio = statistics.median(b / a for a, b in zip(ours, found["genkit"], strict=True))
        bar = verdict(ratio, least=PEER_BARS.get(name))
        print(f"{'':10} genkit's server takes {ratio:.1f} times as much{bar}", flush=True)


def verdict(ratio: float, *, most: float | None = None, least: float | None = None) -> str:
    if most is not None:
        return f" (bar {most:g}) {'ok' if ratio <= most else 'ABOVE'}"
    if least is not None:
        return f" (bar {least:g}) {'ok' if ratio >= least else 'BELOW'}"
    return ""


def check(name: str, value: float, meaning: str) -> None:
    bar = BARS[name]
    print(f"{name:10} {value:8.2f}{verdict(value, most=bar)}  {meaning}", flush=True)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with servers(folder) as asked:
            sent = posts(count, asked)
            realtime(count + 1, max(4, count // 20), asked)
            lists(count, asked)
        footprint(folder, sent)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "flowkit").mkdir()
        searches(Path(scratch), count)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--traces", type=int, default=10_000)
    main(arguments.parse_args().traces)
