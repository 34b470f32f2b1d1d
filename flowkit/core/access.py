"""Who may call a flow over HTTP, and how much they may ask for.

    ai.asgi(context_providers=[api_key("sk-…")], policies={"menuQA": may_ask}, limits=FlowLimits(run_seconds=60))

Context providers say who asks, policies whether they may. Both run before the flow. What they raise is answered with
its own status; anything that is no FlowkitError is a fault of the server, and the flow does not run.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from flowkit.errors import ConfigError, FlowkitError

__all__ = ["ContextProvider", "FlowLimits", "FlowPolicy", "FlowRequest", "api_key", "context_of"]

Context = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """A call that has come in over HTTP."""

    flow: str
    method: str
    headers: Mapping[str, str]
    """By lower-case name; of a name that comes twice the values are joined by ", "."""
    input: Any
    """As it was sent, not validated yet; None when nothing was."""


@dataclass(frozen=True, slots=True)
class FlowLimits:
    """How much a caller may send, and how long things may take. None: as long as it likes."""

    body_bytes: int = 10_000_000
    body_seconds: float = 30.0
    """Until the whole body is there."""
    run_seconds: float | None = 300.0
    """Then the flow is cancelled, and the answer is 504 DEADLINE_EXCEEDED."""
    write_seconds: float = 60.0
    """How long a reader may take for the next piece of a stream."""
    unread_bytes: int = 32_000_000
    """How much of a stream may wait for a slow reader; then the flow is cancelled."""


ContextProvider = Callable[[FlowRequest], Context | Awaitable[Context | None] | None]
"""Gives (a part of) the run's context; async or not. A slow one should be async: it runs on the server's loop."""

FlowPolicy = Callable[[FlowRequest, Context], object]
"""Allows a call by returning; forbids it by returning False or by raising. Async or not."""


def api_key(*keys: str) -> ContextProvider:
    """Callers must send one of `keys` in the header Authorization, bare or after "Bearer ".

    Without the header the answer is 401, with another value 403. The flow sees `{"auth": {"apiKey": key}}`. Give the
    old and the new key while you change it.

    Raises:
        ConfigError: there is no key, or an empty one (an environment variable that is not set).
    """
    if not keys or not all(isinstance(key, str) and key.strip() for key in keys):
        raise ConfigError("api_key needs a key that is not empty", hint="is the variable that holds it set?")
    known = [key.encode() for key in keys]

    def provide(request: FlowRequest) -> Context:
        given = request.headers.get("authorization", "").strip()
        if not given:
            raise FlowkitError("an API key is needed in the header Authorization", status="UNAUTHENTICATED")
        scheme, _, rest = given.partition(" ")
        value = rest.strip() if scheme.lower() == "bearer" else given
        matches = [compare_digest(value.encode("utf-8", "replace"), key) for key in known]
        if not any(matches):
            raise FlowkitError("the API key is not valid", status="PERMISSION_DENIED")
        return {"auth": {"apiKey": value}}

    return provide


async def context_of(
    request: FlowRequest, providers: Sequence[ContextProvider], policy: FlowPolicy | None
) -> dict[str, Any]:
    """The context that all providers give together, later ones winning, when the policy allows the call.

    Raises:
        FlowkitError: PERMISSION_DENIED, or what a provider or the policy raises.
    """
    context: dict[str, Any] = {}
    for provider in providers:
        given = provider(request)
        given = await given if inspect.isawaitable(given) else given
        context.update(given or {})
    if policy is not None:
        allowed = policy(request, context)
        allowed = await allowed if inspect.isawaitable(allowed) else allowed
        if allowed is False:
            raise FlowkitError(f"you may not call {request.flow}", status="PERMISSION_DENIED")
    return context
