"""One app as tools see it, whatever the transport: its actions, its values, its runs, where its spans go.

served = Served(ai, runtime_id="4711-3100", forward=forwarder, end=host.end_process)
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flowkit.core.context import RunContext
from flowkit.core.signature import MISSING
from flowkit.errors import InvalidInputError
from flowkit.server.describe import TOOL_V2, describe_actions
from flowkit.server.facts import with_facts
from flowkit.server.generate import generate_action
from flowkit.server.runner import Runner
from flowkit.server.telemetry.forward import Forwarder, follow, unfollow
from flowkit.tracing.logs import keep_logs, stop_keeping
from flowkit.tracing.recorder import Recorder

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["Served"]


class Served:
    """What both transports answer from.

    Args:
        end: Ends the process; the tool that asks for it is answered first.
    """

    def __init__(self, ai: "Flowkit", *, end: Callable[[], None]) -> None:
        self.ai = ai
        self.end = end
        self.forward = Forwarder()
        sink = ai.runtime.tracing.sink
        self._logs = keep_logs(sink.store, sink.redactor) if isinstance(sink, Recorder) else None
        # Without a sink there are no records, and without records no trace ids.
        self._flush_spans = follow(ai.runtime.tracing, self.forward)
        if ai.settings.telemetry_url:
            self.forward.add(ai.settings.telemetry_url, keep=True)
        ai.registry.register(generate_action(ai.registry, default_model=ai.default_model))
        self.runner = Runner(ai.registry, flush=self.flush)

    def flush(self, seconds: float) -> None:
        """Wait, at most so many seconds, until spans and logs so far can be read where they are kept."""
        if self._logs is not None:
            self._logs.flush(seconds / 2)
        self._flush_spans(seconds)

    def actions(self, *, facts: bool = False) -> dict[str, dict[str, Any]]:
        """Every action by key, as `GET /api/actions` lists them; on request with what only our tools ask for."""
        listed = describe_actions(self.ai.registry)
        return with_facts(listed, self.ai.registry, self.ai.settings.root) if facts else listed

    def values(self, type: object) -> dict[str, Any]:
        """Genkit's named values of a type.

        Raises:
            InvalidInputError: it has no values of that type.
        """
        if type == "middleware":
            return {}
        if type == "defaultModel":
            model = self.ai.default_model
            return {} if model is None else {"defaultModel": {"name": model}}
        raise InvalidInputError(f"there are no values of type {type!r}", hint="ask for defaultModel or middleware")

    async def split_preview(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """How a document would be cut for one of the app's embedders."""
        from flowkit.server.preview.served import split_preview  # loads half of flowkit.rag

        return await split_preview(self.ai.registry, body)

    async def validate(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Whether the action `body["key"]` would take `body["input"]`, without running it.

        The answer has `valid`, and `errors` with path and message.

        Raises:
            NotFoundError, InvalidInputError: there is no such action.
        """
        key = body.get("key")
        if not isinstance(key, str):
            raise InvalidInputError("an input needs the key of its action", hint='send {"key": "/flow/menuQA", …}')
        key = "/tool/" + key.removeprefix(TOOL_V2) if key.startswith(TOOL_V2) else key
        action = await self.ai.registry.get(key)
        try:
            action.signature.bind(body.get("input", MISSING), RunContext({}, {}, None, None))
        except InvalidInputError as error:
            details = error.details if isinstance(error.details, Mapping) else {}
            return {"valid": False, "errors": details.get("errors") or [{"path": "", "message": error.message}]}
        return {"valid": True, "errors": []}

    def telemetry(self, url: object) -> None:
        """A tool says where it wants spans.

        Raises:
            InvalidInputError: that is no address of a web server.
        """
        if url is None:
            return
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            raise InvalidInputError(f"{url!r} is no telemetry server", hint="send its http:// address")
        self.forward.add(url)

    def close(self) -> None:
        """Spans go to tools no longer, and what is logged is not kept."""
        unfollow(self.ai.runtime.tracing, self.forward)
        if self._logs is not None:
            stop_keeping(self._logs)
            self._logs = None
