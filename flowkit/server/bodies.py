"""Bodies of requests: read whole within a limit, unpacked, parsed.

raw = await read_body(request, limit=30_000_000)
value = json_of(raw)
"""

import json
import zlib
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from flowkit.errors import InvalidInputError

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["JSON_BYTES", "TELEMETRY_BYTES", "json_of", "read_body"]

JSON_BYTES = 30_000_000
TELEMETRY_BYTES = 100_000_000
"""Genkit's own limit for traces."""


async def read_body(request: "Request", *, limit: int) -> bytes:
    """The body, unpacked when it is gzip or deflate.

    Raises:
        InvalidInputError: it is larger than `limit` bytes, also after unpacking, or not packed as it says.
    """
    coding = "identity"
    for name, value in request.scope["headers"]:
        if name == b"content-encoding":
            coding = value.decode("latin-1").strip().lower()
    if coding not in ("identity", "gzip", "deflate"):
        raise InvalidInputError(f"content encoding {coding!r} is not known", hint="send gzip, deflate or none")
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise InvalidInputError("the client left before it had sent its request")
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        pieces.append(piece)
        if not message.get("more_body"):
            break
    raw = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return raw if coding == "identity" or not raw else _unpacked(raw, limit)


def json_of(raw: bytes) -> Any:
    """The value of JSON text; nothing is an empty object.

    Raises:
        InvalidInputError: it is no JSON, or has NaN or infinite numbers.
    """
    if not raw:
        return {}
    try:
        return from_json(raw, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        first = error
    try:
        # JavaScript writes halves of characters as escapes, which the fast parser refuses.
        return json.loads(raw, parse_constant=_refuse) if b"\\u" in raw else _refuse(str(first))
    except (ValueError, RecursionError):
        raise InvalidInputError(f"the body is no JSON: {first}") from None


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _unpacked(raw: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or zlib, by its header
    try:
        whole = unpacker.decompress(raw, limit + 1)
    except zlib.error as error:
        raise InvalidInputError(f"the body cannot be unpacked: {error}") from None
    if len(whole) > limit:
        raise _too_large(limit)
    if not unpacker.eof:
        raise InvalidInputError("the packed body is not complete")
    return whole


def _too_large(limit: int) -> InvalidInputError:
    return InvalidInputError("the body is too large", hint=f"send at most {limit} bytes")
