"""What a database error means to the user: which index, which operation, and what to do.

raise explanation(error, "search index 'menu'", "db.example:5432/app") from error
"""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from flowkit.errors import BackendError, ConfigError, FlowkitError, InvalidInputError, NotFoundError, StateError, Status

__all__ = ["explanation", "place"]

# SQLSTATE, or a class of them → what is wrong, status, hint. `{place}` is host, port and database.
_STATES: dict[str, tuple[str, Status, str]] = {
    "28": ("{place} does not let this user in", "UNAUTHENTICATED", "check user and password in dsn="),
    "3D000": ("there is no such database at {place}", "NOT_FOUND", "create it, or check dsn="),
    "53100": ("the disk of {place} is full", "RESOURCE_EXHAUSTED", "free some space and run it again"),
    "53200": ("{place} is out of memory", "RESOURCE_EXHAUSTED", "lower work_mem or maintenance_work_mem, or k"),
    "53300": (
        "{place} has no connection left",
        "RESOURCE_EXHAUSTED",
        "use a smaller pool_size=, a pooler such as PgBouncer, or raise max_connections",
    ),
    "42501": (
        "this user has not the right to do that",
        "PERMISSION_DENIED",
        "grant it, or let an administrator run the script that create_sql(…) gives",
    ),
    "25006": ("{place} is read-only", "FAILED_PRECONDITION", "connect to the primary server to write"),
    "57014": ("it took longer than allowed", "DEADLINE_EXCEEDED", "raise statement_timeout, or ask for less"),
    "55P03": ("another transaction holds a lock", "ABORTED", "run it again"),
    "57P": ("the server shut down or is starting", "UNAVAILABLE", "run it again when the server is up"),
}
# What libpq says when there is no session yet, and so no SQLSTATE.
_CONNECTING = (
    ("too many connections", "53300"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("password authentication failed", "28"),
    ("no password supplied", "28"),
    ("no pg_hba.conf entry", "28"),
    ('role "', "28"),
    ("starting up", "57P"),
    ("shutting down", "57P"),
)
_NO_EXTENSION = "this Postgres server has no pgvector"
_INSTALL = "install pgvector on the server (package postgresql-NN-pgvector), or use an image such as pgvector/pgvector"


def explanation(error: Exception, what: str, place: str) -> FlowkitError:
    """The error to raise from `error`, a psycopg error.

    Args:
        what: the operation and the index, as in "search index 'menu'".
        place: host, port and database; never a password.
    """
    failed = f"pgvector could not {what}"
    state = getattr(error, "sqlstate", None) or _connecting_state(str(error))
    first = _first_line(error)
    match error:
        case psycopg.errors.UndefinedFile():
            return ConfigError(f"{failed}: {_NO_EXTENSION}", hint=_INSTALL)
        case psycopg.errors.UndefinedTable() | psycopg.errors.InvalidSchemaName():
            return NotFoundError(
                f"{failed}: it is not in the database ({first})", hint="index documents first, or check the name"
            )
        case psycopg.errors.CharacterNotInRepertoire() | psycopg.errors.UntranslatableCharacter():
            return ConfigError(f"{failed}: {first}", hint="the database must have the encoding UTF8")
        case psycopg.errors.DataException() | psycopg.errors.SyntaxErrorOrAccessRuleViolation() if state != "42501":
            return BackendError(f"{failed}: {first}", status="FAILED_PRECONDITION", hint=_hint_of(error))
        case psycopg.ProgrammingError() if "type not found" in first:
            return ConfigError(f"{failed}: pgvector is not in this database", hint="CREATE EXTENSION vector")
        case psycopg.ProgrammingError() if state is None:
            # Before any session: the dsn. What libpq says may quote it, with the password.
            return InvalidInputError(
                f"{failed}: dsn= is no connection string",
                hint='write "postgresql://user@host:5432/database" or "host=… dbname=… user=…"',
            )
        case psycopg.InterfaceError() if "ProactorEventLoop" in str(error):
            return StateError(
                f"{failed}: psycopg cannot use this event loop",
                hint="on Windows: asyncio.run(main(), loop_factory=asyncio.SelectorEventLoop)",
            )
    for known, (wrong, status, hint) in _STATES.items():
        if state is not None and state.startswith(known):
            return BackendError(f"{failed}: {wrong.format(place=place)} ({first})", status=status, hint=hint)
    if state is None and isinstance(error, psycopg.OperationalError):
        return BackendError(
            f"{failed}: no connection to {place} ({first})",
            hint="is the server running, and is it at that address? check dsn=",
        )
    return BackendError(f"{failed}: {first}", hint=_hint_of(error))


def place(dsn: str) -> str:
    """Host, port and database of a connection string; settings that it leaves out are libpq's."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "the server"
    host, port, database = (parts.get(name) for name in ("host", "port", "dbname"))
    return f"{host or 'the default host'}{f':{port}' if port else ''}{f'/{database}' if database else ''}"


def _connecting_state(text: str) -> str | None:
    if 'database "' in text and "does not exist" in text:
        return "3D000"
    return next((state for words, state in _CONNECTING if words in text and "FATAL" in text), None)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def _hint_of(error: Exception) -> str | None:
    diagnosis = getattr(error, "diag", None)
    return getattr(diagnosis, "message_hint", None)
