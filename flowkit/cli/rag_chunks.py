"""`rag:chunks` at work: one file, cut as `rag:index` would cut it.

show_chunks(target, load.file("guide.md"), max_tokens=None, overlap_tokens=None, whole=False, as_json=False)
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing

from rich.text import Text

from flowkit.cli.lines import CliError, one_line, say
from flowkit.cli.rag_apps import Target, finish
from flowkit.cli.running import run_work
from flowkit.cli.tables import Column, print_json, print_lines, print_table, styled
from flowkit.cli.units import number
from flowkit.rag.ingest import default_splitter, tokenizer_of
from flowkit.rag.load import Loader
from flowkit.rag.split.tokens import as_tokenizer
from flowkit.schema.documents import Document

__all__ = ["show_chunks"]


def show_chunks(
    target: Target, loader: Loader, *, max_tokens: int | None, overlap_tokens: int | None, whole: bool, as_json: bool
) -> int:
    """Print them; returns the exit code."""
    ai = target.ai

    async def work() -> tuple[Document, list[Document], Callable[[str], int]]:
        document = await _first(loader)
        embedder = await target.embedder()
        splitter = await default_splitter(ai.registry, embedder, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
        return document, splitter(document), as_tokenizer(tokenizer_of(ai.registry, embedder)).count

    outcome = run_work(ai, work)
    exit_code = finish(outcome, interrupted="interrupted")
    if outcome.result is None:
        return exit_code
    document, chunks, count = outcome.result
    if as_json:
        print_json([{"text": chunk.text, "tokens": count(chunk.text), **chunk.metadata} for chunk in chunks])
    elif not chunks:
        say(f"{document.source} has no text", "dim")
    elif whole:
        print_lines(_whole(chunks, count))
    else:
        _print_table(chunks, count)
        tokens = number(count(document.text))
        print_lines([styled(f"{document.source}: {tokens} tokens in {number(len(chunks))} chunks", "dim")])
    return exit_code


async def _first(loader: Loader) -> Document:
    async with aclosing(aiter(loader)) as items:
        async for item in items:
            if isinstance(item, Document):
                return item
            told = item.reason if item.source in item.reason else f"{item.source}: {item.reason}"
            raise CliError(told, hint=item.hint, exit_code=1)
    raise CliError("there is no file", hint="check the address", exit_code=1)


def _print_table(chunks: Sequence[Document], count: Callable[[str], int]) -> None:
    columns = (
        Column("#", "accent", right=True),
        Column("Place"),
        Column("Tokens", right=True),
        Column("Characters", right=True),
        Column("Begins", "dim", cut=True),
    )
    rows = [
        (
            str(chunk.metadata["index"]),
            _place(chunk),
            number(count(chunk.text)),
            f"{chunk.metadata['start']}…{chunk.metadata['end']}",
            one_line(chunk.text[:200]),
        )
        for chunk in chunks
    ]
    print_table(columns, rows)


def _place(chunk: Document) -> str:
    page, heading = chunk.metadata.get("page"), chunk.metadata.get("heading")
    return f"page {page}" if page is not None else str(heading or "–")


def _whole(chunks: Sequence[Document], count: Callable[[str], int]) -> Iterator[Text]:
    for chunk in chunks:
        span = f"{chunk.metadata['start']}…{chunk.metadata['end']}"
        told = f"{_place(chunk)}, {number(count(chunk.text))} tokens, characters {span}"
        yield Text.assemble(styled(f"── {chunk.metadata['index']} ", "accent"), styled(told, "dim"))
        for line in chunk.text.splitlines():
            yield styled(line, "", whole=True)
        yield Text()
