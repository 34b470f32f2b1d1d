"""`store:list`: the indexes of the dev store in this project.

$ flowkit store:list
"""

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError, say

__all__ = ["store_list"]


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
