"""Spans as the JSON that a page draws a trace from. No object is made of a span: there may be fifty thousand.

texts, skipped = read_spans(db, number, outline_span, columns=OUTLINE)
"""

import json
from json.encoder import encode_basestring as _quoted  # as json.dumps does, with real characters
from typing import Any

from flowkit.tracing.rows import SpanError, label_of
from flowkit.tracing.writing import DROPPED, FAILURE_SOURCE

__all__ = ["OUTLINE", "outline_span"]

OUTLINE = (
    "id, span_id, name, start_ns, end_ns, parent_id, ancestor_id, type, kind, key, state, marks, input_bytes,"
    " output_bytes, more, CASE WHEN json_valid(input) THEN input END, CASE WHEN json_valid(output) THEN output END"
)
"""Columns of `spans`. Values are there up to 2 kB; they are JSON already, and broken ones must not break the rest."""


def outline_span(row: Any) -> str:
    """A span's JSON, as the dev API describes it (`SpanOutline`), from the columns of `OUTLINE`."""
    (_, span_id, name, start, end, parent, ancestor, type_, kind, key, state, marks, size_in, size_out, *rest) = row
    more, given, result = rest
    text = (
        f'{{"spanId":{_id(span_id)},"name":{_quoted(name)},"label":{_quoted(label_of(kind, type_))},'
        f'"type":{_quoted(type_)},"startTimeMs":{start / 1e6!r},"inputBytes":{size_in},"outputBytes":{size_out}'
    )
    if parent is not None:
        text += f',"parentId":{_id(parent)}'
    if ancestor is not None:
        text += f',"ancestorId":{_id(ancestor)}'
    if kind is not None:
        text += f',"kind":{_quoted(kind)}'
    if key is not None:
        text += f',"key":{_quoted(key)}'
    if end:
        text += f',"durationMs":{(end - start) / 1e6!r}'
    if state is not None:
        text += f',"state":"{state}"'
    if given is not None and given != "null":
        text += f',"input":{given}'
    if result is not None and result != "null":
        text += f',"output":{result}'
    if marks & FAILURE_SOURCE:
        text += ',"failureSource":true'
    if marks & DROPPED:
        text += ',"valuesDropped":true'
    if more is not None:
        text += _more(json.loads(more))
    return text + "}"


def _more(more: dict[str, Any]) -> str:
    text = ""
    if "error" in more:
        text += f',"error":{_json(SpanError(*more["error"])._asdict())}'
    if more.get("attributes"):
        text += f',"attributes":{_json(more["attributes"])}'
    if "context" in more:
        text += f',"context":{more["context"]}'
    if more.get("events"):
        events = [{"name": name, "timeMs": at / 1e6, "attributes": held} for name, at, held in more["events"]]
        text += f',"events":{_json(events)}'
    if "scope" in more:
        text += f',"library":{_quoted(more["scope"][0])}'
    return text


def _id(text: str) -> str:
    return f'"{text}"' if text.isalnum() else _quoted(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
