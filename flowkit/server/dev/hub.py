"""The hub: what has happened, to everybody who looks.

with hub.follow({"runs", "app"}) as events: event = await events.get()
hub.publish("runs", {"type": "run", "run": info})
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from flowkit.schema.wire import Wire

__all__ = ["TOPICS", "Follower", "Hub", "Topic"]

Topic = Literal["app", "actions", "runs", "traces", "logs"]
TOPICS: tuple[Topic, ...] = ("app", "actions", "runs", "traces", "logs")
_QUEUE = 2_000


class Follower:
    """One reader's events. When it does not keep up, events are left out, and it is told how many."""

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = topics
        self._queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_QUEUE)
        self._missed = 0

    def put(self, event: dict[str, Any] | None) -> None:
        if self._queue.full():
            self._missed += 1
            if event is None:  # the end is never left out
                self._queue.get_nowait()
                self._queue.put_nowait(None)
            return
        self._queue.put_nowait(event)

    async def get(self, seconds: float) -> dict[str, Any] | None:
        """The next event; a ping when there is none for so long; None when the server ends."""
        if self._missed and self._queue.empty():
            missed, self._missed = self._missed, 0
            return {"type": "missed", "count": missed}
        try:
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        except TimeoutError:
            return {"type": "ping"}


class Hub:
    """`on_first` is called when somebody begins to look, `on_last` when nobody does any more."""

    def __init__(self) -> None:
        self.on_first: Callable[[], None] = lambda: None
        self.on_last: Callable[[], None] = lambda: None
        self._followers: set[Follower] = set()
        self._closed = False

    @contextmanager
    def follow(self, topics: Collection[str]) -> Iterator[Follower]:
        follower = Follower(topics)
        if self._closed:
            follower.put(None)
        self._followers.add(follower)
        if len(self._followers) == 1:
            self.on_first()
        try:
            yield follower
        finally:
            self._followers.discard(follower)
            if not self._followers:
                self.on_last()

    def publish(self, topic: Topic, event: Mapping[str, Any]) -> None:
        """Tell everybody who follows the topic. Models in it are written in their wire form."""
        if not self._followers:
            return
        event = {key: _plain(value) for key, value in event.items()}
        for follower in self._followers:
            if topic in follower.topics:
                follower.put(event)

    def wanted(self, topic: Topic) -> bool:
        """True when somebody follows it."""
        return any(topic in follower.topics for follower in self._followers)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for follower in self._followers:
            follower.put(None)


def _plain(value: Any) -> Any:
    if isinstance(value, Wire):
        return value.to_wire()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
