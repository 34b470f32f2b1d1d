"""Opening a table or a SELECT of the user's: its columns are looked at, nothing is made.

session = await opened_source(database, names, layout, Table("dishes"), dimension=384, embedder=None)
"""

from flowkit.errors import IdentityError, InvalidInputError
from flowkit.rag.keyword import TERMS_VERSION
from flowkit_pgvector.database import Connection, Database, execute
from flowkit_pgvector.layout import Layout
from flowkit_pgvector.names import Names
from flowkit_pgvector.opening import is_iterative
from flowkit_pgvector.registry import IndexState
from flowkit_pgvector.relation import source_relation
from flowkit_pgvector.session import SourceSession
from flowkit_pgvector.source import Source

__all__ = ["opened_source"]

_TEXT_TYPES = ("text", "character varying", "character")


async def opened_source(
    database: Database,
    names: Names,
    layout: Layout,
    source: Source,
    *,
    dimension: int | None,
    embedder: str | None,
) -> SourceSession:
    """A session over the source.

    Raises:
        NotFoundError: there is no such table.
        InvalidInputError: a column is missing or of a type that cannot be used.
        IdentityError: its vectors have another dimension.
    """
    async with database.single(f"open index {names.index!r}") as connection:
        types = await _types(connection, names, source)
        relation = source_relation(source, layout.distance, types["embedding"])
        cursor = await execute(
            connection, f"SELECT vector_dims(r.embedding) FROM {relation.rows} AS r LIMIT 1", relation.values
        )
        (found,) = await cursor.fetchone() or (None,)
        if found is not None and dimension not in (None, found):
            raise IdentityError(
                f"the vectors that index {names.index!r} reads have {found} dimensions, not {dimension}",
                hint="name the embedder that they were made with",
            )
        state = IndexState(found, embedder, layout.distance, None, None, layout.language, TERMS_VERSION, {})
        return SourceSession(database, names, relation, state, iterative=await is_iterative(connection))


async def _types(connection: Connection, names: Names, source: Source) -> dict[str, str]:
    """The type of each column that a source must have."""
    cursor = await execute(connection, f"SELECT * FROM ({source.to_sql()}) AS given LIMIT 0", dict(source.parameters))
    codes = {column.name: column.type_code for column in cursor.description or ()}
    wanted = {"id": _TEXT_TYPES, "text": _TEXT_TYPES, "metadata": ("jsonb",), "embedding": ("vector", "halfvec")}
    found: dict[str, str] = {}
    for name, types in wanted.items():
        if name not in codes:
            raise InvalidInputError(
                f"the source of index {names.index!r} has no column {name!r}",
                hint=f"it has {', '.join(codes)}; rename one with AS {name}",
            )
        cursor = await execute(connection, "SELECT format_type(%s::oid, NULL)", (codes[name],))
        (kind,) = await cursor.fetchone() or ("",)
        found[name] = str(kind).rpartition(".")[2]
        if found[name] not in types:
            raise InvalidInputError(
                f"column {name!r} in the source of index {names.index!r} is of type {kind}",
                hint=f"it must be {' or '.join(types)}; cast it, as in {name}::{types[0]}",
            )
    return found
