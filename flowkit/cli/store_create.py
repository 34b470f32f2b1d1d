"""`store:create` at work: makes an empty index, or prints the SQL that would.

exit_code = create("pgvector/menu", app=None, options=(), dimension=384, embedder=None, print_sql=True)
"""

from collections.abc import Sequence
from contextlib import aclosing

from flowkit.cli.lines import CliError, one_line
from flowkit.cli.rag_apps import finish
from flowkit.cli.running import run_work
from flowkit.cli.store_names import app_of, options_of, store_of
from flowkit.cli.tables import print_lines, styled
from flowkit.cli.units import number
from flowkit.errors import UnsupportedError
from flowkit.plugin import SqlStore, StoreStats

__all__ = ["create"]


def create(
    name: str,
    *,
    app: str | None,
    options: Sequence[str],
    dimension: int | None,
    embedder: str | None,
    print_sql: bool,
) -> int:
    """Do it; returns the exit code."""
    ai = app_of(app)
    store = store_of(name, ai, options_of(options), "--set")
    embedder = embedder or getattr(store, "embedder", None)
    if print_sql:
        if not isinstance(store, SqlStore):
            raise CliError(
                f"{name} has no SQL to print: its store keeps no tables",
                hint="leave out --print-sql to make the index, or name a store in an SQL database: pgvector/menu",
            )
        if dimension is None:
            raise CliError(
                "the SQL depends on how long the vectors are", hint="pass --dimension: 384 for local/all-minilm-l6-v2"
            )
        try:
            print(store.creation_sql(dimension=dimension, embedder=embedder), end="")
        except UnsupportedError as error:
            raise CliError(error.message, hint=error.hint) from None
        return 0

    async def work() -> StoreStats:
        async with aclosing(store):
            await store.open(create=True, dimension=dimension, embedder=embedder)
            return await store.stats()

    outcome = run_work(ai, work)
    exit_code = finish(outcome, interrupted="stopped")
    if outcome.result is not None:
        from rich.text import Text

        count = outcome.result.count
        told = f"{one_line(name)} is there; it holds {number(count)} document{'' if count == 1 else 's'}"
        print_lines([Text.assemble(styled("✓ ", "good"), told)])
    return exit_code
