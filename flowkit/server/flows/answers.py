"""What goes back to a caller: JSON answers, and errors that tell strangers nothing about the inside.

    status, body = refusal(error, call)

Errors that a flow raises on purpose (FlowkitError with a status) reach the caller as they are. Whatever else goes wrong
is "Internal Error" to them, and a line with its traceback in the log of the server.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flowkit.core.record import describe
from flowkit.core.values import to_json, to_plain
from flowkit.errors import (
    HTTP_STATUS,
    BackendError,
    FlowkitError,
    InvalidInputError,
    InvalidOutputError,
    Status,
    StoreError,
)
from flowkit.server.errors import status_of

if TYPE_CHECKING:
    from starlette.types import Send

__all__ = ["Refusal", "refusal", "send_json"]

_log = logging.getLogger("flowkit.server.flows")

JSON_TYPE = (b"content-type", b"application/json")
# Their messages quote what lies behind: addresses, paths, the words of other people's libraries.
_INSIDE = (BackendError, InvalidOutputError, StoreError)
_PUBLIC: Mapping[Status, str] = {
    "CANCELLED": "the call was cancelled",
    "UNAVAILABLE": "a service behind this flow does not answer",
}

Headers = Iterable[tuple[bytes, bytes]]


class Refusal(Exception):
    """A request that is answered before a flow is called: the HTTP status, and what is said."""

    def __init__(self, http_status: int, status: Status, message: str, headers: Headers = ()) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.headers = tuple(headers)
        self.body = {"message": message, "status": status}


def refusal(
    error: BaseException, *, flow: str, trace_id: str, schema: Mapping[str, Any] | None = None, dev: bool = False
) -> tuple[int, dict[str, Any]]:
    """HTTP status and body for what a flow raised; faults of the server are logged with the trace's id.

    Args:
        schema: The flow's input schema, told with an input that is not valid.
        dev: Tell the caller everything.
    """
    inside = isinstance(error, _INSIDE)
    known = isinstance(error, FlowkitError) and not inside
    cancelled = isinstance(error, asyncio.CancelledError)
    # Somebody else's exception may have a status that means another thing.
    status = status_of(error) if known or inside or cancelled else "INTERNAL"
    http_status = HTTP_STATUS[status]
    if known and http_status >= 500:
        _log.warning("flow %s, trace %s: %s", flow, trace_id, error)
    elif not known and not cancelled:
        _log.error("flow %s failed, trace %s", flow, trace_id, exc_info=error)
    body: dict[str, Any] = {"message": _PUBLIC.get(status, "Internal Error"), "status": status}
    if isinstance(error, FlowkitError) and (known or dev):
        body["message"] = error.message
        details = to_plain(error.details)
        if isinstance(error, InvalidInputError) and isinstance(details, dict) and schema is not None:
            details = {**details, "schema": schema}
        if details is not None:
            body["details"] = details
    elif dev and not cancelled:
        kind, message, stack = describe(error)
        body |= {"message": f"{kind}: {message}" if message else kind, "details": stack}
    return http_status, body


async def send_json(send: "Send", http_status: int, body: Any, headers: Headers = ()) -> None:
    """Answer with JSON. `body` may be JSON already, as bytes."""
    data = body if isinstance(body, bytes) else to_json(body)
    length = (b"content-length", str(len(data)).encode())
    await send({"type": "http.response.start", "status": http_status, "headers": [JSON_TYPE, length, *headers]})
    await send({"type": "http.response.body", "body": data})
