"""`store:list`, `store:create` and `store:copy`: what the dev store has, making an index, moving one to another store.

$ flowkit store:list
$ flowkit store:create pgvector/menu --dimension 384 --print-sql
$ flowkit store:copy devstore/menu pgvector/menu --to dsn=postgresql://localhost/app
"""

import os

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError, say

__all__ = ["store_copy", "store_create", "store_list"]


@click.command("store:list", context_settings=HELP)
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def store_list(as_json: bool) -> int:
    """List the indexes of the dev store: what is in them, and how big they are.

    An index that cannot be read is shown with the reason.
    """
    try:
        from flowkit_devstore import list_indexes
    except ImportError:
        raise CliError("the dev store is not installed", hint="pip install flowkit-devstore", exit_code=1) from None

    from flowkit.config import Settings

    folder = Settings.from_env().data_folder / "indexes"
    indexes = list_indexes(folder)
    if as_json:
        from flowkit.cli.tables import print_json

        print_json(
            [
                {
                    "name": index.name,
                    "path": str(index.path),
                    "documents": index.count,
                    "dimension": index.dimension,
                    "embedder": index.embedder,
                    "sizeBytes": index.size_bytes,
                    "error": index.error,
                }
                for index in indexes
            ]
        )
        return 0
    if not indexes:
        say(f"no indexes yet in {folder}", "dim")
        return 0

    from flowkit.cli.tables import Column, print_table, styled
    from flowkit.cli.units import number, size

    columns = (
        Column("Index", "accent"),
        Column("Documents", right=True),
        Column("Dimension", right=True),
        Column("Size", right=True),
        Column("Embedder", "dim", flexible=True),
    )
    print_table(
        columns,
        [
            (
                index.name,
                "–" if index.count is None else number(index.count),
                "–" if index.dimension is None else str(index.dimension),
                size(index.size_bytes),
                styled(index.error, "bad") if index.error else index.embedder or "–",
            )
            for index in indexes
        ],
    )
    return 0


@click.command("store:create", context_settings=HELP)
@click.argument("store")
@click.option("--app", metavar="APP", help="module:ai or file.py, whose store is made where it has that name")
@click.option("--set", "options", multiple=True, metavar="KEY=VALUE", help="An option of STORE: schema=search")
@click.option("--dimension", type=click.IntRange(1), metavar="N", help="How long the vectors are: 384")
@click.option("--embedder", metavar="NAME", help="What makes the vectors; the index then refuses any other")
@click.option("--print-sql", is_flag=True, help="Print the SQL that makes the index, and do nothing")
def store_create(
    store: str, app: str | None, options: tuple[str, ...], dimension: int | None, embedder: str | None, print_sql: bool
) -> int:
    """Make an empty index, or leave one that is there as it is.

    STORE is store and index: pgvector/menu. Indexing makes an index too; this is for whoever makes it beforehand,
    with rights that the app does not have. With --print-sql an administrator can read the SQL and run it; nothing is
    connected to then.
    """
    # What is made is no run of the app.
    os.environ.setdefault("FLOWKIT_TRACES", "0")

    from flowkit.cli.store_create import create

    return create(store, app=app, options=options, dimension=dimension, embedder=embedder, print_sql=print_sql)


@click.command("store:copy", context_settings=HELP)
@click.argument("source")
@click.argument("target")
@click.option("--app", metavar="APP", help="module:ai or file.py, whose stores are used where they have these names")
@click.option("--from", "source_options", multiple=True, metavar="KEY=VALUE", help="An option of SOURCE: path=data")
@click.option("--to", "target_options", multiple=True, metavar="KEY=VALUE", help="An option of TARGET: host=localhost")
@click.option("--overwrite", is_flag=True, help="Delete what TARGET has and SOURCE has not")
@click.option("--add", is_flag=True, help="Leave in TARGET what SOURCE has not")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON")
def store_copy(
    source: str,
    target: str,
    app: str | None,
    source_options: tuple[str, ...],
    target_options: tuple[str, ...],
    overwrite: bool,
    add: bool,
    as_json: bool,
) -> int:
    """Copy an index to another store, with its vectors: nothing is embedded again.

    SOURCE and TARGET are store and index: devstore/menu, pgvector/menu. Stopped in the middle, it goes on where it was
    when it is run again; at the end everything is compared. A target of another embedder or dimension is refused, and
    so is one with other documents, unless --overwrite or --add says what becomes of them.
    """
    # What is copied is no run of the app.
    os.environ.setdefault("FLOWKIT_TRACES", "0")

    from flowkit.cli.store_copy import copy

    return copy(
        source,
        target,
        app=app,
        source_options=source_options,
        target_options=target_options,
        overwrite=overwrite,
        add=add,
        as_json=as_json,
    )
