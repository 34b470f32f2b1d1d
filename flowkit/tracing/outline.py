"""A trace as text for the terminal: one line per span, errors under the span that failed.

print(outline(trace))                                      # plain, for pipes
console.print(outline(trace, markup=True, values=True))    # with rich's markup, inputs and outputs
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from flowkit.tracing.rows import SpanRow, Trace
from flowkit.tracing.tree import walk

__all__ = ["duration_text", "outline"]

_MARKS = {"success": ("✓", "green"), "error": ("✗", "red"), "cancelled": ("■", "yellow"), None: ("…", "cyan")}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # what people say must not steer the terminal
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{200,}")


def outline(trace: Trace, *, markup: bool = False, values: bool = False, width: int = 100) -> str:
    """The tree of a trace: name, kind, duration and state of each span.

    Args:
        markup: for a rich console; otherwise the text is plain.
        values: with the beginning of each input and output; long base64 texts are left out.
        width: of the lines with values and messages.
    """
    paint = _paint if markup else _plain
    return "\n".join([*_head(trace, paint), *_lines(trace.spans, paint, values, width)])


def _head(trace: Trace, paint: "Callable[[str, str], str]") -> Iterator[str]:
    facts = trace.summary
    start = datetime.fromtimestamp(facts.start_ns / 1e9).astimezone()
    state = {"running": "running", "lost": "its process is gone"}.get(facts.status, facts.status)
    parts = [f"{start:%Y-%m-%d %H:%M:%S}", state]
    if facts.duration_ms is not None:
        parts.append(duration_text(facts.duration_ms))
    parts.append(f"{len(trace.spans)} span{'s' * (len(trace.spans) != 1)}")
    if facts.input_tokens is not None or facts.output_tokens is not None:
        parts.append(f"{facts.input_tokens or 0} + {facts.output_tokens or 0} tokens")
    if trace.skipped:
        parts.append(f"{trace.skipped} unreadable")
    yield f"{paint(f'trace {trace.trace_id}', 'bold')}  {paint(' · '.join(parts), 'dim')}"


def _lines(spans: Sequence[SpanRow], paint: "Callable[[str, str], str]", values: bool, width: int) -> Iterator[str]:
    for row, lasts in walk(spans):
        stem = "".join("   " if last else "│  " for last in lasts[1:-1])
        branch = ("└─ " if lasts[-1] else "├─ ") if len(lasts) > 1 else ""
        mark, color = _MARKS.get(row.state, _MARKS[None])
        time = duration_text(row.duration_ms) if row.duration_ms is not None else "not ended"
        facts = paint(f"{row.label}  {time}", "dim")
        yield f"{paint(stem + branch, 'dim')}{paint(mark, color)} {paint(_cut(row.name, width), 'bold')}  {facts}"
        below = stem + ("" if len(lasts) == 1 else "   " if lasts[-1] else "│  ") + "  "
        if row.state == "error" and row.error is not None:
            # A parent that only passes the error on says it in a word.
            text = ": ".join(part for part in row.error[:2] if part)
            shown = text if row.failure_source or row.type == "external" else row.error.type or "failed"
            for line in shown.splitlines() or [""]:
                yield paint(below, "dim") + paint(_cut(line, width - len(below)), color)
        if values:
            for name, value, size in (("in ", row.input, row.input_bytes), ("out", row.output, row.output_bytes)):
                if value is not None or size:
                    text = f"{size} bytes" if value is None else _shown(value)
                    yield paint(below, "dim") + paint(f"{name} ", "dim") + paint(_cut(text, width - len(below) - 4), "")


def duration_text(milliseconds: float) -> str:
    """0.3 ms, 12 ms, 1.24 s, 2 min 05 s."""
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 59_995:
        return f"{milliseconds / 1000:.2f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds:02d} s"


def _shown(value: bytes) -> str:
    text = value[:100_000].decode("utf-8", "replace")
    return _BASE64.sub("…", text)


def _cut(text: str, width: int) -> str:
    text = _CONTROL.sub("�", " ".join(text.split()))
    width = max(20, width)
    return text if len(text) <= width else text[: width - 1] + "…"


def _plain(text: str, style: str) -> str:
    return text


def _paint(text: str, style: str) -> str:
    from rich.markup import escape

    return f"[{style}]{escape(text)}[/]" if style and text else escape(text)
