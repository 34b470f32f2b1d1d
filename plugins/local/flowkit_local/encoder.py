"""Texts → vectors on this machine's processors, in any process, on any event loop.

encoder = Encoder(minilm_files, pooling="mean", max_tokens=256)
encoded = await encoder.encode(["vegan soup", "tomato salad"])
encoded.vectors.shape                        # (2, 384)
"""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flowkit.errors import ConfigError, InvalidInputError
from flowkit.plugin import EmbedTask, is_blank
from flowkit_local.batches import batches, windows
from flowkit_local.cpus import available_cpus
from flowkit_local.session import OnnxSession, Pooling
from flowkit_local.tokenizer import Tokenizer
from flowkit_local.weights import check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoded", "Encoder"]

T = TypeVar("T")
Row = list[int]

# Padded tokens in one run. Larger runs are not faster on a processor, only later to answer.
_BUDGET_TOKENS = 512
_MOST_THREADS = 2


@dataclass(frozen=True, slots=True)
class Encoded:
    """What `Encoder.encode` gives."""

    vectors: "NDArray[np.float32]"
    """One row per text, in order."""
    tokens: int
    """Tokens of all texts, without the marks around them."""
    windowed: int
    """How many texts were over the limit and are the mean of several windows."""


@dataclass(slots=True)
class _Plan:
    """Rows of token ids with marks, and to which text each belongs with what weight."""

    rows: list[Row] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    tokens: int = 0
    windowed: int = 0


class _Process:
    """What one process has loaded. A forked child gets its own: neither threads nor sessions survive a fork."""

    def __init__(self, threads: int) -> None:
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="flowkit-local")
        self.threads = threads
        self.lock = threading.Lock()
        self.session: OnnxSession | None = None


class Encoder:
    """A tokenizer and a model; nothing is read before the first text.

    Args:
        locate: gives the files of model and tokenizer; called when they are first needed.
        max_tokens: what the model takes at once, marks included. Longer texts are embedded by windows.
        normalize: give vectors of length 1.
        hashes: SHA-256 of the two files, checked while the model loads.
        threads: runs at a time; default: one per available processor, at most 2.
    """

    def __init__(
        self,
        locate: Callable[[], tuple[Path, Path]],
        *,
        pooling: Pooling = "mean",
        max_tokens: int = 512,
        query_prefix: str = "",
        document_prefix: str = "",
        normalize: bool = True,
        hashes: tuple[str, str] | None = None,
        threads: int | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise InvalidInputError(f"threads is {threads}", hint="give 1 or more, or leave it out")
        self.locate = locate
        self.pooling: Pooling = pooling
        self.max_tokens = max_tokens
        self.prefixes = {"query": query_prefix, "document": document_prefix}
        self.normalize = normalize
        self.hashes = hashes
        self._threads = threads
        self._processes: dict[int, _Process] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._tokenizer: Tokenizer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_processes": {}, "_locks": {}}

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer.

        Raises:
            ConfigError: the model is not installed.
        """
        if self._tokenizer is None:
            self._tokenizer = Tokenizer(self.locate()[1])
        return self._tokenizer

    @property
    def max_text_tokens(self) -> int:
        """How many tokens of text fit at once: `max_tokens` less the marks."""
        before, after = self.marks
        return self.max_tokens - len(before) - len(after)

    async def encode(self, texts: Sequence[str], *, task: EmbedTask = "document") -> Encoded:
        """One vector per text, in order, the same whatever the other texts are.

        Stops between runs when cancelled.

        Raises:
            InvalidInputError: a text is blank.
            ConfigError: the model is missing or cannot be loaded.
            StoreError: a model file is damaged.
        """
        import numpy as np

        if isinstance(texts, str):
            raise InvalidInputError("encode takes a list of texts", hint="encode([text])")
        for at, text in enumerate(texts):
            if is_blank(text):
                raise InvalidInputError(f"text {at} is blank: {text!r}", hint="skip empty texts before embedding")
        if not texts:
            return Encoded(np.zeros((0, 0), dtype=np.float32), 0, 0)
        process = self._process()
        loop = asyncio.get_running_loop()

        def run(plan: _Plan, group: list[int]) -> "NDArray[np.float32]":
            return self._session(process).vectors([plan.rows[at] for at in group])

        def begin() -> "tuple[_Plan, list[list[int]], list[NDArray[np.float32]]]":
            plan = self._plan(texts, self.prefixes[task])
            groups = batches([len(row) for row in plan.rows], budget=_BUDGET_TOKENS)
            # A query is one run, and should not change threads twice.
            return plan, groups, [run(plan, groups[0])] if len(groups) == 1 else []

        plan, groups, done = await loop.run_in_executor(process.executor, begin)
        done = done or await _spread(process, groups, partial(run, plan))
        vectors = np.empty((len(plan.rows), done[0].shape[1]), dtype=np.float32)
        for group, part in zip(groups, done, strict=True):
            vectors[group] = part
        return Encoded(self._join(plan, vectors, len(texts)), plan.tokens, plan.windowed)

    async def states(self, rows: Sequence[Row]) -> "list[NDArray[np.float32]]":
        """The token states of texts that are token ids already, marks included, each within `max_tokens`."""
        process = self._process()
        groups = batches([len(row) for row in rows], budget=_BUDGET_TOKENS)
        done = await _spread(process, groups, lambda group: self._session(process).states([rows[at] for at in group]))
        placed = {
            at: states for group, part in zip(groups, done, strict=True) for at, states in zip(group, part, strict=True)
        }
        return [placed[at] for at in range(len(rows))]

    async def dimension(self) -> int:
        """The length of a vector; loads the model."""
        process = self._process()
        session = await asyncio.get_running_loop().run_in_executor(process.executor, self._session, process)
        return session.dimension

    async def aclose(self) -> None:
        """End the threads and let the model go; a later call starts anew."""
        process = self._processes.pop(os.getpid(), None)
        if process is not None:
            process.executor.shutdown(wait=False, cancel_futures=True)

    @property
    def marks(self) -> tuple[Row, Row]:
        """The ids that the model expects before and after a text."""
        raw = self.tokenizer.raw
        marked, bare = raw.encode("a").ids, raw.encode("a", add_special_tokens=False).ids
        at = next((i for i in range(len(marked)) if marked[i : i + len(bare)] == bare), 0)
        return marked[:at], marked[at + len(bare) :]

    def _plan(self, texts: Sequence[str], prefix: str) -> _Plan:
        plan = _Plan()
        before, after = self.marks
        prefix_ids = self.tokenizer.encode(prefix).ids if prefix else []
        limit = self.max_tokens - len(before) - len(after)
        if limit <= len(prefix_ids):
            raise ConfigError(
                f"max_tokens is {self.max_tokens}: no room for text beside the marks and the prefix {prefix!r}",
                hint="raise max_tokens",
            )
        for owner, text in enumerate(texts):
            encoding = self.tokenizer.encode(prefix + text)
            ids = encoding.ids
            plan.tokens += len(ids)
            spans = [(0, len(ids))]
            if len(ids) > limit:
                spans = windows(encoding.word_ids, limit, limit - len(prefix_ids))
                plan.windowed += 1
            for start, end in spans:
                lead = prefix_ids if start else []
                plan.rows.append([*before, *lead, *ids[start:end], *after])
                plan.owners.append(owner)
                plan.weights.append(max(1, end - start))
        return plan

    def _join(self, plan: _Plan, rows: "NDArray[np.float32]", texts: int) -> "NDArray[np.float32]":
        import numpy as np

        if len(plan.rows) == texts:
            vectors = rows
        else:
            weights = np.asarray(plan.weights, dtype=np.float32)[:, None]
            owners = np.asarray(plan.owners)
            vectors = np.zeros((texts, rows.shape[1]), dtype=np.float32)
            np.add.at(vectors, owners, rows * weights)
            vectors /= np.bincount(owners, weights=plan.weights).astype(np.float32)[:, None]
        if self.normalize:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    def _process(self) -> _Process:
        pid = os.getpid()
        process = self._processes.get(pid)
        if process is None:
            # One lock per process: a lock that another thread holds during a fork stays locked in the child.
            with self._locks.setdefault(pid, threading.Lock()):
                process = self._processes.get(pid)
                if process is None:
                    process = _Process(self._threads or min(_MOST_THREADS, available_cpus()))
                    self._processes[pid] = process
        return process

    def _session(self, process: _Process) -> OnnxSession:
        with process.lock:
            if process.session is None:
                process.session = self._load()
            return process.session

    def _load(self) -> OnnxSession:
        model, tokenizer = self.locate()
        # Hashing and loading overlap, so that the check costs no time where there is a second processor.
        with ThreadPoolExecutor(1) as checker:
            pairs = zip((model, tokenizer), self.hashes or (), strict=False)
            checks = [checker.submit(check, file, known) for file, known in pairs]
            try:
                return OnnxSession(model, pooling=self.pooling)
            finally:
                for checked in checks:
                    checked.result()


async def _spread(process: _Process, groups: Sequence[list[int]], run: Callable[[list[int]], T]) -> list[T]:
    """Run each group, no more at a time than there are threads, so that other callers' texts get their turn."""
    loop = asyncio.get_running_loop()
    done: dict[int, T] = {}
    waiting = iter(enumerate(groups))

    async def worker() -> None:
        for at, group in waiting:
            done[at] = await loop.run_in_executor(process.executor, run, group)

    workers = min(process.threads, len(groups))
    if workers <= 1:
        await worker()
    else:
        tasks = [asyncio.ensure_future(worker()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
    return [done[at] for at in range(len(groups))]
