"""Reflection over WebSocket, v2: the app calls the tool that started it, and answers its JSON-RPC requests.

    await serve_socket(served, "ws://localhost:3200", runtime_id="4711", stop=stop)

Genkit's command line works like this when it starts the app for one command, `genkit flow:run menuQA -- python app.py`.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from flowkit.errors import FlowkitError, InvalidInputError, NotFoundError
from flowkit.server.errors import wire_error
from flowkit.server.frames import frame
from flowkit.server.reflection.served import Served
from flowkit.server.runner import RunRequest
from flowkit.server.version import flowkit_version

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

__all__ = ["serve_socket"]

_log = logging.getLogger(__name__)

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 5.0
_UNKNOWN_METHOD, _BAD_PARAMS, _FAILED = -32601, -32602, -32000


async def serve_socket(served: Served, url: str, *, runtime_id: str, stop: asyncio.Event) -> None:
    """Be connected to a tool until `stop`; when the connection is lost, try again after 0.5, 1, 2, 4, 5, 5… seconds."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    stopped: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
    wait = _FIRST_WAIT_SECONDS
    while not stop.is_set():
        try:
            # No limit of size, no compression, no proxy: the other end is on this machine. No pings either: an app that
            # computes for a minute is not gone.
            async with connect(url, max_size=None, compression=None, proxy=None, ping_interval=None) as socket:
                wait = _FIRST_WAIT_SECONDS
                await _Session(served, socket, runtime_id).run(stopped)
        except (OSError, WebSocketException, TimeoutError) as error:
            _log.debug("no connection to %s: %s", url, error)
        await asyncio.wait([stopped], timeout=wait)
        wait = min(wait * 2, _LONGEST_WAIT_SECONDS)


class _Session:
    """One connection. Its runs end with it: nobody is left to read their answers."""

    def __init__(self, served: Served, socket: "ClientConnection", runtime_id: str) -> None:
        self._served = served
        self._socket = socket
        self._id = runtime_id
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, Callable[[Any, Mapping[str, Any]], Coroutine[Any, Any, None]]] = {
            "listActions": self._list_actions,
            "listValues": self._list_values,
            "runAction": self._run_action,
            "cancelAction": self._cancel_action,
        }

    async def run(self, stopped: "asyncio.Future[Any]") -> None:
        reading: asyncio.Future[Any] = asyncio.ensure_future(self._read())
        try:
            await asyncio.wait([reading, stopped], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            reading.cancel()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(reading, *self._tasks, return_exceptions=True)

    async def _read(self) -> None:
        about = {
            "id": self._id,
            "pid": os.getpid(),
            "name": self._served.ai.settings.root.name or "flowkit",
            "genkitVersion": f"py/{flowkit_version()}",
            "reflectionApiSpecVersion": 1,
            "envs": ["dev"],
        }
        await self._send(frame({"jsonrpc": "2.0", "id": "1", "method": "register", "params": about}))
        async for text in self._socket:
            try:
                message = json.loads(text)
            except ValueError:
                continue
            if isinstance(message, dict):
                await self._take(message)

    async def _take(self, message: dict[str, Any]) -> None:
        """Both sides number their own requests, so only `method` tells a request from an answer."""
        method = message.get("method")
        if method is None:
            self._take_telemetry(message.get("result"))
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            if method == "configure":
                self._take_telemetry(params)
            return
        handler = self._methods.get(method)
        if handler is None:
            await self._fail(message["id"], _UNKNOWN_METHOD, f"there is no method {method!r}")
            return
        task = asyncio.create_task(self._handle(handler, message["id"], params))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(
        self, handler: Callable[[Any, Mapping[str, Any]], Coroutine[Any, Any, None]], id: Any, params: Mapping[str, Any]
    ) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await handler(id, params)
        except FlowkitError as error:
            await self._fail(id, _BAD_PARAMS, str(error), wire_error(error))
        except ConnectionClosed:
            return

    async def _list_actions(self, id: Any, params: Mapping[str, Any]) -> None:
        await self._answer(id, frame({"actions": self._served.actions()}))

    async def _list_values(self, id: Any, params: Mapping[str, Any]) -> None:
        await self._answer(id, frame({"values": self._served.values(params.get("type"))}))

    async def _cancel_action(self, id: Any, params: Mapping[str, Any]) -> None:
        if self._served.runner.cancel(str(params.get("traceId"))):
            await self._answer(id, frame({"message": "Action cancelled"}))
        else:
            await self._fail(id, _BAD_PARAMS, "Action not found or already completed")

    async def _run_action(self, id: Any, params: Mapping[str, Any]) -> None:
        run = self._served.runner.start(RunRequest.from_wire(params, stream=bool(params.get("stream"))))
        try:
            try:
                await run.opened()
            except (NotFoundError, InvalidInputError) as error:
                await self._fail(id, _BAD_PARAMS, f"action {run.request.key} not found: {error}", wire_error(error))
                return
            if run.trace_id is not None:
                await self._notify("runActionState", id, b'"state":' + frame({"traceId": run.trace_id}))
            async for chunk in run.chunks():
                await self._notify("streamChunk", id, b'"chunk":' + chunk)
            answer = await run.answer()
            if answer.error is not None:
                await self._fail(id, _FAILED, answer.error["message"], answer.error)
            else:
                await self._answer(id, answer.frame)
        finally:
            run.close()

    def _take_telemetry(self, told: Any) -> None:
        url = told.get("telemetryServerUrl") if isinstance(told, dict) else None
        try:
            self._served.telemetry(url)
        except InvalidInputError as error:
            _log.debug("%s", error)

    async def _answer(self, id: Any, result: bytes) -> None:
        await self._send(b'{"jsonrpc":"2.0","id":' + frame(id) + b',"result":' + result + b"}")

    async def _fail(self, id: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        await self._send(frame({"jsonrpc": "2.0", "id": id, "error": error}))

    async def _notify(self, method: str, request_id: Any, rest: bytes) -> None:
        start = f'{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":'.encode()
        # Genkit checks that it is text, as it sent it.
        await self._send(start + frame(str(request_id)) + b"," + rest + b"}}")

    async def _send(self, message: bytes) -> None:
        await self._socket.send(message.decode("ascii"))
