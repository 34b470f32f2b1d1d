"""One run of an ingest: read, compare, embed, write side by side, and delete what is outdated when all of it is in.

report = await Run(registry, actions, items, pipeline, Options(sync="source"))()
"""

import asyncio
import inspect
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from uuid import uuid4

from flowkit.core.registry import Registry
from flowkit.errors import InvalidInputError
from flowkit.rag.ingest.chunks import Pipeline
from flowkit.rag.ingest.items import Items
from flowkit.rag.ingest.ledger import Ledger
from flowkit.rag.ingest.meter import Meter, OnProgress
from flowkit.rag.ingest.outdated import Outdated
from flowkit.rag.ingest.reading import Reader, Window
from flowkit.rag.ingest.report import IngestPlan, IngestReport, SyncMode
from flowkit.rag.ingest.summary import plan_of, source_counts
from flowkit.rag.ingest.tally import Tally
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.rag.stores.serve import StoreActions
from flowkit.rag.stores.write import Writer

__all__ = ["OnPlan", "Options", "Run"]

OnPlan = Callable[[IngestPlan], bool | Awaitable[bool | None] | None]

_WINDOW = 64  # chunks that are compared, embedded and written together
_CONCURRENT = 4  # windows that are under way at a time
_QUEUE = 8  # windows that are read ahead
_INTO_QUEUE = Window | BaseException | None


@dataclass(frozen=True, slots=True)
class Options:
    """What an ingest is asked for; see `Flowkit.ingest`."""

    sync: SyncMode = "source"
    dry_run: bool = False
    allow_empty: bool = False
    on_plan: OnPlan | None = None
    on_progress: OnProgress | None = None


class Run:
    """One call of `Flowkit.ingest`."""

    def __init__(
        self, registry: Registry, actions: StoreActions, items: Items, pipeline: Pipeline, options: Options
    ) -> None:
        self._registry = registry
        self._actions = actions
        self._items = items
        self._pipeline = pipeline
        self._options = options
        self._id = uuid4().hex
        self._meter = Meter(
            options.on_progress,
            stage="reading" if options.dry_run or options.on_plan else "indexing",
            total=items.total,
        )
        self._written = self._updated = self._deleted = 0
        self._warnings: list[str] = []

    async def __call__(self) -> IngestReport:
        """Do it. What is written stays, whatever comes after; a rerun does the rest.

        Raises:
            InvalidInputError: a full sync found nothing at all to ingest, and the index is not empty.
            Exception: what reading, embedding or storing raises; nothing is deleted then.
        """
        began = time.monotonic()
        writer = await self._actions.writer(self._registry)
        with Tally() as tally:
            async with self._ledger() as ledger:
                reader = Reader(self._items, self._pipeline, tally, ledger, self._id)
                outdated = Outdated(self._actions.store, tally, ledger, self._items, self._options.sync, self._id)
                if await writer.open():
                    await outdated.begin()
                self._meter.say()
                plan = None
                if self._options.dry_run or self._options.on_plan is not None:
                    plan = await self._plan(writer, reader, tally, outdated)
                    go = not self._options.dry_run and await self._agreed(plan)
                    if go:
                        pending = plan.added + plan.updated
                        self._meter.enter("indexing", unit="chunks", total=pending, chunks=plan.unchanged)
                        await self._write_all(writer, tally, _spooled(tally, _window_size(writer)))
                else:
                    go = True
                    await self._stream(writer, reader, tally)
                    await self._find(writer, reader, tally, outdated)
                if go and tally.count()["removed"]:
                    self._meter.enter("deleting", unit="chunks", total=tally.count()["removed"])
                    async for deleted in outdated.delete():
                        self._deleted += deleted
                        self._meter.advance(chunks=deleted)
                self._meter.enter("done", unit="documents", total=reader.documents, done=reader.documents)
                return self._report(writer, reader, tally, plan, time.monotonic() - began)

    async def _plan(self, writer: Writer, reader: Reader, tally: Tally, outdated: Outdated) -> IngestPlan:
        """Read everything and compare it; what is to be written waits on the disk."""
        async with aclosing(reader.windows(_window_size(writer))) as windows:
            async for window in windows:
                new, updated = await writer.compare(window.rows)
                tally.note(new=_ids(new), updated=_ids(updated))
                if not self._options.dry_run:
                    tally.put([*updated, *new], window.stamp)
                self._meter.advance(documents=window.documents, chunks=len(window.rows))
        await self._find(writer, reader, tally, outdated)
        skipped = (*reader.skipped, *self._pipeline.skipped)
        return plan_of(
            tally,
            index=self._actions.name,
            sync=self._options.sync,
            documents=reader.documents,
            skipped=skipped,
            warnings=tuple(self._pipeline.warnings),
        )

    async def _agreed(self, plan: IngestPlan) -> bool:
        if self._options.on_plan is None:
            return True
        answer = self._options.on_plan(plan)
        return (await answer if inspect.isawaitable(answer) else answer) is not False

    async def _find(self, writer: Writer, reader: Reader, tally: Tally, outdated: Outdated) -> None:
        if await writer.open():
            await outdated.find()
        removed = tally.count()["removed"]
        if removed and not reader.documents and not self._options.allow_empty and self._options.sync == "full":
            raise InvalidInputError(
                f"there is nothing to ingest, and a full sync of nothing would delete {removed} chunks of "
                f"{self._actions.name!r}",
                hint="check the path; if they are to go, pass allow_empty=True",
            )

    async def _stream(self, writer: Writer, reader: Reader, tally: Tally) -> None:
        """Reading goes on while windows are embedded and written, but never far ahead."""
        queue: asyncio.Queue[_INTO_QUEUE] = asyncio.Queue(_QUEUE)

        async def fill() -> None:
            try:
                async with aclosing(reader.windows(_window_size(writer))) as windows:
                    async for window in windows:
                        await queue.put(window)
            except Exception as error:  # noqa: BLE001  raised once what was read before is written
                await queue.put(error)
            else:
                await queue.put(None)

        filling = asyncio.create_task(fill())
        try:
            await self._write_all(writer, tally, _queued(queue))
        finally:
            filling.cancel()
            await asyncio.wait([filling])

    async def _write_all(self, writer: Writer, tally: Tally, windows: AsyncGenerator[Window, None]) -> None:
        """Some windows at a time. After a failure no further one begins; those under way are finished and kept."""
        running: set[asyncio.Task[None]] = set()
        failures: list[BaseException] = []

        async def wait(when: str) -> None:
            done, rest = await asyncio.wait(running, return_when=when)
            running.intersection_update(rest)
            failures.extend(error for task in done if (error := task.exception()) is not None)

        try:
            try:
                async with aclosing(windows):
                    async for window in windows:
                        if len(running) == _CONCURRENT:
                            await wait(asyncio.FIRST_COMPLETED)
                        if failures:
                            break
                        running.add(asyncio.create_task(self._write(writer, tally, window)))
            except Exception as error:  # noqa: BLE001  raised below
                failures.append(error)
            while running:
                await wait(asyncio.ALL_COMPLETED)
        finally:
            for task in running:  # when this is cancelled; else there are none left
                task.cancel()
            if running:
                await asyncio.wait(running)
        if failures:
            raise failures[0]

    async def _write(self, writer: Writer, tally: Tally, window: Window) -> None:
        new, updated = await writer.sync(window.rows) if window.rows else ([], [])
        tally.note(new=_ids(new), updated=_ids(updated))
        self._written += len(new)
        self._updated += len(updated)
        self._meter.advance(documents=window.documents, chunks=len(window.rows))

    def _ledger(self) -> Ledger:
        """Where runs over this index tell each other what they read."""
        settings = self._registry.runtime.settings
        store = self._actions.store
        private = f"flowkit-{id(store)}"
        if self._options.dry_run:
            return Ledger.open(f"flowkit-{self._id}")
        if isinstance(store, InMemoryStore) or not settings.root.is_absolute():
            return Ledger.open(private)
        file = settings.data_folder / "sync" / f"{self._actions.place}.db"
        try:
            return Ledger.open(file)
        except (sqlite3.Error, OSError) as error:
            self._warnings.append(
                f"{file} cannot be used ({error}): other processes must not sync {self._actions.name!r} at this time"
            )
            return Ledger.open(private)

    def _report(
        self, writer: Writer, reader: Reader, tally: Tally, plan: IngestPlan | None, seconds: float
    ) -> IngestReport:
        count = tally.count()
        embedder = writer.embedder
        warnings = [*self._warnings, *self._pipeline.warnings]
        if embedder.windowed:
            limit = embedder.info.max_input_tokens
            warnings.append(
                f"{embedder.windowed} chunks have more than the {limit} tokens that {embedder.name!r} takes at once, "
                "and are embedded as the mean of their windows"
            )
        return IngestReport(
            index=self._actions.name,
            sync=self._options.sync,
            run_id=self._id,
            documents=reader.documents,
            written=self._written,
            updated=self._updated,
            unchanged=count["unchanged"],
            deleted=self._deleted,
            outdated=count["outdated"],
            sources=source_counts(tally),
            ids=tally.ids(),
            usage=embedder.usage,
            windowed=embedder.windowed,
            cached=embedder.hits,
            cleaned_characters=self._pipeline.cleaned,
            skipped=(*reader.skipped, *self._pipeline.skipped),
            warnings=tuple(warnings),
            seconds=round(seconds, 3),
            plan=plan,
        )


def _window_size(writer: Writer) -> int:
    return min(_WINDOW, writer.embedder.batch_size)


def _ids(documents: Iterable[object]) -> list[str]:
    return [getattr(document, "id", None) or "" for document in documents]


async def _queued(queue: "asyncio.Queue[_INTO_QUEUE]") -> AsyncGenerator[Window, None]:
    while (item := await queue.get()) is not None:
        if isinstance(item, BaseException):
            raise item
        yield item


async def _spooled(tally: Tally, size: int) -> AsyncGenerator[Window, None]:
    for rows, stamp in tally.take(size):
        yield Window(rows, stamp)
