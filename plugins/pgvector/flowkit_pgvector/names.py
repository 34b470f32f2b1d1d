"""Names in the database: quoted by psycopg, never taken from a user's string as they are.

names = Names("flowkit", "menu")
names.rows                       # '"flowkit"."index_menu"'
"""

import re
from dataclasses import dataclass
from hashlib import sha256

from flowkit.errors import InvalidInputError
from flowkit.plugin import is_blank

__all__ = ["Names", "checked_name", "column_name", "is_storable", "quoted", "table_name"]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LONGEST_BYTES = {"schema": 63}  # of an identifier; Postgres would cut it short without a word


def is_storable(text: str) -> bool:
    """Postgres text holds neither NUL nor lone surrogates."""
    return _UNSTORABLE.search(text) is None


def checked_name(name: object, what: str) -> str:
    """A name that a user gave for a schema, an index or a namespace.

    Raises:
        InvalidInputError: it is blank, too long (63 bytes for a schema, else 1,000), or holds what Postgres cannot.
    """
    if not isinstance(name, str) or is_blank(name):
        raise InvalidInputError(f"{what} {name!r} is blank or not a string")
    most = _LONGEST_BYTES.get(what, 1_000)
    if not is_storable(name) or len(name.encode()) > most:
        raise InvalidInputError(
            f"{what} {name[:40]!r} cannot be used", hint=f"no NUL, no surrogates, at most {most:,} bytes"
        )
    return name


def quoted(*parts: str) -> str:
    """A quoted identifier for statements with parameters, in which a percent sign counts twice."""
    from psycopg import sql

    return sql.Identifier(*parts).as_string().replace("%", "%%")


def table_name(index: str) -> str:
    """The table of an index: readable for usual names, with a hash for others. At most 46 characters."""
    return f"index_{_safe(index)}"


def column_name(key: str) -> str:
    """The column of a metadata key."""
    return f"meta_{_safe(key)}"


def _safe(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:24]
    return f"{slug}_{sha256(name.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Names:
    """The quoted names of what belongs to one index."""

    schema: str
    index: str

    @property
    def table(self) -> str:
        """The table's own name, not quoted."""
        return table_name(self.index)

    @property
    def rows(self) -> str:
        return quoted(self.schema, self.table)

    @property
    def indexes(self) -> str:
        return quoted(self.schema, "indexes")

    @property
    def namespaces(self) -> str:
        return quoted(self.schema, "namespaces")

    @property
    def format(self) -> str:
        return quoted(self.schema, "format")

    def part(self, of: str) -> str:
        """The name of an index of the table (not quoted): no schema, as Postgres puts it beside its table."""
        name = f"{self.table}_{of}"
        return name if len(name) <= 60 else f"{name[:47]}_{sha256(name.encode()).hexdigest()[:12]}"
