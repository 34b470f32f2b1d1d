"""The least that a telemetry server can do: raw ASGI, one SQLite transaction per POST, ready-made JSON in the lists.

    app = limit_app(folder)

It merges spans by id and lists root spans, as Genkit's API wants it, and does nothing else: no redaction, no search, no
checks of what comes in, no summaries.
"""

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from pydantic_core import from_json, to_json

_SCHEMA = """
CREATE TABLE IF NOT EXISTS traces (id TEXT PRIMARY KEY, start REAL, card BLOB);
CREATE INDEX IF NOT EXISTS by_start ON traces (start DESC);
CREATE TABLE IF NOT EXISTS spans (trace TEXT, id TEXT, json BLOB, PRIMARY KEY (trace, id));
"""


def limit_app(folder: Path) -> Any:
    """An ASGI app."""
    folder.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(folder / "limit.db", isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.executescript(_SCHEMA)

    def post(body: bytes) -> None:
        data = from_json(body)
        trace_id = data["traceId"]
        db.execute("BEGIN IMMEDIATE")
        for span_id, span in data["spans"].items():
            db.execute("INSERT OR REPLACE INTO spans VALUES (?, ?, ?)", (trace_id, span_id, to_json(span)))
            if "parentSpanId" not in span:
                card = to_json({**data, "spans": {span_id: span}})
                db.execute("INSERT OR REPLACE INTO traces VALUES (?, ?, ?)", (trace_id, span["startTime"], card))
        db.execute("COMMIT")

    def listed(query: bytes) -> bytes:
        limit = int(parse_qs(query.decode()).get("limit", ["10"])[0])
        rows = db.execute("SELECT card FROM traces ORDER BY start DESC LIMIT ?", (limit,))
        return b'{"traces":[' + b",".join(row[0] for row in rows) + b"]}"

    def got(trace_id: str) -> bytes:
        rows = db.execute("SELECT id, json FROM spans WHERE trace = ?", (trace_id,)).fetchall()
        return b'{"spans":{' + b",".join(b'"%b":%b' % (row[0].encode(), row[1]) for row in rows) + b"}}"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b"OK"
        if scope["method"] == "POST":
            pieces = []
            while True:
                message = await receive()
                pieces.append(message.get("body", b""))
                if not message.get("more_body"):
                    break
            post(b"".join(pieces))
        elif scope["path"] == "/api/traces":
            body = listed(scope["query_string"])
        else:
            body = got(scope["path"].rpartition("/")[2])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    return app
