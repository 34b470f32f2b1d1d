"""A trace as an indented outline: one line for each step, with kind, duration and error.

print_trace(store.get("3ea5"), values=False)
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from flowkit.cli.lines import one_line
from flowkit.cli.tables import print_lines, styled
from flowkit.cli.traces import MARKS
from flowkit.cli.units import duration_ms, number, size
from flowkit.tracing.rows import SpanRow, Trace
from flowkit.tracing.tree import walk

__all__ = ["print_trace"]

_VALUE_LENGTH = 2_000  # characters of a value that is shown; --json has all of it
_VECTOR = 8  # lists of more numbers are cut
_OPEN, _CLOSE = "\ue000", "\ue001"  # private-use characters mark a cut list
_DEEP = 40  # columns: steps below that are not indented further


def print_trace(trace: Trace, *, values: bool) -> None:
    """Print it on stdout; with `values`, inputs and outputs under each step."""
    print_lines([*_heading(trace), *_outline(trace, values=values), *_footing(trace)])


def _heading(trace: Trace) -> Iterator[Text]:
    summary = trace.summary
    mark, style = MARKS[summary.status]
    started = datetime.fromtimestamp(summary.start_ns / 1e9).astimezone()
    took = "" if summary.duration_ms is None else f" in {duration_ms(summary.duration_ms)}"
    line = Text.assemble(styled(f"{mark} ", style), styled(summary.name, "strong"), f"  {summary.status}{took}")
    if summary.input_tokens or summary.output_tokens:
        tokens = f"{number(summary.input_tokens or 0)} tokens in, {number(summary.output_tokens or 0)} out"
        line.append_text(styled(f", {tokens}", "dim"))
    yield line
    yield styled(f"  {trace.trace_id}  {started:%Y-%m-%d %H:%M:%S}", "dim")
    yield Text()


def _footing(trace: Trace) -> Iterator[Text]:
    if trace.skipped:
        yield Text()
        yield styled(f"{trace.skipped} spans cannot be read", "warn")


def _outline(trace: Trace, *, values: bool) -> Iterator[Text]:
    rows = _ordered(trace)
    labels = [f"{prefix}{one_line(span.name)}" for prefix, _, span in rows]
    width = max((cell_len(label) for label in labels), default=0) + 2
    kinds = max((len(span.label) for _, _, span in rows), default=0) + 2
    times = [_took(span) for _, _, span in rows]
    for (prefix, below, span), label, took in zip(rows, labels, times, strict=True):
        name = Text.assemble(styled(prefix, "dim"), styled(span.name, "bad" if span.state == "error" else ""))
        line = Text.assemble(name, " " * (width - cell_len(label)), styled(f"{span.label:<{kinds}}", "accent"))
        line.append(f"{took:>{max(map(len, times))}}")
        line.append_text(_remark(span))
        yield line
        if values:
            yield from _values(span, below)


def _remark(span: SpanRow) -> Text:
    if span.state == "error" and span.error is not None:
        return styled(f"  ✗ {span.error.type}: {span.error.message}" if span.failure_source else "  ✗", "bad")
    if span.state is None or span.state == "cancelled":
        mark, style = MARKS[span.state or "running"]
        return styled(f"  {mark} {span.state or 'not ended'}", style)
    return styled("  values dropped under load", "warn") if span.dropped else Text()


def _values(span: SpanRow, below: str) -> Iterator[Text]:
    for word, value in (("in ", span.input), ("out", span.output)):
        if value is not None:
            text = json.dumps(_short(json.loads(value)), ensure_ascii=False)
            text = text.replace(f'"{_OPEN}', "[").replace(f'{_CLOSE}"', "]")
            if len(text) > _VALUE_LENGTH:
                text = f"{text[:_VALUE_LENGTH]}… ({size(len(value))}; --json shows all of it)"
            yield Text.assemble(styled(f"{below}{word} ", "dim"), styled(text, "", whole=True))


def _short(value: Any) -> Any:
    """A JSON value with its vectors cut to their first numbers."""
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > _VECTOR and all(isinstance(item, int | float) for item in value):
        return f"{_OPEN}{', '.join(f'{item:.4g}' for item in value[:3])}, … {len(value)} numbers{_CLOSE}"
    return [_short(item) for item in value]


def _took(span: SpanRow) -> str:
    return "–" if span.duration_ms is None else duration_ms(span.duration_ms)


def _ordered(trace: Trace) -> list[tuple[str, str, SpanRow]]:
    """Spans in the order of the tree: the lines before the name, those before its values, and the span."""
    walked = list(walk(trace.spans))
    found = []
    for at, (span, lasts) in enumerate(walked):
        # The first flag speaks of roots, which stand at the margin.
        above = "".join("  " if last else "│ " for last in lasts[1:-1])[:_DEEP]
        corner, line = ("└ " if lasts[-1] else "├ ", "  " if lasts[-1] else "│ ") if len(lasts) > 1 else ("", "")
        has_children = at + 1 < len(walked) and len(walked[at + 1][1]) > len(lasts)
        found.append((above + corner, above + line + ("│ " if has_children else "  "), span))
    return found
