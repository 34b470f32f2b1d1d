"""An exception as the error object of Genkit's protocol, whose `details` is always an object.

wire_error(error, "5a2c…")        {"code": 13, "message": "kaboom", "details": {"stack": …, "traceId": …}}
raise told_error(answer["error"])  # what another process has told so
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from flowkit.core.record import describe
from flowkit.core.values import to_plain
from flowkit.errors import GRPC_CODE, FlowkitError, Status

__all__ = ["CANCELLED", "status_of", "told_error", "wire_error"]

CANCELLED = "Action was cancelled"
_UNCLEAR = (KeyError, StopIteration, StopAsyncIteration)  # their text alone says nothing


def wire_error(error: BaseException, trace_id: str | None = None) -> dict[str, Any]:
    """`code` is a gRPC number; `details` holds stack, trace id, and what a FlowkitError knows: status, hint, fields."""
    kind, message, stack = describe(error)
    details: dict[str, Any] = {"stack": stack}
    if isinstance(error, FlowkitError):
        message = error.message
        details["hint"] = error.hint
        known = to_plain(error.details)
        details.update(known if isinstance(known, Mapping) else {"details": known})
    elif isinstance(error, asyncio.CancelledError):
        message = CANCELLED
    elif isinstance(error, SystemExit):
        message = f"the action ended the process: sys.exit({error.code!r})"
    elif not message or isinstance(error, _UNCLEAR):
        message = f"{kind}: {message}" if message else kind
    status = status_of(error)
    details |= {"status": status} if trace_id is None else {"status": status, "traceId": trace_id}
    # Genkit's validators refuse null.
    present = {key: value for key, value in details.items() if value is not None}
    return {"code": GRPC_CODE[status], "message": message, "details": present}


def told_error(told: Mapping[str, Any]) -> FlowkitError:
    """The way back: an error that another process has told by `wire_error`. Its stack is left out."""
    details = {key: value for key, value in (told.get("details") or {}).items() if key != "stack"}
    status = details.pop("status", None)
    return FlowkitError(
        str(told.get("message")),
        hint=details.pop("hint", None),
        status=status if status in GRPC_CODE else "INTERNAL",
        details=details,
    )


def status_of(error: BaseException) -> Status:
    """The gRPC name of an exception: its own `status` if it has one, CANCELLED, else INTERNAL."""
    if isinstance(error, asyncio.CancelledError):
        return "CANCELLED"
    status = getattr(error, "status", None)
    return status if isinstance(status, str) and status in GRPC_CODE else "INTERNAL"
