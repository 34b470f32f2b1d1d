"""`trace:list` and `trace:get`: what ran in this project, and every step of one run. The app is not imported.

$ flowkit trace:list --status error
$ flowkit trace:get latest
"""

import time
from typing import TYPE_CHECKING, Any

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError, Style, say

if TYPE_CHECKING:
    from rich.text import Text

    from flowkit.tracing.rows import TraceStatus, TraceSummary
    from flowkit.tracing.store import TraceStore

__all__ = ["newest_of", "open_traces", "trace_get", "trace_list"]

STATUSES: tuple["TraceStatus", ...] = ("success", "error", "cancelled", "running", "lost")
MARKS: dict[str, tuple[str, Style]] = {
    "success": ("✓", "good"),
    "error": ("✗", "bad"),
    "cancelled": ("■", "warn"),
    "running": ("●", "accent"),
    "lost": ("?", "warn"),
}
_ID_LENGTH = 8  # hex digits that a list shows; enough to name a trace among thousands


@click.command("trace:list", context_settings=HELP)
@click.option("-l", "--limit", type=click.IntRange(1, 10_000), default=15, show_default=True, help="How many at most")
@click.option("--status", type=click.Choice(STATUSES), help="Only runs that ended so")
@click.option("--kind", metavar="KIND", help="Only runs of this kind of action, for instance flow")
@click.option("--name", metavar="NAME", help="Only runs of this action, for instance menuQA")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def trace_list(limit: int, status: "TraceStatus | None", kind: str | None, name: str | None, as_json: bool) -> int:
    """List the runs of this project, newest first.

    ✓ success, ✗ error, ■ cancelled, ● running, ? lost (its process is gone). The last column has the input, or the
    error.
    """
    store = open_traces()
    page = store.list(limit=limit, status=status, kind=kind, action=name)
    if page.skipped:
        say(f"{page.skipped} trace{'s' if page.skipped > 1 else ''} in {store.path} cannot be read", "warn")
    if as_json:
        from flowkit.cli.tables import print_json

        print_json([_summary_json(item) for item in page.items])
        return 0
    if not page.items:
        filtered = status or kind or name
        say("no runs like that" if filtered else f"no runs yet in {store.path}; flow:run keeps them", "dim")
        return 0

    from flowkit.cli.tables import Column, print_table, styled
    from flowkit.cli.units import ago, duration_ms

    now = time.time()
    columns = (
        Column(""),
        Column("ID", "accent"),
        Column("Name"),
        Column("Kind", "dim"),
        Column("Took", right=True),
        Column("Started", "dim"),
        Column("Input or error", cut=True),
    )
    print_table(
        columns,
        [
            (
                styled(*MARKS[item.status]),
                item.trace_id[:_ID_LENGTH],
                item.name,
                item.kind or "",
                "–" if item.duration_ms is None else duration_ms(item.duration_ms),
                ago(now - item.start_ns / 1e9),
                _remark(item),
            )
            for item in page.items
        ],
    )
    if page.cursor:
        say(f"there are more; --limit {limit * 2} shows the next {limit}", "dim")
    return 0


@click.command("trace:get", context_settings=HELP)
@click.argument("trace_id", metavar="ID")
@click.option("--values", is_flag=True, help="With the inputs and outputs of every step")
@click.option("--json", "as_json", is_flag=True, help="Print Genkit's JSON of the trace, with whole values")
def trace_get(trace_id: str, values: bool, as_json: bool) -> int:
    """Show every step of the run ID: a full id, the beginning of one, or `latest`."""
    store = open_traces()
    trace = store.get(newest_of(store, trace_id), values=values or as_json)
    if as_json:
        from flowkit.cli.tables import print_json
        from flowkit.tracing.genkit import to_genkit

        print_json(to_genkit(trace))
        return 0

    from flowkit.cli.trees import print_trace

    print_trace(trace, values=values)
    return 0


def newest_of(store: "TraceStore", trace_id: str) -> str:
    """The id that was given; for `latest` that of the newest run.

    Raises:
        CliError: there are no runs.
    """
    if trace_id != "latest":
        return trace_id
    newest = store.list(limit=1).items
    if not newest:
        raise CliError(f"there are no runs in {store.path}", hint="flowkit flow:run keeps them")
    return newest[0].trace_id


def open_traces() -> "TraceStore":
    """The trace store of this project."""
    from flowkit.config import Settings
    from flowkit.tracing import TRACES_FILE
    from flowkit.tracing.store import TraceStore

    return TraceStore(Settings.from_env().data_folder / TRACES_FILE)


def _remark(item: "TraceSummary") -> "str | Text":
    """What a run was asked, or why it failed."""
    from flowkit.cli.tables import styled

    if item.status == "error":
        return styled(item.error or "failed", "bad")
    if item.status != "success":
        return styled(item.status, MARKS[item.status][1])
    return styled(_unquoted(item.input or ""), "dim")


def _unquoted(json_text: str) -> str:
    """A JSON string's text; other values, and texts that were cut, as they are."""
    import json

    try:
        value = json.loads(json_text)
    except ValueError:
        return json_text.removeprefix('"')
    return value if isinstance(value, str) else json_text


def _summary_json(item: "TraceSummary") -> dict[str, Any]:
    return {
        "traceId": item.trace_id,
        "name": item.name,
        "kind": item.kind,
        "key": item.key,
        "status": item.status,
        "startTimeMs": item.start_ns / 1e6,
        "durationMs": item.duration_ms,
        "spans": item.spans,
        "error": item.error,
        "inputTokens": item.input_tokens,
        "outputTokens": item.output_tokens,
        "sizeBytes": item.size_bytes,
        "labels": dict(item.labels),
        "input": item.input,
        "output": item.output,
    }
