"""Where the guard goes around an app's own port, and errors become answers within it.

app = protect(app)

Loopback alone protects nothing: every web page that the developer looks at is a client on loopback, too.
"""

from typing import TYPE_CHECKING

from flowkit.errors import FlowkitError
from flowkit.server.errors import wire_error
from flowkit.server.frames import frame

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BODY_BYTES", "explaining", "protect"]

BODY_BYTES = 30_000_000
"""The largest request that is read; Genkit's own limit."""


def protect(app: "ASGIApp") -> "ASGIApp":
    """Tools on this machine may call it, web pages may not. `/api/__quitquitquit` is behind it as everything is."""
    from flowkit.server.guard import Guard, Limits

    return Guard(explaining(app), limits=Limits(body_bytes=BODY_BYTES))


def explaining(app: "ASGIApp") -> "ASGIApp":
    """Answer a FlowkitError with its HTTP status and the protocol's error object."""

    async def explaining(scope: "Scope", receive: "Receive", send: "Send") -> None:
        started = False

        async def noting(message: "Message") -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await app(scope, receive, noting)
        except FlowkitError as error:
            if started:
                raise
            body = frame({"error": wire_error(error)})
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": error.http_status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    return explaining
