"""How fast a run is, and how long it will take.

meter = Meter(print, total=120)
meter.advance(documents=3, chunks=40)
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from flowkit.rag.ingest.report import Progress, Stage

__all__ = ["Meter", "OnProgress"]

OnProgress = Callable[[Progress], object]

_SPAN_SECONDS = 30.0
_SLICES = 60  # of the span, at most, that are remembered


class Meter:
    """Tells a callback, if there is one, of every step."""

    def __init__(self, tell: OnProgress | None, *, stage: Stage, total: int | None) -> None:
        self._tell = tell
        self._total = total
        self._done = self._chunks = 0
        self._stage: Stage = stage
        self._unit: Literal["documents", "chunks"] = "documents"
        self._times: deque[tuple[float, int]] = deque()
        self._restart()

    def enter(
        self,
        stage: Stage,
        *,
        unit: Literal["documents", "chunks"],
        total: int | None,
        done: int = 0,
        chunks: int | None = None,
    ) -> None:
        """A new stage."""
        self._stage, self._unit, self._total, self._done = stage, unit, total, done
        self._chunks = self._chunks if chunks is None else chunks
        self._restart()
        self.say()

    def advance(self, *, documents: int = 0, chunks: int = 0) -> None:
        """So many more are done."""
        self._done += documents if self._unit == "documents" else chunks
        if self._stage != "deleting":
            self._chunks += chunks
        now = time.monotonic()
        if now - self._times[-1][0] >= _SPAN_SECONDS / _SLICES:
            self._times.append((now, self._done))
            while now - self._times[0][0] > _SPAN_SECONDS and len(self._times) > 1:
                self._times.popleft()
        self.say()

    def say(self) -> None:
        """Tell where we are."""
        if self._tell is None:
            return
        rate = self._rate()
        eta = None
        if self._total is not None and (rate or self._done >= self._total):
            eta = max(0, self._total - self._done) / rate if rate else 0.0
        self._tell(
            Progress(
                stage=self._stage,
                done=self._done,
                total=self._total,
                unit=self._unit,
                chunks=self._chunks,
                rate_per_second=round(rate, 3),
                eta_seconds=None if eta is None else round(eta, 1),
            )
        )

    def _rate(self) -> float:
        then, done = self._times[0]
        passed = time.monotonic() - then
        return (self._done - done) / passed if passed > 0 else 0.0

    def _restart(self) -> None:
        self._times.clear()
        self._times.append((time.monotonic(), self._done))
