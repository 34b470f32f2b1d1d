"""`log:list`: what the app has logged, with the run in which it did. The app is not imported.

$ flowkit log:list --severity warn
$ flowkit log:list --trace latest
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import Style, say
from flowkit.cli.traces import newest_of, open_traces

if TYPE_CHECKING:
    from rich.text import Text

    from flowkit.tracing.log_rows import LogRow

__all__ = ["log_list"]

_LEVELS = ("trace", "debug", "info", "warn", "error", "fatal")
_STYLES: dict[str, Style] = {"WARN": "warn", "ERROR": "bad", "FATAL": "bad", "INFO": "accent"}
_ID_LENGTH = 8


@click.command("log:list", context_settings=HELP)
@click.option("-l", "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many at most")
@click.option("--severity", type=click.Choice(_LEVELS, case_sensitive=False), help="Only records at least so severe")
@click.option("--trace", "--trace-id", metavar="ID", help="Only of this run; `latest` is the newest one")
@click.option("--span", "--span-id", metavar="ID", help="Only of this step, by its full id")
@click.option("--text", metavar="TEXT", help="Only records with this text")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one record on each line")
def log_list(
    limit: int, severity: str | None, trace: str | None, span: str | None, text: str | None, as_json: bool
) -> int:
    """List what was logged while the app was developed, the newest at the end.

    The records are those of Python's logging that the app's own levels let pass. The ID is of the run in which a
    record was made.
    """
    from flowkit.tracing.log_rows import SEVERITIES
    from flowkit.tracing.log_store import LogStore

    store = open_traces()
    trace_id = None
    if trace is not None:
        trace_id = store.get(newest_of(store, trace), values=False).trace_id
    page = LogStore(store).list(
        limit=limit,
        trace_id=trace_id,
        span_id=span,
        min_severity=None if severity is None else SEVERITIES[severity.upper()],
        text=text,
    )
    rows = page.items[::-1]
    if as_json:
        _print_json(rows)
        return 0
    if not rows:
        filtered = severity or trace or span or text
        say("nothing like that was logged" if filtered else f"nothing was logged yet in {store.path}", "dim")
        return 0

    from flowkit.cli.tables import print_lines

    width = max(len(_logger(row)) for row in rows)
    print_lines(_line(row, width) for row in rows)
    if page.cursor:
        say(f"there are more; --limit {limit * 2} shows the {limit} before", "dim")
    return 0


def _print_json(rows: "list[LogRow]") -> None:
    import json

    from flowkit.cli.lines import write
    from flowkit.tracing.log_rows import genkit_log

    write("".join(json.dumps(genkit_log(row), ensure_ascii=False) + "\n" for row in rows))


def _line(row: "LogRow", width: int) -> "Text":
    from rich.text import Text

    from flowkit.cli.tables import styled

    at = datetime.fromtimestamp(row.time_ns / 1e9).astimezone()
    level = (row.severity_text or "").upper()
    trace_id = (row.trace_id or "")[:_ID_LENGTH]
    return Text.assemble(
        styled(f"{at:%Y-%m-%d %H:%M:%S}  ", "dim"),
        styled(f"{level:<5}  ", _STYLES.get(level, "dim")),
        styled(f"{trace_id:<{_ID_LENGTH}}  ", "dim"),
        styled(f"{_logger(row):<{width}}  ", "dim"),
        styled(_text(row), "bad" if level in ("ERROR", "FATAL") else ""),
    )


def _logger(row: "LogRow") -> str:
    return row.scope[0] if row.scope else ""


def _text(row: "LogRow") -> str:
    """The message, and what was raised."""
    import json

    body: Any = row.body
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    kind, message = row.attributes.get("exception.type"), row.attributes.get("exception.message")
    return f"{text} — {kind}: {message}" if kind else text
