"""Tables that are there already: searched in place, never changed.

PgVector("dishes", source=Table("dishes", id="dish_id", text="description", vector="embedding", metadata=["price"]))
PgVector("dishes", source=Query("SELECT id::text AS id, … WHERE city = %(city)s", parameters={"city": "Munich"}))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flowkit.errors import InvalidInputError
from flowkit_pgvector.names import quoted

__all__ = ["Query", "Source", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view, and which of its columns are what.

    Args:
        name: the table; looked up on the search path, unless `schema` is given.
        id: a column whose values differ; compared as text.
        text: the column with the text.
        vector: the column of type vector or halfvec.
        metadata: columns that become metadata under their names, or one column of type jsonb.
    """

    name: str
    schema: str | None = None
    id: str = "id"
    text: str = "text"
    vector: str = "embedding"
    metadata: Sequence[str] | str = ()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {}

    def to_sql(self) -> str:
        place = quoted(self.schema, self.name) if self.schema is not None else quoted(self.name)
        if isinstance(self.metadata, str):
            metadata = f"{quoted(self.metadata)}::jsonb"
        else:
            # The key of an entry is its column's name, read as a string of the same quoting rules.
            pairs = ", ".join(f"{_string(column)}, {quoted(column)}" for column in self.metadata)
            metadata = f"jsonb_build_object({pairs})"
        return (
            f"SELECT {quoted(self.id)}::text AS id, {quoted(self.text)} AS text, {metadata} AS metadata, "
            f"{quoted(self.vector)} AS embedding FROM {place}"
        )


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT of your own, that gives the columns `id` (text), `text`, `metadata` (jsonb) and `embedding`.

    Values go in as parameters: `%(city)s` in the text and `{"city": …}` here. A percent sign is written twice. The
    vector index is used when the SELECT is simple enough for Postgres to merge it into the search: no DISTINCT, GROUP
    BY, LIMIT or window function.

    Raises:
        InvalidInputError: the text is no single SELECT, or a parameter's name begins with `flowkit_`.
    """

    sql: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.sql.lstrip().lower().startswith(("select", "with")):
            raise InvalidInputError(
                "the source is no SELECT", hint="give one SELECT with id, text, metadata, embedding"
            )
        if taken := [name for name in self.parameters if name.startswith("flowkit_")]:
            raise InvalidInputError(f"the parameter {taken[0]!r} has a name that flowkit uses", hint="rename it")

    def to_sql(self) -> str:
        return self.sql.strip().rstrip(";")


Source = Table | Query


def _string(value: str) -> str:
    from psycopg import sql

    return sql.Literal(value).as_string().replace("%", "%%")
