"""An app, and the spans of its runs in the order in which they ended."""

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.core.spans import SpanRecord

__all__ = ["Spans", "ai", "spans"]


class Spans(list[SpanRecord]):
    """A sink that is a list."""

    def started(self, record: SpanRecord) -> None:
        """Only ended spans are looked at."""

    def ended(self, record: SpanRecord) -> None:
        self.append(record)

    def named(self, name: str) -> SpanRecord:
        """The one span of that name."""
        (found,) = [span for span in self if span.name == name]
        return found

    def states(self) -> dict[str, str | None]:
        return {span.name: span.state for span in self}


@pytest.fixture
def ai() -> Flowkit:
    return Flowkit(settings=Settings())


@pytest.fixture
def spans(ai: Flowkit) -> Spans:
    sink = Spans()
    ai.runtime.tracing.sink = sink
    return sink
