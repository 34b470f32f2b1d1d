"""Text search over traces: the words of their names, inputs, outputs and errors, kept in SQLite's FTS5.

query_of('vegan "lasagne al forno" 寿司')     each word, or the beginning of one, must occur
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["compact_words", "forget_words", "has_words", "index_words", "query_of", "search_scratch", "unindexed"]

# What is said to FTS5 when a trace goes must be what was said when it came: whoever changes the text of a trace or the
# tokenizer makes a new format version, which drops the table.
_TABLE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, content='', tokenize='unicode61 remove_diacritics 2')"
)
# Made with the first search: otherwise each one would read the whole table to see that nothing is new.
_NEW = "CREATE INDEX IF NOT EXISTS traces_to_index ON traces (id) WHERE indexed = 0"
_VALUE_BYTES = 32_000
_TRACE_BYTES = 1_000_000
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_LONG = re.compile(r'[^\s"]{200,}')  # base64 and the like
# Scripts without spaces: each character becomes a word, and neighbours are searched as a phrase.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff])"
)
_TEXTS = """
SELECT CAST(s.name AS BLOB), CAST(s.key AS BLOB),
    substr(CAST(coalesce(s.input, i.value) AS BLOB), 1, ?), substr(CAST(coalesce(s.output, o.value) AS BLOB), 1, ?),
    CASE WHEN json_valid(s.more) THEN CAST(json_extract(s.more, '$.error[0]') AS BLOB) END,
    CASE WHEN json_valid(s.more) THEN substr(CAST(json_extract(s.more, '$.error[1]') AS BLOB), 1, ?) END
FROM spans s
LEFT JOIN big_values i ON i.trace = s.trace AND i.hash = s.input_hash
LEFT JOIN big_values o ON o.trace = s.trace AND o.hash = s.output_hash
WHERE s.trace = ? ORDER BY s.id
"""


def query_of(text: str) -> str:
    """FTS5 syntax for a search: words and "phrases" that must all occur, the last word of each may go on.

    Empty when the text has no word at all (only punctuation or emoji), which an index of words cannot find.
    """
    phrases = []
    for phrase, word in re.findall(r'"([^"]+)"|([^\s"]+)', text):
        part = _UNSPACED.sub(r" \1 ", phrase or word).strip()
        if any(unicodedata.category(letter)[0] in "LN" for letter in part):
            phrases.append(f'"{part}"' + ("" if _UNSPACED.match(part[-1]) else "*"))
    return " AND ".join(phrases)


def unindexed(db: "Connection", limit: int, *, finished: bool) -> list[int]:
    """Traces that are not in the index: finished ones that should be, or those that still change."""
    state = "end_ns > 0 AND open = 0" if finished else "(end_ns = 0 OR open > 0)"
    return [row[0] for row in db.execute(f"SELECT id FROM traces WHERE indexed = 0 AND {state} LIMIT ?", (limit,))]


def index_words(db: "Connection", traces: Iterable[int]) -> None:
    """Put traces into the index, within a transaction."""
    db.execute(_TABLE)
    db.execute(_NEW)
    for trace in traces:
        db.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (trace, _text_of(db, trace)))
        db.execute("UPDATE traces SET indexed = 1 WHERE id = ?", (trace,))


def forget_words(db: "Connection", traces: Iterable[int]) -> None:
    """Take indexed traces out of the index, within the transaction that is about to change or delete their rows."""
    for trace in traces:
        db.execute("INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)", (trace, _text_of(db, trace)))
        db.execute("UPDATE traces SET indexed = 0 WHERE id = ?", (trace,))


def compact_words(db: "Connection") -> None:
    """Leave nothing of forgotten traces in the index, within a transaction: FTS5 by itself does that much later."""
    if not has_words(db):
        return
    if db.execute("SELECT 1 FROM traces WHERE indexed = 1 LIMIT 1").fetchone():
        db.execute("INSERT INTO words (words) VALUES ('optimize')")
    else:
        db.execute("DROP TABLE words")


def has_words(db: "Connection") -> bool:
    """False until the first trace has been indexed."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone() is not None


def search_scratch(db: "Connection", traces: Sequence[int], query: str) -> list[int]:
    """Which of some traces match, by an index in memory: for running traces, whose text still changes."""
    if not traces:
        return []
    import sqlite3

    scratch = sqlite3.connect(":memory:")
    try:
        scratch.execute(_TABLE)
        scratch.executemany(
            "INSERT INTO words (rowid, body) VALUES (?, ?)", ((trace, _text_of(db, trace)) for trace in traces)
        )
        return [row[0] for row in scratch.execute("SELECT rowid FROM words WHERE words MATCH ?", (query,))]
    finally:
        scratch.close()


def _text_of(db: "Connection", trace: int) -> str:
    """What is indexed of a trace: each different text once. It depends on nothing but what is stored."""
    seen: dict[str, None] = {}
    total = 0
    for row in db.execute(_TEXTS, (_VALUE_BYTES, _VALUE_BYTES, _VALUE_BYTES, trace)):
        for raw in row:
            if raw and total < _TRACE_BYTES:
                text = bytes(raw).decode("utf-8", "replace")
                if text not in seen:
                    seen[text] = None
                    total += len(raw)
    plain = _LONG.sub(" ", _ESCAPE.sub(" ", "\n".join(seen)))
    return _UNSPACED.sub(r" \1 ", plain).replace("\x00", " ")
