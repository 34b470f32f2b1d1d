"""The shapes of the dev API: everything that a page sends and gets, camelCase on the wire.

RunStart.model_json_schema(by_alias=True)
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from flowkit.schema.wire import JSON, Wire

__all__ = [
    "ActionData",
    "ActionDetails",
    "ActionList",
    "ActionSource",
    "AppError",
    "AppState",
    "Cancelled",
    "DeleteTraces",
    "Deleted",
    "DevEvent",
    "ErrorAnswer",
    "FieldError",
    "Imported",
    "IndexData",
    "LastRunData",
    "ListInputs",
    "ListSummaries",
    "PastInputData",
    "PastInputs",
    "RunEvent",
    "RunInfo",
    "RunList",
    "RunStart",
    "RuntimeData",
    "RuntimeList",
    "Summary",
    "SummaryList",
    "Validate",
    "Validated",
    "WatchEvents",
]

_TRACE_ID = "^[0-9a-f]{32}$"


class _ErrorFacts(Wire):
    code: int
    """gRPC number."""
    status: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ErrorAnswer(Wire):
    """Why a request failed; `details.hint` says what to do, `details.errors` which fields are wrong."""

    error: _ErrorFacts


# The app and what it has.


class AppError(Wire):
    """Why the app is not running."""

    message: str
    exit_code: int | None = None
    file: str | None = None
    line: int | None = None
    traceback: str | None = None


class AppState(Wire):
    """The app process, as its supervisor knows it."""

    state: Literal["starting", "running", "failed", "ended", "stopping"] = "running"
    pid: int | None = None
    started_at: float | None = None
    """Ms since the epoch."""
    ready_seconds: float | None = None
    restarts: int = 0
    changed: tuple[str, ...] = ()
    """The files because of which it was started."""
    error: AppError | None = None
    retry_seconds: float | None = None
    silent: bool = False
    """It runs, but has not made itself known."""


class RuntimeData(Wire):
    """A running app, of any language, that tools may talk to."""

    id: str
    pid: int
    name: str
    url: str
    version: str | None = None
    """`py/0.1.0`, `nodejs/1.42.0`."""
    started: str
    """ISO time."""


class RuntimeList(Wire):
    runtimes: tuple[RuntimeData, ...]
    """Newest first; the first one is used when a request names none."""
    app: AppState


class LastRunData(Wire):
    """The newest run of an action as a trace of its own; `status` is absent while it runs."""

    trace_id: str
    start_time_ms: float
    duration_ms: float | None = None
    status: str | None = None


class ActionSource(Wire):
    """Where the function of an action is written."""

    function: str | None = None
    """Module and name: `app.menu_qa`."""
    file: str | None = None
    """Relative to the project, POSIX; absent when the function is no part of the project."""
    line: int | None = None
    """Where it begins, its decorators included; from 1."""


class IndexData(Wire):
    """The vector store behind an indexer or a retriever."""

    name: str
    mode: str
    """What a search does when it does not say: vector, keyword or hybrid."""
    embedder: str | None = None


class ActionData(Wire):
    """An action as the app lists it; schemas are JSON Schema draft 7."""

    key: str
    name: str
    kind: str
    description: str | None = None
    input_schema: JSON = None
    output_schema: JSON = None
    chunk_schema: JSON = None
    """Of what it streams; absent when chunks have no type, or are not known."""
    streams: bool | None = None
    """Whether it may send chunks; absent when that is not known before it is made."""
    source: ActionSource | None = None
    index: IndexData | None = None
    """Only where a vector store is behind it: such an indexer takes files, too, and not only documents."""
    metadata: dict[str, Any] | None = None
    last_run: LastRunData | None = None


class ActionList(Wire):
    actions: tuple[ActionData, ...]
    counts: dict[str, int]
    """By kind."""
    runtime: RuntimeData | None = None
    stale: bool = False
    """No app answers; this is what the last one had."""


class ActionDetails(Wire):
    action: ActionData
    stale: bool = False


class Validate(Wire):
    """An input for an action; without `input`, the action is called without one."""

    key: str
    input: JSON = None
    runtime_id: str | None = None


class FieldError(Wire):
    path: str
    """`items.0.price`; empty when the whole input is meant."""
    message: str


class Validated(Wire):
    checked: bool
    """False: this app cannot check inputs without running."""
    valid: bool
    errors: tuple[FieldError, ...] = ()


class ListInputs(Wire):
    key: str
    limit: int = Field(20, ge=1, le=100)


class PastInputData(Wire):
    """An input that the action had; secrets in it are redacted. Without `input`, it is above 200 kB: see its span."""

    input: JSON = None
    size_bytes: int
    trace_id: str
    span_id: str
    start_time_ms: float
    status: str | None = None


class PastInputs(Wire):
    inputs: tuple[PastInputData, ...]


# Runs.


class RunStart(Wire):
    """What to run. Without `input`, the action is called without one."""

    key: str
    input: JSON = None
    context: dict[str, Any] | None = None
    labels: dict[str, str] | None = None
    """Attributes of the root span, by which traces can be found."""
    stream: bool = True
    runtime_id: str | None = None


class RunInfo(Wire):
    """A run that was started here. `traceId` may be absent when the app keeps no traces."""

    run_id: str
    key: str
    trace_id: str | None = None
    span_id: str | None = None
    status: Literal["running", "success", "error", "cancelled"]
    start_time_ms: float
    duration_ms: float | None = None


class RunList(Wire):
    runs: tuple[RunInfo, ...]
    """Newest first."""


class RunEvent(Wire):
    """What happens in a run: `started` with its ids, each `chunk`, then `ended` with result or error.

    `dropped` stands for chunks that are not kept any more, `ping` keeps the stream open.
    """

    n: int
    """Counts up; `?after=` goes on from one."""
    type: Literal["started", "chunk", "dropped", "ended", "ping"]
    run: RunInfo | None = None
    chunk: JSON = None
    result: JSON = None
    error: dict[str, Any] | None = None


class Cancelled(Wire):
    cancelled: bool
    """False: it had ended before."""


# Traces.


class ListSummaries(Wire):
    limit: int = Field(50, ge=1, le=1000)
    cursor: str | None = None
    status: Literal["running", "success", "error", "cancelled", "lost"] | None = None
    kind: str | None = None
    action: str | None = None
    """A name, `menuQA`, or a key, `/flow/menuQA`."""
    q: str | None = None
    """Words in names, inputs, outputs and errors; "quoted" ones in a row."""
    since: datetime | None = None
    until: datetime | None = None
    min_ms: float | None = Field(None, ge=0, allow_inf_nan=False)
    label: str | None = None
    """`name=value`."""
    internal: bool = False
    """With traces that tools made, and those without any flowkit span."""


class Summary(Wire):
    """A trace in a list: its root span and counts; `input` and `output` are JSON text cut at 200 characters."""

    trace_id: str
    name: str
    kind: str | None = None
    key: str | None = None
    status: Literal["running", "success", "error", "cancelled", "lost"]
    start_time_ms: float
    duration_ms: float | None = None
    spans: int
    error: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    size_bytes: int
    labels: dict[str, str]
    internal: bool
    input: str | None = None
    output: str | None = None


class SummaryList(Wire):
    traces: tuple[Summary, ...]
    cursor: str | None = None
    """Of the next page."""
    skipped: int = 0
    """Rows that cannot be read."""


class DeleteTraces(Wire):
    """Which traces; `all` takes everything."""

    ids: tuple[str, ...] = Field((), max_length=10_000)
    all: bool = False


class Deleted(Wire):
    deleted: int


class Imported(Wire):
    trace_id: str
    spans: int
    logs: int


# Events.


class WatchEvents(Wire):
    topics: str | None = None
    """A comma-separated part of app, actions, runs, traces, logs; all of them without."""


class DevEvent(Wire):
    """One line of the event stream; which fields are set depends on `type`.

    hello (app, runtimes, runs), app, runtimes, actions (added, removed, changed), run, trace, log, missed, ping.
    """

    type: Literal["hello", "app", "runtimes", "actions", "run", "trace", "log", "missed", "ping"]
    app: AppState | None = None
    runtimes: tuple[RuntimeData, ...] | None = None
    runs: tuple[RunInfo, ...] | None = None
    run: RunInfo | None = None
    added: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None
    changed: tuple[str, ...] | None = None
    trace: Summary | None = None
    log: dict[str, Any] | None = None
    count: int | None = None
    """Of missed events."""
