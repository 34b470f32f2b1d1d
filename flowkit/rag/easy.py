"""Easy RAG: a folder in, answers out, with nothing to know of embedders, stores or splitters.

docs = easy_rag("docs/")
response = await docs.ask("How do I cancel?")
print(response.text, response.citations)
"""

import asyncio
from collections.abc import Awaitable, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from flowkit.ai.generate import ModelAction, Turns, generate
from flowkit.ai.retrieve import retrieve
from flowkit.config import Settings
from flowkit.core.loops import release_loop, run_sync
from flowkit.core.plugin import Plugin
from flowkit.core.registry import Registry
from flowkit.core.runtime import Runtime
from flowkit.core.threads import run_in_thread
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError
from flowkit.rag.embedder import caches_in_use
from flowkit.schema.documents import ScoredDocument
from flowkit.schema.filters import Filter
from flowkit.schema.model import GenerateResponse
from flowkit.tracing import start_tracing, stop_tracing

if TYPE_CHECKING:
    from flowkit.rag.ingest import IngestReport
    from flowkit.rag.ingest.meter import OnProgress

__all__ = ["EASY_EMBEDDER", "EASY_K", "EASY_MODEL", "EasyRag", "easy_plugins", "easy_rag", "index_name"]

T = TypeVar("T")

EASY_EMBEDDER = "local/all-minilm-l6-v2"
EASY_MODEL = "local/extractive"
EASY_K = 5


def easy_rag(
    folder: str | Path,
    *,
    model: str | ModelAction = EASY_MODEL,
    plugins: Sequence[Plugin] = (),
    index: str | None = None,
    settings: Settings | None = None,
) -> "EasyRag":
    """Questions to a folder of files (or one file): PDF, Office, HTML, Markdown, text and what else `parse.auto` reads.

    Nothing is read before the first question. Then the folder is indexed into the project's `.flowkit`, and each later
    object finds it there: only what has changed is read into the index again. Embeddings are made on this machine, and
    so are answers, which are sentences of the documents; name a `model` for answers in its own words.

    Args:
        model: By name or as an action; names of services need their plugin.
        plugins: For the model.
        index: A name for the index; by default the folder's path in the project.
        settings: Instead of the environment's.

    Raises:
        NotFoundError: there is no such file or folder.
        ConfigError: the local plugin or the dev store is not installed.
    """
    settings = settings or Settings.from_env()
    path = Path(folder)
    if not path.exists():
        raise NotFoundError(f"no file or folder {path.as_posix()!r}", hint="check the path and the working folder")
    return EasyRag(path, index or index_name(path, settings.root), model, plugins, settings)


class EasyRag:
    """See `easy_rag`. One event loop or several threads may use it; `async with` closes it."""

    def __init__(
        self, path: Path, index: str, model: str | ModelAction, plugins: Sequence[Plugin], settings: Settings
    ) -> None:
        self.path = path
        self.index = index
        self._model = model
        self._runtime = Runtime(start_tracing(settings), settings)
        self._registry = Registry([*easy_plugins(index, settings.data_folder), *plugins], runtime=self._runtime)
        self._syncing: asyncio.Task[IngestReport] | None = None

    async def sync(self, *, on_progress: "OnProgress | None" = None) -> "IngestReport":
        """Bring the index in step with the folder; the first question does it when nobody has.

        Raises:
            InvalidInputError: there is nothing to index in the folder.
        """
        from flowkit.rag.ingest import ingest
        from flowkit.rag.ingest.run import Options

        options = Options("full", on_progress=on_progress)
        report = await ingest(self._registry, f"devstore/{self.index}", self.path, options=options)
        if not report.ids:
            why = "; ".join(f"{item.source}: {item.reason}" for item in report.skipped[:3])
            raise InvalidInputError(
                f"there is nothing to index in {self.path.as_posix()!r}",
                hint=f"skipped: {why}" if why else "put PDF, Office, Markdown, text or HTML files there",
            )
        return report

    async def retrieve(
        self, query: str, *, k: int = EASY_K, min_score: float = 0.0, where: Filter | str | None = None
    ) -> list[ScoredDocument]:
        """The `k` best chunks, best first, by meaning and by words."""
        await self._ready()
        name = f"devstore/{self.index}"
        return await retrieve(self._registry, name, query, k=k, min_score=min_score, where=where, options=None)

    async def ask(self, question: str, *, k: int = EASY_K, where: Filter | str | None = None) -> GenerateResponse:
        """An answer from the `k` best chunks; what it rests on is in `citations`, the chunks are in `sources`."""
        found = await self.retrieve(question, k=k, where=where)
        return await generate(self._registry, Turns(question, docs=found), model=self._model, on_chunk=None)

    def run_sync(self, what: Awaitable[T]) -> T:
        """Wait for an awaitable of this object, in code that is not async: `docs.run_sync(docs.ask("…"))`."""

        async def start() -> T:
            return await what

        return run_sync(start, user=self._runtime)

    async def aclose(self) -> None:
        """Let go of files and models; the next question opens them again."""
        try:
            await self._registry.aclose(caches_in_use(self._runtime))
        finally:
            if self._runtime.tracing.sink is not None:
                await run_in_thread(stop_tracing, (self._runtime.tracing,))
            release_loop(self._runtime)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ready(self) -> None:
        """Sync once; questions that come meanwhile wait for it. After a failure the next question tries again."""
        loop = asyncio.get_running_loop()
        syncing = self._syncing
        failed = syncing is not None and syncing.done() and (syncing.cancelled() or syncing.exception() is not None)
        if syncing is None or failed or (not syncing.done() and syncing.get_loop() is not loop):
            syncing = self._syncing = loop.create_task(self.sync())
        if not syncing.done():
            await asyncio.shield(syncing)
        syncing.result()


def easy_plugins(index: str, data_folder: Path, *, embedder: str = EASY_EMBEDDER) -> list[Plugin]:
    """The plugins of an index that needs nothing but this machine.

    Raises:
        ConfigError: one is not installed.
    """
    store = _plugin("flowkit_devstore", "DevStore")
    made = store(index, embedder=embedder, mode="hybrid", folder=data_folder / "indexes")
    return [_plugin("flowkit_local", "Local")(), made]


def index_name(place: Path | str, root: Path) -> str:
    """The name of a folder's index: its path in the project, or its own name when it lies elsewhere.

    That of an address (a string) is what stands behind `https://`, without a query.
    """
    if isinstance(place, str) and "://" in place:
        return place.partition("://")[2].partition("?")[0].partition("#")[0].strip("/") or "root"
    path = Path(place).resolve()
    inside = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else "."
    return path.name or "root" if inside == "." else inside


def _plugin(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        if error.name != module:
            raise
        package = module.replace("_", "-")
        raise ConfigError(f"{package} is not installed", hint="pip install 'flowkit-ai[easy]'") from None
