"""What local embedding costs, against a bare ONNX session with the best batching (`_embedding_limit.py`).

    python -m tests.benchmarks.embedding                 # 192 texts of 20 to 254 tokens, 5 rounds
    python -m tests.benchmarks.embedding 256 --rounds 7

All take turns in one process, so that a slow moment of the machine hits each; a ratio is the median of the ratios of
one round. One thread is measured in processor time, two in time on the clock: the last bar needs a quiet machine.
"""

import argparse
import asyncio
import os
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import distributions

import numpy as np

from flowkit import Flowkit
from flowkit_local import Local, Tokenizer
from flowkit_local.weights import minilm_files
from tests.benchmarks._embedding_limit import Bare

NAME = "local/all-minilm-l6-v2"
LIMIT_TOKENS = 254
BARS = {
    "limit, 1 thread": 0.95,
    "batches of 32 in order, 1 thread": 2.0,
    "limit, 2 sessions, by the clock": 0.95,
    "1 thread, by the clock": 1.8,
}

Cost = tuple[float, float]
PROCESSOR, CLOCK = 0, 1


def sample(count: int, tokenizer: Tokenizer) -> list[str]:
    """Pieces of the descriptions of installed packages, of mixed lengths, the same every time."""
    shuffled = random.Random(5)
    pieces: list[str] = []
    for found in sorted(distributions(), key=lambda each: each.metadata["Name"] or ""):
        text = (found.metadata.get_payload() or found.metadata.get("Description") or "").strip()
        offsets = tokenizer.offsets(text)[:20_000]
        at = 0
        while len(offsets) - at >= 20:
            size = shuffled.randint(20, LIMIT_TOKENS)
            piece = offsets[at : at + size]
            pieces.append(text[piece[0][0] : piece[-1][1]])
            at += size
    shuffled.shuffle(pieces)
    return pieces[:count]


async def cost(work: Callable[[], Awaitable[object] | object]) -> Cost:
    """Seconds of processor time, and by the clock."""
    busy, begun = time.process_time(), time.perf_counter()
    result = work()
    if isinstance(result, Awaitable):
        await result
    return time.process_time() - busy, time.perf_counter() - begun


async def run(count: int, rounds: int) -> None:
    model, tokenizer = minilm_files()
    texts = sample(count, Tokenizer(tokenizer))
    bare, bare_two = (Bare(model, tokenizer, threads=threads) for threads in (1, 2))
    async with Flowkit(plugins=[Local(threads=1)]) as one, Flowkit(plugins=[Local(threads=2)]) as two:

        async def with_one() -> None:
            await one.embed_many(NAME, texts)

        async def with_two() -> None:
            await two.embed_many(NAME, texts)

        print(f"{len(texts)} texts, {rounds} rounds, load {os.getloadavg()[0]:.1f}")
        fidelity(bare, [list(e.vector) for e in (await one.embed_many(NAME, texts)).embeddings], texts)
        await two.embed_many(NAME, texts[:8])
        ways: dict[str, Callable[[], Awaitable[object] | object]] = {
            "ours": with_one,
            "sorted": lambda: bare.sorted(texts),
            "two": with_two,
            "sorted, 2": lambda: bare_two.sorted(texts),
            "in order": lambda: bare.in_order(texts),
        }
        taken: dict[str, list[Cost]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, work in ways.items():
                taken[name].append(await cost(work))
    for name, costs in taken.items():
        busy, clock = (statistics.median(column) for column in zip(*costs, strict=True))
        print(f"  {name:10} {len(texts) / busy:7.1f} texts per processor second {len(texts) / clock:7.1f} by the clock")
    show("limit, 1 thread", taken["ours"], taken["sorted"], PROCESSOR)
    show("batches of 32 in order, 1 thread", taken["ours"], taken["in order"], PROCESSOR)
    show("limit, 2 sessions, by the clock", taken["two"], taken["sorted, 2"], CLOCK)
    show("1 thread, by the clock", taken["two"], taken["ours"], CLOCK)
    extra = statistics.median(b[0] / a[0] for a, b in zip(taken["ours"], taken["two"], strict=True))
    print(f"  two threads take {extra:.2f} × the processor time of one")


def show(name: str, ours: list[Cost], theirs: list[Cost], which: int) -> None:
    ratio = statistics.median(their[which] / our[which] for our, their in zip(ours, theirs, strict=True))
    verdict = "ok" if ratio >= BARS[name] else "BELOW"
    print(f"  {ratio:5.2f} × the speed of: {name:36} (bar {BARS[name]:.2f}) {verdict}")


def fidelity(bare: Bare, vectors: list[list[float]], texts: list[str]) -> None:
    """Against each text alone in a bare session: the batch must not matter, and nothing may be lost."""
    ours = np.asarray(vectors, dtype=np.float32)
    alone = np.concatenate([bare.sorted([text]) for text in texts])
    cosines = (ours * alone).sum(axis=1)
    print(f"  cosine to the bare model, one text at a time: lowest {cosines.min():.7f}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("texts", nargs="?", type=int, default=192)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    asyncio.run(run(given.texts, given.rounds))
