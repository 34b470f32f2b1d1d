"""One stream of everything that happens, for one page: the app's state, its actions, runs, traces, logs.

    operations = event_operations(dev)

Browsers open about six connections to a host, so there is one stream for all. While nobody looks, nothing is asked of
the app, and the store is not polled.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from flowkit.core.values import to_json
from flowkit.errors import BackendError, FlowkitError, InvalidInputError
from flowkit.server.dev.actions import Actions
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.hub import TOPICS, Hub
from flowkit.server.dev.runs import Runs
from flowkit.server.dev.shapes import AppState, DevEvent, RuntimeData, WatchEvents
from flowkit.server.dev.traces import summary_data
from flowkit.server.operations import Call, Operation
from flowkit.server.streams import NDJSON, Lines
from flowkit.server.telemetry.traces import Look, Traces
from flowkit.tracing.log_rows import genkit_log
from flowkit.tracing.progress import SummaryNews

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["Pump", "event_operations"]

_log = logging.getLogger("flowkit.server")

_PING_SECONDS = 15.0
_LOOK_SECONDS = 2.0
_APP_SECONDS = 0.5
_ACTIONS_SECONDS = 2.0
_LOGS_AT_ONCE = 200


class Pump:
    """Looks what is new and tells the hub, as long as somebody follows it. `app` is what the supervisor said last."""

    def __init__(self, hub: Hub, apps: Apps, actions: Actions, runs: Runs, traces: Traces) -> None:
        self.app = AppState()
        self._hub = hub
        self._apps = apps
        self._actions = actions
        self._runs = runs
        self._traces = traces
        self._tasks: list[asyncio.Task[None]] = []
        self._looking = asyncio.Event()
        """What is in the store has been noted (or cannot be read): from now on all that changes is told."""
        self._runtimes: Sequence[RuntimeData] = ()
        self._seen: dict[str, bytes] | None = None
        self._asked_actions = 0.0
        hub.on_first, hub.on_last = self._start, self._stop

    def set_app(self, state: AppState) -> None:
        """The supervisor has news."""
        self.app = state
        self._asked_actions = 0.0
        self._hub.publish("app", {"type": "app", "app": state})

    async def hello(self) -> dict[str, Any]:
        """How everything stands, for somebody who begins to look."""
        self._runtimes = await self._apps.list()
        with contextlib.suppress(TimeoutError):  # a store that is locked; the rest is told all the same
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._looking.wait()
        return {
            "type": "hello",
            "app": self.app.to_wire(),
            "runtimes": [runtime.to_wire() for runtime in self._runtimes],
            "runs": [run.to_wire() for run in self._runs.list()],
        }

    def _start(self) -> None:
        self._tasks = [asyncio.ensure_future(self._follow_store()), asyncio.ensure_future(self._follow_app())]

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        self._looking.clear()
        self._seen = None

    async def _follow_store(self) -> None:
        news, newest = SummaryNews(self._traces.store), 0
        with self._traces.changes.look() as look:
            try:
                newest = await self._traces.read(self._traces.logs.newest)
                await self._traces.read(news.news)
            except FlowkitError as error:
                _log.debug("the trace store cannot be read: %s", error)
            self._looking.set()
            while not look.closed:
                await look.wait()
                try:
                    newest = await self._tell_store(look, news, newest)
                except FlowkitError as error:  # a damaged file: reading it tells the page
                    _log.debug("the trace store cannot be followed: %s", error)
                    await asyncio.sleep(_ACTIONS_SECONDS)

    async def _tell_store(self, look: Look, news: SummaryNews, newest: int) -> int:
        for item in await self._traces.read(news.news):
            self._hub.publish("traces", {"type": "trace", "trace": summary_data(item)})
        if not self._hub.wanted("logs"):
            return await self._traces.read(self._traces.logs.newest)
        now = await self._traces.read(self._traces.logs.newest)
        if now > newest:
            page = await self._traces.read(partial(self._traces.logs.list, limit=_LOGS_AT_ONCE, after=newest))
            for row in reversed(page.items):
                self._hub.publish("logs", {"type": "log", "log": genkit_log(row)})
        return now

    async def _follow_app(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            runtimes = await self._apps.list()
            changed = list(runtimes) != list(self._runtimes)
            self._runtimes = runtimes
            if changed:
                self._hub.publish("app", {"type": "runtimes", "runtimes": runtimes})
            if self._hub.wanted("actions") and (changed or loop.time() - self._asked_actions > _ACTIONS_SECONDS):
                self._asked_actions = loop.time()
                await self._tell_actions()
            await asyncio.sleep(_APP_SECONDS)

    async def _tell_actions(self) -> None:
        try:
            described, runtime = await self._actions.described()
        except BackendError:
            return
        if runtime is None:
            return
        now = _digests(described)
        before, self._seen = self._seen, now
        if before is None or before == now:
            return
        event = {
            "type": "actions",
            "added": sorted(now.keys() - before.keys()),
            "removed": sorted(before.keys() - now.keys()),
            "changed": sorted(key for key in now.keys() & before.keys() if now[key] != before[key]),
        }
        self._hub.publish("actions", event)


def event_operations(hub: Hub, pump: Pump) -> Sequence[Operation]:
    """The operation."""

    async def watch(call: Call) -> "ASGIApp":
        asked: WatchEvents = call.query
        topics = [topic.strip() for topic in (asked.topics or ",".join(TOPICS)).split(",")]
        unknown = sorted({*topics} - {*TOPICS})
        if unknown:
            raise InvalidInputError(f"no topic {unknown[0]!r}", hint=f"there are {', '.join(TOPICS)}")
        return Lines(_events(hub, pump, topics))

    return [
        Operation(
            "watchEvents",
            "GET",
            "/api/events",
            "Everything that happens, one JSON value per line, until the reader leaves",
            watch,
            query=WatchEvents,
            answer=DevEvent,
            gives=NDJSON,
        )
    ]


async def _events(hub: Hub, pump: Pump, topics: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
    with hub.follow(topics) as follower:
        yield await pump.hello()
        while (event := await follower.get(_PING_SECONDS)) is not None:
            yield event


def _digests(described: Mapping[str, Any]) -> dict[str, bytes]:
    """What tells whether an action has changed. That its function is now some lines below is no change."""
    return {
        key: hashlib.blake2b(
            to_json({name: value for name, value in about.items() if name != "flowkit"}), digest_size=16
        ).digest()
        for key, about in described.items()
    }
