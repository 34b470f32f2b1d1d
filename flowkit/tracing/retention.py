"""How much is kept of traces, and when it is time to look whether the oldest have to go.

retention = Retention(Kept(max_traces=100))
retention.came(traces=3, size_bytes=12_000)
if retention.due:
    retention.hold(store)
"""

from dataclasses import dataclass

from flowkit.config import MAX_TRACES, MAX_TRACES_BYTES, Settings
from flowkit.tracing.store import TraceStore

__all__ = ["Kept", "Retention"]

_SHARE = 0.05
"""Of what may be kept: when so much is new, it is time."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store may hold before its oldest traces go."""

    max_traces: int = MAX_TRACES
    max_bytes: int = MAX_TRACES_BYTES

    @classmethod
    def by(cls, settings: Settings) -> "Kept":
        return cls(settings.max_traces, settings.max_traces_bytes)


class Retention:
    """Counts what comes to one store. Looking costs more than counting, so that is done once in a while."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept
        self._traces = self._bytes = 0

    def came(self, *, traces: int = 0, size_bytes: int = 0) -> None:
        """So much was written."""
        self._traces -= traces
        self._bytes -= size_bytes

    @property
    def due(self) -> bool:
        """True the first time, and whenever a twentieth of what may be kept is new."""
        return self._traces <= 0 or self._bytes <= 0

    def hold(self, store: TraceStore) -> None:
        """Delete the oldest traces until no more than may be kept is there.

        Raises:
            StoreError: the file cannot be written, or is damaged.
        """
        self._traces, self._bytes = int(self.kept.max_traces * _SHARE), int(self.kept.max_bytes * _SHARE)
        store.prune(max_traces=self.kept.max_traces, max_bytes=self.kept.max_bytes)
