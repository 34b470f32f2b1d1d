"""`POST /api/runAction`: headers with the trace id as soon as the run has one, chunks as they come, then the answer.

Route("/api/runAction", RunRoute(runner), methods=["POST"])
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.server.frames import frame
from flowkit.server.runner import Run, Runner, RunRequest

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["Ask", "AskRoute", "RunRoute", "read_json"]

Ask = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""What answers a question in JSON."""


class RunRoute:
    """An ASGI endpoint. The run belongs to it: however it is left, the run does not go on."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        stream = query.get("stream", [""])[-1] == "true"
        request = RunRequest.from_wire(await read_json(receive), stream=stream)
        run = self._runner.start(request)
        watch = asyncio.ensure_future(_cancel_when_left(receive, run))
        try:
            await _answer(run, send)
        finally:
            watch.cancel()
            run.close()


class AskRoute:
    """An ASGI endpoint: a question in JSON, whose answer runs no action."""

    def __init__(self, answer: Ask) -> None:
        self._answer = answer

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        told = frame(await self._answer(await read_json(receive)))
        await send(_start(200, b"application/json"))
        await send({"type": "http.response.body", "body": told})


async def _answer(run: Run, send: "Send") -> None:
    try:
        await run.opened()
    except (NotFoundError, InvalidInputError) as error:
        text = f"action {run.request.key} not found: {error}"
        await send(_start(404, b"text/plain; charset=utf-8"))
        await send({"type": "http.response.body", "body": text.encode()})
        return
    stream = run.request.stream
    ids = [(b"x-genkit-trace-id", run.trace_id), (b"x-genkit-span-id", run.span_id)]
    content_type = b"text/plain; charset=utf-8" if stream else b"application/json"
    await send(_start(200, content_type, *((name, value.encode()) for name, value in ids if value is not None)))
    if stream:
        async for chunk in run.chunks():
            await send({"type": "http.response.body", "body": chunk + b"\n", "more_body": True})
    # No newline at the end: Genkit's tools would take the answer for a chunk.
    await send({"type": "http.response.body", "body": (await run.answer()).frame})


def _start(status: int, content_type: bytes, *more: tuple[bytes, bytes]) -> "Message":
    return {"type": "http.response.start", "status": status, "headers": [(b"content-type", content_type), *more]}


async def _cancel_when_left(receive: "Receive", run: Run) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
    run.cancel()


async def read_json(receive: "Receive") -> dict[str, Any]:
    """The body of a request, which is to be a JSON object. The guard sees to its size.

    Raises:
        InvalidInputError: it is none.
    """
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidInputError("the client left before it had sent its request")
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    try:
        body = json.loads(b"".join(pieces) or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the request is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise InvalidInputError("the request is no JSON object")
    return body
