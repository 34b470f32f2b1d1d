"""What embedding cannot do without: one ONNX session, a tokenizer, and batches. And how peers batch, for comparison.

limit = Bare(threads=1); limit.sorted(texts)         # length-sorted, batches of at most 8 × 128 padded tokens
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

MOST_TOKENS = 256
BUDGET_TOKENS = 8 * 128
BATCH = 32


def session(model: Path) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


class Bare:
    """One-thread sessions, each on a thread of its own; texts over the limit are cut."""

    def __init__(self, model: Path, tokenizer: Path, *, threads: int) -> None:
        self.sessions = [session(model) for _ in range(threads)]
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MOST_TOKENS)

    def sorted(self, texts: list[str]) -> np.ndarray:
        """By length, longest first, in batches of a token budget."""
        return self._run(texts, by_length)

    def in_order(self, texts: list[str]) -> np.ndarray:
        """As embedding libraries do by default: 32 at a time, in the order given, padded to the longest."""
        return self._run(
            texts, lambda rows: [list(range(at, min(at + BATCH, len(rows)))) for at in range(0, len(rows), BATCH)]
        )

    def _run(self, texts: list[str], plan: Callable[[list[list[int]]], list[list[int]]]) -> np.ndarray:
        rows = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = np.empty((len(rows), 384), dtype=np.float32)
        batches = iter(plan(rows))
        lock = threading.Lock()

        def work(one: Any) -> None:
            while True:
                with lock:
                    batch = next(batches, None)
                if batch is None:
                    return
                vectors[batch] = pooled(one, [rows[at] for at in batch])

        threads = [threading.Thread(target=work, args=(one,)) for one in self.sessions[1:]]
        for thread in threads:
            thread.start()
        work(self.sessions[0])
        for thread in threads:
            thread.join()
        return vectors


def by_length(rows: list[list[int]]) -> list[list[int]]:
    batches: list[list[int]] = []
    widest = 0
    for at in sorted(range(len(rows)), key=lambda at: -len(rows[at])):
        if batches and (len(batches[-1]) + 1) * widest <= BUDGET_TOKENS:
            batches[-1].append(at)
        else:
            batches.append([at])
            widest = len(rows[at])
    return batches


def pooled(one: Any, rows: list[list[int]]) -> np.ndarray:
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (hidden,) = one.run(["last_hidden_state"], feed)
    summed = (hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)
    means = summed / mask.sum(axis=1, keepdims=True)
    return means / np.linalg.norm(means, axis=1, keepdims=True)
