"""What a flow call costs: a flow with one step, against bare coroutines and OpenTelemetry's own spans.

    python -m tests.benchmarks.flow_call                 # all tables
    python -m tests.benchmarks.flow_call --work text     # one workload: text, models, large

Each variant lives in a process of its own (a global provider can be set once only). The parent asks them in turn for a
block of calls, so that a slow moment of the machine hits all alike; a block's cost is process CPU time, which includes
flowkit's writer thread. Ratios are medians of the ratios within a round.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

Call = Callable[[Any], Awaitable[Any]]

ROUNDS = 15
BLOCK_SECONDS = 0.12

# (what, against what, at most): the bars. Paired ratios of CPU time per call.
BARS = {
    "text": [
        ("flowkit, untraced", "2 no-op API spans", 0.6),
        ("flowkit, memory sink", "2 SDK spans", 0.35),
        ("flowkit, user's SDK provider", "2 SDK spans", 1.25),
        ("flowkit, recorder", "2 SDK spans", 1.4),
    ],
}


class Address(BaseModel):
    street: str
    city: str
    zip: str | None = None


class Line(BaseModel):
    name: str
    count: int = 1
    price: float


class Order(BaseModel):
    id: int
    customer: str
    address: Address
    lines: list[Line]
    tags: dict[str, str] = {}


ORDER = Order(
    id=7,
    customer="Ada Lovelace",
    address=Address(street="12 St James's Square", city="London"),
    lines=[Line(name=f"dish {n}", count=n, price=n * 1.5) for n in range(1, 6)],
    tags={"table": "4", "waiter": "Charles"},
)

INPUTS: dict[str, Any] = {"text": "world", "models": ORDER, "large": "All work and no play. " * 4700}


# --- the variants: each makes a coroutine function that takes the workload's value ---------------------------------


def _types(work: str) -> Any:
    return Order if work == "models" else str


def _inner(work: str) -> Call:
    async def greet(name: Any) -> Any:
        return f"Hello, {name}!" if work == "text" else name

    return greet


def bare(work: str) -> Call:
    """Coroutines, input and output of the flow validated."""
    validate = TypeAdapter(_types(work)).validate_python
    greet = _inner(work)

    async def flow(name: Any) -> Any:
        return await greet(name)

    async def call(name: Any) -> Any:
        return validate(await flow(validate(name)))

    return call


def api_spans(work: str) -> Call:
    """The same under two spans of OpenTelemetry's API, without a provider."""
    from opentelemetry import trace

    tracer = trace.get_tracer("limit")
    validate = TypeAdapter(_types(work)).validate_python
    greet = _inner(work)

    async def flow(name: Any) -> Any:
        with tracer.start_as_current_span("greet"):
            return await greet(name)

    async def call(name: Any) -> Any:
        with tracer.start_as_current_span("flow"):
            return validate(await flow(validate(name)))

    return call


def sdk_spans(work: str) -> Call:
    """The same under two spans of OpenTelemetry's SDK, with input and output as JSON attributes, kept in memory."""
    _set_sdk_provider()
    from opentelemetry import trace

    tracer = trace.get_tracer("limit")
    validate = TypeAdapter(_types(work)).validate_python
    greet = _inner(work)

    async def flow(name: Any) -> Any:
        with tracer.start_as_current_span("greet") as span:
            span.set_attribute("input", to_json(name).decode())
            result = await greet(name)
            span.set_attribute("output", to_json(result).decode())
            return result

    async def call(name: Any) -> Any:
        with tracer.start_as_current_span("flow") as span:
            span.set_attribute("input", to_json(name).decode())
            result = validate(await flow(validate(name)))
            span.set_attribute("output", to_json(result).decode())
            return result

    return call


def _set_sdk_provider() -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

    kept: deque[Any] = deque(maxlen=1000)

    class Keep(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            kept.extend(spans)
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(Keep()))
    trace.set_tracer_provider(provider)


def _flowkit(work: str, tracing: Any) -> Call:
    from flowkit.ai.step import run_step
    from flowkit.core.action import Action
    from flowkit.core.runtime import Runtime

    runtime = Runtime(tracing)
    greet = _inner(work)

    async def flow(name: Any) -> Any:
        return await run_step(runtime, "greet", greet, (name,), {})

    flow.__annotations__ = {"name": _types(work), "return": _types(work)}
    return Action("flow", "flow", flow, runtime=runtime)


def untraced(work: str) -> Call:
    from flowkit.core.spans import Tracing

    return _flowkit(work, Tracing())


def memory(work: str) -> Call:
    from flowkit.core.spans import Tracing
    from flowkit.testing.outline import MemorySink

    return _flowkit(work, Tracing(MemorySink(limit=1000)))


def user_provider(work: str) -> Call:
    _set_sdk_provider()
    return untraced(work)


def recorder(work: str) -> Call:
    from flowkit.config import Settings
    from flowkit.tracing import start_tracing

    folder = Path(tempfile.mkdtemp(prefix="flow-call-"))
    return _flowkit(work, start_tracing(Settings(dev=True, traces=True, root=folder)))


def genkit(work: str) -> Call:
    from genkit import Genkit  # type: ignore[import-not-found]

    _set_sdk_provider()
    return _genkit(work, Genkit())


def genkit_untraced(work: str) -> Call:
    from genkit import Genkit

    return _genkit(work, Genkit())


def _genkit(work: str, ai: Any) -> Call:
    greet = _inner(work)

    async def flow(name: Any) -> Any:
        async def step() -> Any:
            return await greet(name)

        return await ai.run(name="greet", fn=step)

    flow.__annotations__ = {"name": _types(work), "return": _types(work)}
    made: Call = ai.flow()(flow)
    return made


VARIANTS: dict[str, Callable[[str], Call]] = {
    "bare coroutines": bare,
    "2 no-op API spans": api_spans,
    "2 SDK spans": sdk_spans,
    "flowkit, untraced": untraced,
    "flowkit, memory sink": memory,
    "flowkit, user's SDK provider": user_provider,
    "flowkit, recorder": recorder,
}
if importlib.util.find_spec("genkit"):
    VARIANTS |= {"genkit, no exporter": genkit_untraced, "genkit, SDK provider": genkit}


# --- child: one variant, blocks on request --------------------------------------------------------------------------


def serve(variant: str, work: str) -> None:
    call, value = VARIANTS[variant](work), INPUTS[work]

    async def block(count: int) -> list[float]:
        gc.collect()
        whole, caller = time.process_time_ns(), time.thread_time_ns()
        for _ in range(count):
            await call(value)
        caller = time.thread_time_ns() - caller
        if variant == "flowkit, recorder":
            from flowkit.tracing.recorder import flush_all

            flush_all(30)
        return [(time.process_time_ns() - whole) / count / 1e3, caller / count / 1e3]

    async def answer() -> None:
        for line in sys.stdin:
            print(json.dumps(await block(int(line))), flush=True)

    asyncio.run(answer())


# --- parent -----------------------------------------------------------------------------------------------------------


class Child:
    def __init__(self, variant: str, work: str) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.flow_call", "--serve", variant, "--work", work]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = 200
        self.micros: list[float] = []
        self.caller: list[float] = []

    def block(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{self.count}\n")
        self.process.stdin.flush()
        micros, caller = json.loads(self.process.stdout.readline())
        self.micros.append(micros)
        self.caller.append(caller)

    def warm_up(self) -> None:
        for _ in range(2):
            self.block()
            self.count = max(50, int(BLOCK_SECONDS * 1e6 / self.micros[-1]))
        self.micros.clear()
        self.caller.clear()

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait(30)


def measure(work: str, rounds: int = ROUNDS) -> dict[str, Child]:
    children = {name: Child(name, work) for name in VARIANTS}
    try:
        for child in children.values():
            child.warm_up()
        for _ in range(rounds):
            for child in children.values():
                child.block()
    finally:
        for child in children.values():
            child.stop()
    return children


def ratio(children: dict[str, Child], what: str, against: str) -> float:
    pairs = zip(children[what].micros, children[against].micros, strict=True)
    return statistics.median(mine / theirs for mine, theirs in pairs)


def report(work: str, children: dict[str, Child]) -> bool:
    print(f"\n{work}: CPU µs per call (median of {len(children['2 SDK spans'].micros)} interleaved blocks)")
    print(f"  {'':32}{'process':>9}{'caller':>9}{'x 2 API spans':>15}{'x 2 SDK spans':>15}")
    for name, child in children.items():
        cells = statistics.median(child.micros), statistics.median(child.caller)
        api, sdk = ratio(children, name, "2 no-op API spans"), ratio(children, name, "2 SDK spans")
        print(f"  {name:32}{cells[0]:>9.2f}{cells[1]:>9.2f}{api:>15.2f}{sdk:>15.2f}")
    kept = True
    for what, against, bar in BARS.get(work, []):
        found = ratio(children, what, against)
        kept = kept and found <= bar
        print(f"  {'ok  ' if found <= bar else 'MISS'} {what} ≤ {bar} × {against}: {found:.2f}")
    return kept


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--work", choices=INPUTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(argv)
    if options.serve:
        serve(options.serve, options.work)
        return 0
    works = [options.work] if options.work else list(INPUTS)
    missed = [work for work in works if not report(work, measure(work, options.rounds))]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
