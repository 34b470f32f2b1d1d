"""The tree of a trace.

for row, above in walk(trace.spans): print("  " * len(above), row.name)
"""

from collections.abc import Iterable, Iterator, Sequence

from flowkit.tracing.rows import SpanRow

__all__ = ["walk"]


def walk(rows: Iterable[SpanRow]) -> Iterator[tuple[SpanRow, Sequence[bool]]]:
    """Each span after its parent, siblings by start; with one flag for each level above: is that one the last sibling?

    The first flag speaks of the roots. A span whose parent is not there hangs under its nearest known ancestor, or is a
    root; no span is left out, even when damaged data makes a circle.
    """
    ordered = sorted(rows, key=lambda row: row.start_ns)
    known = {row.span_id for row in ordered}
    children: dict[str | None, list[SpanRow]] = {}
    for row in ordered:
        above = next((id for id in (row.parent_id, row.ancestor_id) if id in known and id != row.span_id), None)
        children.setdefault(above, []).append(row)
    seen: set[str] = set()
    yield from _down(children.get(None, ()), children, seen)
    for row in ordered:
        if row.span_id not in seen:
            yield from _down([row], children, seen)


def _down(
    roots: Sequence[SpanRow], children: dict[str | None, list[SpanRow]], seen: set[str]
) -> Iterator[tuple[SpanRow, Sequence[bool]]]:
    stack: list[tuple[SpanRow, tuple[bool, ...]]] = _level(roots, ())
    while stack:
        row, lasts = stack.pop()
        if row.span_id in seen:
            continue
        seen.add(row.span_id)
        yield row, lasts
        stack += _level(children.get(row.span_id, ()), lasts)


def _level(rows: Sequence[SpanRow], above: tuple[bool, ...]) -> list[tuple[SpanRow, tuple[bool, ...]]]:
    """Siblings in the order of a stack, the first on top."""
    return [(row, (*above, at == len(rows) - 1)) for at, row in enumerate(rows)][::-1]
