"""Runs that were started from a page: in the app's process, followed and kept here, so that a reload of the page loses
nothing.

    runs = Runs(apps, hub)
    run = await runs.start(RunStart(key="/flow/menuQA", input="What is vegan?"))      # its trace id is known now
    async for event in run.follow(): ...
"""

import asyncio
import json
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from flowkit.errors import BackendError, FlowkitError, NotFoundError
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.hub import Hub
from flowkit.server.dev.shapes import RunInfo, RunStart, RuntimeData
from flowkit.server.errors import CANCELLED, wire_error

if TYPE_CHECKING:
    from httpx import Response

__all__ = ["Run", "Runs"]

_log = logging.getLogger("flowkit.server")

_KEPT_RUNS = 100
_KEPT_SECONDS = 30.0
_MOST_RUNS = 5_000
_MOST_BYTES = 500_000_000
_KEPT_EVENTS = 5_000
_KEPT_BYTES = 20_000_000
_PING_SECONDS = 15.0
_OPEN_SECONDS = 5.0
_CANCELLED_CODE = 1


class Run:
    """One run. `info` is how it stands; its events are kept, the oldest chunks go when there are too many."""

    def __init__(self, asked: RunStart, runtime: RuntimeData, hub: Hub) -> None:
        self.info = RunInfo(
            run_id=secrets.token_hex(8), key=asked.key, status="running", start_time_ms=time.time() * 1000
        )
        self.asked = asked
        self.runtime = runtime
        self.opened = asyncio.Event()
        self.refused: FlowkitError | None = None
        """There is no such action: nothing was run."""
        self.task: asyncio.Task[None] | None = None
        self._hub = hub
        self._events: deque[tuple[dict[str, Any], int]] = deque()
        self._bytes = 0
        self._next = 0
        self._changed = asyncio.Condition()
        self._closed = False

    @property
    def ended(self) -> bool:
        return self.info.status != "running"

    @property
    def size_bytes(self) -> int:
        """Of the chunks that are kept."""
        return self._bytes

    async def follow(self, after: int = -1) -> AsyncIterator[dict[str, Any]]:
        """Events with a number above `after`, then those to come, until the run has ended."""
        at = after
        while True:
            events = [event for event, _ in self._events if event["n"] > at]
            for event in events:
                if event["n"] > at + 1:
                    yield {"n": event["n"] - 1, "type": "dropped"}
                yield event
                at = event["n"]
            if self.ended or self._closed:
                if not events:
                    return
                continue
            try:
                async with asyncio.timeout(_PING_SECONDS), self._changed:
                    await self._changed.wait_for(lambda: self._next > at + 1 or self.ended or self._closed)  # noqa: B023
            except TimeoutError:
                yield {"n": at, "type": "ping"}

    async def close(self) -> None:
        """End the streams that follow it."""
        self._closed = True
        async with self._changed:
            self._changed.notify_all()

    async def started(self, response: "Response") -> None:
        ids = {
            "trace_id": response.headers.get("x-genkit-trace-id"),
            "span_id": response.headers.get("x-genkit-span-id"),
        }
        self.info = self.info.model_copy(update=ids)
        await self._add({"type": "started", "run": self.info.to_wire()}, 0)
        self.opened.set()

    async def chunk(self, line: bytes) -> None:
        await self._add({"type": "chunk", "chunk": _told(line)}, len(line))

    async def end(self, answer: dict[str, Any]) -> None:
        """The last frame: a result, or an error."""
        error = answer.get("error")
        status = "success"
        if error is not None:
            status = "cancelled" if error.get("code") == _CANCELLED_CODE else "error"
        trace_id = self.info.trace_id or (answer.get("telemetry") or {}).get("traceId")
        took = time.time() * 1000 - self.info.start_time_ms
        self.info = self.info.model_copy(update={"status": status, "duration_ms": took, "trace_id": trace_id})
        event: dict[str, Any] = {"type": "ended", "run": self.info.to_wire()}
        if error is not None:
            event["error"] = error
        elif "result" in answer:
            event["result"] = answer["result"]
        await self._add(event, 0)
        self.opened.set()

    async def _add(self, event: dict[str, Any], size: int) -> None:
        self._events.append(({"n": self._next, **event}, size))
        self._next += 1
        self._bytes += size
        # The first one has the ids, and stays.
        while len(self._events) > 2 and (len(self._events) > _KEPT_EVENTS or self._bytes > _KEPT_BYTES):
            _, gone = self._events[1]
            del self._events[1]
            self._bytes -= gone
        if event["type"] != "chunk":
            self._hub.publish("runs", {"type": "run", "run": self.info})
        async with self._changed:
            self._changed.notify_all()


class Runs:
    """The newest runs, running or ended."""

    def __init__(self, apps: Apps, hub: Hub) -> None:
        self._apps = apps
        self._hub = hub
        self._runs: dict[str, Run] = {}

    def list(self) -> Sequence[RunInfo]:
        """Newest first."""
        return [run.info for run in reversed(self._runs.values())]

    def get(self, run_id: str) -> Run:
        """A run by its id.

        Raises:
            NotFoundError: it was never started here, or too long ago.
        """
        try:
            return self._runs[run_id]
        except KeyError:
            raise NotFoundError(f"no run {run_id!r}", hint="only the newest runs are kept; its trace is") from None

    async def start(self, asked: RunStart) -> Run:
        """Start a run; returns as soon as its ids are known, or after five seconds.

        Raises:
            NotFoundError: there is no such action.
            BackendError: no app is running, or it does not answer.
        """
        runtime = await self._apps.pick(asked.runtime_id)
        run = Run(asked, runtime, self._hub)
        self._runs[run.info.run_id] = run
        run.task = asyncio.ensure_future(self._drive(run))
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                await run.opened.wait()
        except TimeoutError:  # a plugin's set-up; an event will tell the ids
            pass
        if run.refused is not None:
            del self._runs[run.info.run_id]
            raise run.refused
        self._forget_old()
        return run

    async def cancel(self, run_id: str) -> bool:
        """Cancel a run; False when it has ended."""
        run = self.get(run_id)
        if run.ended:
            return False
        if run.info.trace_id is not None:
            told = await self._apps.post_json(run.runtime, "/api/cancelAction", {"traceId": run.info.trace_id})
            return told is not None or not run.ended
        if run.task is not None:
            run.task.cancel()  # its connection closes, and the app cancels what nobody waits for
        return True

    async def aclose(self) -> None:
        """Stop all runs."""
        tasks = [run.task for run in self._runs.values() if run.task is not None and not run.task.done()]
        for run in self._runs.values():
            await run.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, run: Run) -> None:
        try:
            await self._follow(run)
        except asyncio.CancelledError:
            await run.end({"error": {"code": _CANCELLED_CODE, "message": CANCELLED, "details": {}}})
            raise
        except Exception as error:  # noqa: BLE001  whatever went wrong, whoever follows the run hears of its end
            if not isinstance(error, FlowkitError):
                _log.exception("the run of %s cannot be followed", run.info.key)
                error = BackendError(f"the run cannot be followed: {error}", hint="its trace may say how it went on")
            if not run.opened.is_set():
                run.refused = error
            await run.end({"error": wire_error(error, run.info.trace_id)})

    async def _follow(self, run: Run) -> None:
        body = run.asked.model_dump(include={"key", "context"}, exclude_none=True)
        if "input" in run.asked.model_fields_set:
            body["input"] = run.asked.input
        if run.asked.labels:
            body["telemetryLabels"] = run.asked.labels
        path = "/api/runAction?stream=true" if run.asked.stream else "/api/runAction"
        async with self._apps.open(run.runtime, path, body) as response:
            if response.status_code != 200:
                raise await _refusal(response, run.asked.key)
            await run.started(response)
            last = await _lines(response, run)
        await run.end(_answer(last))

    def _forget_old(self) -> None:
        """Runs that have just ended stay, as whoever started one of many may not have come to read it."""
        if len(self._runs) <= _KEPT_RUNS:
            return
        recent = time.time() * 1000 - _KEPT_SECONDS * 1000
        size = sum(run.size_bytes for run in self._runs.values())
        for run_id, run in list(self._runs.items()):
            if len(self._runs) <= _KEPT_RUNS:
                return
            full = len(self._runs) > _MOST_RUNS or size > _MOST_BYTES
            if run.ended and (full or run.info.start_time_ms + (run.info.duration_ms or 0) < recent):
                size -= run.size_bytes
                del self._runs[run_id]


async def _lines(response: "Response", run: Run) -> bytes:
    """Hand on the chunks; returns the last frame, which has no newline."""
    rest: list[bytes] = []
    async for piece in response.aiter_bytes():
        if not run.asked.stream or b"\n" not in piece:
            rest.append(piece)
            continue
        *lines, last = (b"".join(rest) + piece).split(b"\n")
        for line in lines:
            await run.chunk(line)
        rest = [last]
    return b"".join(rest)


def _answer(last: bytes) -> dict[str, Any]:
    answer = _told(last)
    return answer if isinstance(answer, dict) else {"result": answer}


def _told(line: bytes) -> Any:
    """The value on a line of the app's answer."""
    try:
        return json.loads(line)
    except ValueError:
        raise BackendError("the app ended in the middle of the run", hint="its own output says why") from None


async def _refusal(response: "Response", key: str) -> FlowkitError:
    text = (await response.aread()).decode("utf-8", "replace")[:2000]
    if response.status_code == 404:
        return NotFoundError(f"no action {key!r}", hint=text)
    return BackendError(f"the app answered {response.status_code}: {text}")
