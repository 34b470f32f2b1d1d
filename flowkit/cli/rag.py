"""`rag:index`, `rag:ask` and `rag:chunks`: a folder becomes an index, and questions are answered from it.

$ flowkit rag:index docs/
$ flowkit rag:ask "How do I cancel?"
"""

import os
from pathlib import Path
from typing import Any, Literal

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError

__all__ = ["rag_ask", "rag_chunks", "rag_index"]


class _Place(click.ParamType):  # type: ignore[type-arg]  # older ones are no generic
    """A path that exists, or an address (`https://…`, `s3://…`), which is a string."""

    name = "place"

    def __init__(self, *, folder: bool) -> None:
        self._path: click.Path[Any] = click.Path(exists=True, dir_okay=folder, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, str) and "://" in value else self._path.convert(value, param, ctx)


_app_option = click.option(
    "--app", metavar="APP", help="module:ai or file.py, whose index is used; without it, one on this machine"
)
_index_option = click.option("--index", metavar="NAME", help="Default: the folder's path, or the only index there is")
_private_option = click.option("--allow-private", is_flag=True, help="Let a page be in a private network")
_max_option = click.option("--max-tokens", type=click.IntRange(min=1), help="Of a chunk; default: 300 or what fits")
_overlap_option = click.option("--overlap-tokens", type=click.IntRange(min=0), help="Default: a tenth of --max-tokens")


@click.command("rag:index", context_settings=HELP)
@click.argument("place", type=_Place(folder=True))
@_index_option
@_app_option
@click.option("--glob", multiple=True, help='Only what matches, for instance "**/*.md"; may be given again')
@_private_option
@click.option(
    "--mode",
    type=click.Choice(["source", "full", "append"]),
    default="source",
    show_default=True,
    help="full also deletes what is gone from the folder, append deletes nothing",
)
@_max_option
@_overlap_option
@click.option("--dry-run", is_flag=True, help="Only show what would be done")
@click.option("--watch", is_flag=True, help="Stay, and index again what changes")
@click.option("--json", "as_json", is_flag=True, help="Print the report, or the plan, as JSON")
def rag_index(
    place: Path | str,
    index: str | None,
    app: str | None,
    glob: tuple[str, ...],
    allow_private: bool,
    mode: Literal["source", "full", "append"],
    max_tokens: int | None,
    overlap_tokens: int | None,
    dry_run: bool,
    watch: bool,
    as_json: bool,
) -> int:
    """Bring an index in step with PLACE: a folder, a file, a page (https://…), or a prefix in a cloud (s3://, gs://,
    az://).

    PDF, Office files, Markdown, HTML, source code and plain text are read. Only what is new is embedded, and what a
    file no longer says is deleted. What a .gitignore or .flowkitignore in the folder says is left out. Stopped in the
    middle, it keeps what it has done; run it again for the rest.
    """
    if watch and dry_run:
        raise CliError("--watch and --dry-run exclude each other")
    # Every batch with all its vectors would go into the traces.
    os.environ.setdefault("FLOWKIT_TRACES", "0")

    from flowkit.cli.rag_apps import Target, loader_of
    from flowkit.cli.rag_index import Indexing

    target = Target.of(app, index, place=place)
    loader = loader_of(target, place, glob=glob, allow_private=allow_private)
    indexing = Indexing(target, place, loader, mode=mode, dry_run=dry_run, as_json=as_json)
    return indexing(max_tokens=max_tokens, overlap_tokens=overlap_tokens, watch=watch)


@click.command("rag:ask", context_settings=HELP)
@click.argument("question")
@_index_option
@_app_option
@click.option("-k", type=click.IntRange(1, 100), default=5, show_default=True, help="How many chunks to answer from")
@click.option("--model", metavar="NAME", help="Default: the app's, or local/extractive")
@click.option("--where", metavar="CONDITION", help='Only chunks with this metadata, for instance "page > 3"')
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def rag_ask(
    question: str, index: str | None, app: str | None, k: int, model: str | None, where: str | None, as_json: bool
) -> int:
    """Answer QUESTION from an index, and say where the answer stands: file, page or heading, and score.

    The run is traced; its id goes to stderr.
    """
    if not question.strip():
        raise CliError("the question is blank", hint="ask something")
    os.environ.setdefault("FLOWKIT_TRACES", "1")

    from flowkit.cli.rag_apps import Target
    from flowkit.cli.rag_ask import ask

    return ask(Target.of(app, index, place=None), question, k=k, model=model, where=where, as_json=as_json)


@click.command("rag:chunks", context_settings=HELP)
@click.argument("file", type=_Place(folder=False))
@_private_option
@_max_option
@_overlap_option
@click.option("--text", is_flag=True, help="With the whole text of each chunk")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def rag_chunks(
    file: Path | str,
    allow_private: bool,
    max_tokens: int | None,
    overlap_tokens: int | None,
    text: bool,
    as_json: bool,
) -> int:
    """Show how rag:index would cut FILE, or a page (https://…), without storing anything."""
    os.environ.setdefault("FLOWKIT_TRACES", "0")

    from flowkit.cli.rag_apps import Target, loader_of
    from flowkit.cli.rag_chunks import show_chunks

    target = Target.of(None, "chunks", place=None)
    loader = loader_of(target, file, allow_private=allow_private)
    return show_chunks(
        target, loader, max_tokens=max_tokens, overlap_tokens=overlap_tokens, whole=text, as_json=as_json
    )
