"""The request of Genkit's flow protocol: `POST /menuQA` with `{"data": …}`, within the limits.

envelope = await read_envelope(scope, receive, limits)
envelope.input, envelope.stream
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from pydantic_core import from_json

from flowkit.core.access import FlowLimits
from flowkit.core.signature import MISSING
from flowkit.server.flows.answers import Refusal

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

__all__ = ["Envelope", "Left", "read_envelope"]


class Left(Exception):
    """The caller went before the request was complete."""


@dataclass(frozen=True, slots=True)
class Envelope:
    input: Any
    """MISSING when there is no `data`."""
    stream: bool
    headers: Mapping[str, str]


async def read_envelope(scope: "Scope", receive: "Receive", limits: FlowLimits) -> Envelope:
    """Read and check a request.

    Raises:
        Refusal: it is not of this form, or too large, or too slow.
        Left: nobody waits for the answer.
    """
    headers = _headers(scope)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        # Also what keeps web pages out: any other type could be sent from anywhere without asking.
        raise Refusal(400, "INVALID_ARGUMENT", "send JSON, with the header Content-Type: application/json")
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.body_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            body = await _read(receive, limits)
    except TimeoutError:
        raise Refusal(408, "DEADLINE_EXCEEDED", "the request came too slowly", [(b"connection", b"close")]) from None
    query = scope.get("query_string", b"")
    stream = "text/event-stream" in headers.get("accept", "") or (
        b"stream" in query and parse_qs(query.decode("latin-1")).get("stream", [""])[-1] == "true"
    )
    return Envelope(_data(body), stream, headers)


def _headers(scope: "Scope") -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def _read(receive: "Receive", limits: FlowLimits) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Left
        piece = message.get("body", b"")
        size += len(piece)
        if size > limits.body_bytes:
            raise _too_large(limits)
        if not message.get("more_body"):
            return piece if not pieces else b"".join([*pieces, piece])
        pieces.append(piece)


def _data(body: bytes) -> Any:
    if not body:
        raise Refusal(400, "INVALID_ARGUMENT", 'the request has no body; send {"data": …}')
    try:
        sent = from_json(body)
    except ValueError as error:
        raise Refusal(400, "INVALID_ARGUMENT", f"the body is no JSON: {error}") from None
    if not isinstance(sent, dict):
        raise Refusal(400, "INVALID_ARGUMENT", 'the body is no object; send {"data": …}')
    return sent.get("data", MISSING)


def _too_large(limits: FlowLimits) -> Refusal:
    message = f"the body is larger than {limits.body_bytes} bytes"
    return Refusal(413, "INVALID_ARGUMENT", message, [(b"connection", b"close")])
