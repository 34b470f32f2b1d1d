"""The verbs `ingest` and `delete`, for any index that a vector store is behind.

report = await ingest(registry, "docs", "docs/", splitter="auto", options=Options(sync="source"))
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from flowkit.ai.step import run_step
from flowkit.core.registry import Registry
from flowkit.errors import InvalidInputError, NotFoundError, UnsupportedError
from flowkit.rag.ingest.chunks import Pipeline, Split
from flowkit.rag.ingest.defaults import default_splitter
from flowkit.rag.ingest.items import Ingestible, Items
from flowkit.rag.ingest.report import IngestReport, SyncMode
from flowkit.rag.ingest.run import Options, Run
from flowkit.rag.stores.serve import StoreActions, served_by
from flowkit.rag.transform.apply import Transform
from flowkit.schema.filters import F, Filter

__all__ = ["delete", "index_of", "ingest"]


async def ingest(
    registry: Registry,
    index: str,
    what: Ingestible,
    *,
    splitter: Split | Literal["auto"] | None = "auto",
    transform: Transform | None = None,
    transform_chunk: Transform | None = None,
    options: Options | None = None,
) -> IngestReport:
    """Run an ingest; see `Flowkit.ingest`."""
    options = options or Options()
    if options.sync not in get_args(SyncMode):
        raise InvalidInputError(f"sync is {options.sync!r}", hint='use "append", "source" or "full"')
    actions = await index_of(registry, index)
    root = registry.runtime.settings.root
    items = await Items.of(what, root=root if root.is_absolute() else Path.cwd())
    if splitter == "auto":
        embedder = await actions.cached_embedder(registry)
        splitter = await default_splitter(registry, embedder.name)
    elif isinstance(splitter, str):
        raise InvalidInputError(f"splitter is {splitter!r}", hint='pass "auto", a splitter, or None to split nothing')
    run = Run(
        registry,
        actions,
        items,
        Pipeline(splitter, transform=transform, transform_chunk=transform_chunk),
        options,
    )
    done: list[IngestReport] = []

    async def work(_: dict[str, Any]) -> dict[str, Any]:
        report = await run()
        done.append(report)
        # A trace has room for the sums, not for a hundred thousand ids.
        return report.model_copy(update={"ids": (), "plan": None}).to_wire()

    told = {"index": actions.name, "sync": options.sync, "what": str(what) if isinstance(what, str | Path) else None}
    await run_step(registry.runtime, "ingest", work, (told,), {})
    return done[0]


async def delete(
    registry: Registry,
    index: str,
    *,
    source: str | Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    where: Filter | str | None = None,
) -> int:
    """Delete chunks from an index; see `Flowkit.delete`."""
    if sum(each is not None for each in (source, ids, where)) != 1:
        raise InvalidInputError("delete takes exactly one of source, ids and where")
    store = (await index_of(registry, index)).store
    try:
        await store.open(create=False)
    except NotFoundError:
        return 0
    if source is not None:
        sources = [source] if isinstance(source, str) else list(source)
        return await store.delete(where=F("source").in_(sources)) if sources else 0
    return await store.delete(ids=ids, where=F.parse(where) if isinstance(where, str) else where)


async def index_of(registry: Registry, index: str) -> StoreActions:
    """The index of that name.

    Raises:
        NotFoundError: there is no indexer of that name.
        UnsupportedError: it is a function, and no vector store.
    """
    action = await registry.find("indexer", index)
    actions = served_by(action)
    if actions is None:
        raise UnsupportedError(
            f"the indexer {action.name!r} is a function, so it cannot be compared with what is ingested",
            hint="use ai.index with it, or a vector store",
        )
    return actions
