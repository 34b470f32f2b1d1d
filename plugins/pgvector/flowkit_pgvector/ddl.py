"""The tables of the plugin, as SQL: what `open(create=True)` runs, and what an administrator can read and run instead.

print(create_sql("menu", dimension=384, embedder="local/all-minilm-l6-v2"))
"""

import json
from collections.abc import Mapping

from flowkit.rag.keyword import TERMS_VERSION, checked_language
from flowkit_pgvector.layout import ColumnType, Distance, Layout, Method, checked_layout
from flowkit_pgvector.names import Names, checked_name, column_name, quoted

__all__ = [
    "FORMAT",
    "UPGRADES",
    "column_sql",
    "create_sql",
    "extension_sql",
    "index_sql",
    "lock_sql",
    "rows_sql",
    "schema_sql",
    "script_sql",
    "tables_sql",
    "vector_index_sql",
]

FORMAT = 1
"""Version of the tables that this version of the plugin reads and writes."""
# Version n → statements that bring it to n + 1, `{schema}` standing for the quoted schema.
UPGRADES: dict[int, list[str]] = {}

_OPERATORS = {"cosine": "ip", "l2": "l2", "ip": "ip"}
_TYPES: dict[ColumnType, str] = {"bool": "boolean", "number": "numeric", "string": 'text COLLATE "C"'}
# What a column holds is the value only where it has the column's type; the row's metadata has it in any case.
_VALUES: dict[ColumnType, str] = {
    "bool": "(metadata ->> {key})::boolean",
    "number": "(metadata ->> {key})::numeric",
    "string": "metadata ->> {key}",
}
_JSON_TYPES: dict[ColumnType, str] = {"bool": "boolean", "number": "number", "string": "string"}


def create_sql(
    name: str,
    /,
    *,
    dimension: int,
    embedder: str | None = None,
    schema: str = "flowkit",
    index: Method | None = "hnsw",
    distance: Distance = "cosine",
    language: str = "english",
    columns: Mapping[str, type] | None = None,
) -> str:
    """The whole script that makes an index: reviewable, safe to run again, and by two at once.

    A store that finds everything in place needs no right to create anything.

    Raises:
        InvalidInputError: a choice that there is not.
        UnsupportedError: more dimensions than pgvector's 16,000.
    """
    names = Names(checked_name(schema, "schema"), checked_name(name, "index"))
    layout = checked_layout(distance=distance, method=index, language=checked_language(language), columns=columns)
    return script_sql(names, layout, dimension=dimension, embedder=embedder)


def script_sql(names: Names, layout: Layout, *, dimension: int, embedder: str | None) -> str:
    """`create_sql` for choices that are checked already."""
    parts = [
        "BEGIN",
        lock_sql(names),
        *extension_sql(),
        schema_sql(names),
        *tables_sql(names),
        index_sql(names, layout, dimension=dimension, embedder=embedder),
        *rows_sql(names, layout, dimension),
        "COMMIT",
    ]
    script = ";\n\n".join(parts) + ";\n"
    if layout.is_too_wide(dimension):
        script = (
            f"-- {dimension} dimensions are too many for a vector index (4,000): every search reads all rows.\n{script}"
        )
    return script.replace("%%", "%")


def lock_sql(names: Names, *, whole_schema: bool = True) -> str:
    """Whoever makes or changes tables in this schema (or of this index) waits for the others, until the transaction
    ends."""
    what = f"flowkit {names.schema}" if whole_schema else f"flowkit {names.schema} {names.index}"
    return _lock(what)


def extension_sql() -> list[str]:
    """The extension is the database's, so other schemas wait as well."""
    return [_lock("flowkit extension"), "CREATE EXTENSION IF NOT EXISTS vector"]


def schema_sql(names: Names) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {quoted(names.schema)}"


def tables_sql(names: Names) -> list[str]:
    """What all indexes of a schema share: the format, what each index is, and what each of its namespaces holds."""
    return [
        f"""CREATE TABLE IF NOT EXISTS {names.format} (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL
)""",
        f"INSERT INTO {names.format} (version) VALUES ({FORMAT}) ON CONFLICT DO NOTHING",
        f"""CREATE TABLE IF NOT EXISTS {names.indexes} (
  name text COLLATE "C" PRIMARY KEY,
  table_name text NOT NULL UNIQUE,
  dimension integer,
  embedder text,
  distance text NOT NULL,
  method text,
  lists integer,
  language text NOT NULL,
  terms_version integer NOT NULL,
  columns jsonb NOT NULL
)""",
        f"""CREATE TABLE IF NOT EXISTS {names.namespaces} (
  index_name text COLLATE "C" NOT NULL REFERENCES {names.indexes} ON DELETE CASCADE,
  namespace text COLLATE "C" NOT NULL,
  rows bigint NOT NULL,
  words bigint NOT NULL,
  key_types jsonb NOT NULL,
  PRIMARY KEY (index_name, namespace)
)""",
    ]


def index_sql(names: Names, layout: Layout, *, dimension: int | None, embedder: str | None) -> str:
    """The row that says what an index is."""
    values = (
        _literal(names.index),
        _literal(names.table),
        _literal(dimension),
        _literal(embedder),
        _literal(layout.distance),
        _literal(layout.method),
        _literal(layout.language),
        _literal(TERMS_VERSION),
        _literal(json.dumps(dict(layout.columns))),
    )
    return (
        f"INSERT INTO {names.indexes}\n"
        "  (name, table_name, dimension, embedder, distance, method, language, terms_version, columns)\n"
        f"VALUES ({', '.join(values)})\nON CONFLICT (name) DO NOTHING"
    )


def rows_sql(names: Names, layout: Layout, dimension: int) -> list[str]:
    """The table of an index, and its indexes. IVFFlat comes later: it learns its lists from rows.

    Vectors are of length 1, unless the distance is l2, and `length` is what gives the given ones back. `words` are the
    search terms of the text, in order. `extra` is the document's JSON where text and metadata are not all of it.

    A row stays in one piece as long as it fits a page. Postgres would move what makes it longer than 2 kB to another
    table, the vector first; then each distance costs a look into that, which the planner does not count.
    """
    made = [
        f"""CREATE TABLE IF NOT EXISTS {names.rows} (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  text text NOT NULL,
  metadata jsonb NOT NULL,
  source text COLLATE "C",
  extra text,
  text_hash bytea NOT NULL,
  metadata_hash bytea NOT NULL,
  words text[] COLLATE "C" NOT NULL,
  length double precision,
  embedding vector({int(dimension)}) NOT NULL,
  PRIMARY KEY (namespace, id)
) WITH (toast_tuple_target = 8160)""",
        f"ALTER TABLE {names.rows} ALTER COLUMN embedding SET STORAGE MAIN",
        _index(names, "metadata", "gin (metadata jsonb_path_ops)"),
        _index(names, "words", "gin (words)"),
        _index(names, "source", "hash (source)"),
    ]
    for key, kind in layout.columns.items():
        made += column_sql(names, key, kind)
    if layout.method == "hnsw" and layout.vector_index(dimension):
        made.append(vector_index_sql(names, layout, dimension))
    return made


def column_sql(names: Names, key: str, kind: ColumnType) -> list[str]:
    """A metadata key as a column that Postgres fills, with an index: ranges of numbers, equality of strings."""
    column, literal = column_name(key), _literal(key)
    value = _VALUES[kind].format(key=literal)
    method = "hash" if kind == "string" else "btree"  # a b-tree refuses long strings
    return [
        f"""ALTER TABLE {names.rows} ADD COLUMN IF NOT EXISTS {quoted(column)} {_TYPES[kind]} GENERATED ALWAYS AS (
  CASE WHEN jsonb_typeof(metadata -> {literal}) = '{_JSON_TYPES[kind]}' THEN {value} END
) STORED""",
        _index(names, column, f"{method} ({quoted(column)})"),
    ]


def vector_index_sql(
    names: Names, layout: Layout, dimension: int, *, lists: int | None = None, name: str = "embedding"
) -> str:
    """The statement that makes the vector index; `lists` is for IVFFlat."""
    numbers = layout.vector_index(dimension)
    column = "embedding" if numbers == "vector" else f"(embedding::halfvec({int(dimension)}))"
    options = f" WITH (lists = {int(lists)})" if lists is not None else ""
    operators = f"{numbers}_{_OPERATORS[layout.distance]}_ops"
    return _index(names, name, f"{layout.method} ({column} {operators}){options}")


def _index(names: Names, part: str, using: str) -> str:
    return f"CREATE INDEX IF NOT EXISTS {quoted(names.part(part))} ON {names.rows} USING {using}"


def _lock(what: str) -> str:
    return f"SELECT pg_advisory_xact_lock(hashtextextended({_literal(what)}, 0))"


def _literal(value: str | int | None) -> str:
    from psycopg import sql

    return sql.Literal(value).as_string().replace("%", "%%")
