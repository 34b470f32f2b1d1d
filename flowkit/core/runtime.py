"""What the actions of one `Flowkit` share: tracing, and the event loop that outside runs use.

runtime = Runtime(tracing=Tracing(sink))
"""

import asyncio
import weakref
from collections.abc import Callable

from flowkit.config import Settings
from flowkit.core.loops import is_private, private_loop
from flowkit.core.spans import SpanRecord, Tracing

__all__ = ["Runtime"]


class Runtime:
    """One per `Flowkit`. `on_span`, when set, is told of each action span as it opens (servers send ids early)."""

    __slots__ = ("__weakref__", "_attached", "_last", "on_span", "settings", "tracing")

    def __init__(self, tracing: Tracing | None = None, settings: Settings | None = None) -> None:
        self.tracing = tracing or Tracing()
        self.settings = settings or Settings()
        self.on_span: Callable[[SpanRecord], None] | None = None
        self._attached: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._last: weakref.ref[asyncio.AbstractEventLoop] | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs from outside (UI, CLI) are to use this loop."""
        self._attached = weakref.ref(loop)

    def seen(self, loop: asyncio.AbstractEventLoop) -> None:
        """An action was called on this loop. The private one is what is left when there is no other."""
        if not is_private(loop):
            self._last = weakref.ref(loop)

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop for outside runs: the attached one, else that of the last call, else the private one."""
        for reference in (self._attached, self._last):
            loop = reference() if reference is not None else None
            if loop is not None and loop.is_running():
                return loop
        return private_loop(self)
