"""What can be run: the actions of the running app, what they take, what they were asked before.

operations = action_operations(dev)
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from flowkit.errors import BackendError, NotFoundError
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.shapes import (
    ActionData,
    ActionDetails,
    ActionList,
    FieldError,
    LastRunData,
    ListInputs,
    PastInputData,
    PastInputs,
    RuntimeData,
    Validate,
    Validated,
)
from flowkit.server.operations import Call, Operation
from flowkit.server.telemetry.traces import Traces
from flowkit.tracing.history import LastRun, last_runs, past_inputs

__all__ = ["Actions", "action_operations", "action_path"]

_LARGE_BYTES = 200_000


def action_path(key: str) -> str:
    """The address of an action: `/api/actions/flow/menuQA`."""
    return "/api/actions" + quote(key)


class Actions:
    """The newest app's list, and the last one that was there."""

    def __init__(self, apps: Apps) -> None:
        self._apps = apps
        self._last: Mapping[str, Any] | None = None

    async def described(self) -> tuple[Mapping[str, Any], RuntimeData | None]:
        """Every action as the app describes it, by key; and the app, None when none answers and the list is an old one.

        Raises:
            BackendError: no app has answered so far.
        """
        try:
            runtime = await self._apps.pick(None)
            self._last = await self._apps.get_json(runtime, "/api/actions?facts=true")
        except BackendError:
            if self._last is None:
                raise
            return self._last, None
        return self._last or {}, runtime


def action_operations(actions: Actions, apps: Apps, traces: Traces) -> Sequence[Operation]:
    """The operations."""

    async def list_actions(call: Call) -> ActionList:
        found, runtime = await actions.described()
        runs = await traces.read(last_runs, traces.store)
        listed = tuple(_data(key, about, runs.get(key)) for key, about in found.items())
        counts = dict(Counter(item.kind for item in listed))
        return ActionList(actions=listed, counts=counts, runtime=runtime, stale=runtime is None)

    async def get_action(call: Call) -> ActionDetails:
        key = "/" + call.params["key"].lstrip("/")
        found, runtime = await actions.described()
        if key not in found:
            raise NotFoundError(f"no action {key!r}", hint="GET /api/actions lists them")
        runs = await traces.read(last_runs, traces.store)
        return ActionDetails(action=_data(key, found[key], runs.get(key)), stale=runtime is None)

    async def validate(call: Call) -> Validated:
        asked: Validate = call.body
        runtime = await apps.pick(asked.runtime_id)
        body = {"key": asked.key} | ({"input": asked.input} if "input" in asked.model_fields_set else {})
        found, _ = await actions.described()
        if asked.runtime_id is None and asked.key not in found:
            raise NotFoundError(f"no action {asked.key!r}", hint="GET /api/actions lists them")
        told = await apps.post_json(runtime, "/api/validateInput", body)
        if told is None:  # an app of another language
            return Validated(checked=False, valid=True)
        errors = tuple(FieldError.from_wire(error) for error in told["errors"])
        return Validated(checked=True, valid=told["valid"], errors=errors)

    async def inputs(call: Call) -> PastInputs:
        asked: ListInputs = call.query
        found = await traces.read(partial(past_inputs, traces.store, asked.key, limit=asked.limit))
        listed = []
        for item in found:
            facts: dict[str, Any] = {"trace_id": item.trace_id, "span_id": item.span_id, "status": item.state}
            if len(item.value) <= _LARGE_BYTES:
                facts["input"] = json.loads(item.value)
            listed.append(PastInputData(size_bytes=len(item.value), start_time_ms=item.start_ns / 1e6, **facts))
        return PastInputs(inputs=tuple(listed))

    return [
        Operation("listActions", "GET", "/api/actions", "What the running app can do", list_actions, answer=ActionList),
        Operation(
            "getAction",
            "GET",
            "/api/actions/{key:path}",
            "One action, by its key",
            get_action,
            answer=ActionDetails,
        ),
        Operation(
            "validate",
            "POST",
            "/api/validate",
            "Whether an action takes an input, without running it",
            validate,
            body=Validate,
            answer=Validated,
        ),
        Operation(
            "listInputs",
            "GET",
            "/api/inputs",
            "Different inputs that an action had, newest first",
            inputs,
            query=ListInputs,
            answer=PastInputs,
        ),
    ]


def _data(key: str, about: Mapping[str, Any], last: LastRun | None) -> ActionData:
    run = None
    if last is not None:
        run = LastRunData(
            trace_id=last.trace_id,
            start_time_ms=last.start_ns / 1e6,
            duration_ms=last.duration_ms,
            status=last.state,
        )
    facts = about.get("flowkit") or {}  # an app of another language has none
    return ActionData(
        key=key,
        name=str(about.get("name") or key.split("/", 2)[-1]),
        kind=key.split("/")[1] if key.startswith("/") else "custom",
        description=about.get("description"),
        input_schema=about.get("inputSchema"),
        output_schema=about.get("outputSchema"),
        chunk_schema=facts.get("chunkSchema"),
        streams=facts.get("streams"),
        source=facts.get("source"),
        index=facts.get("index"),
        metadata=about.get("metadata"),
        last_run=run,
    )
