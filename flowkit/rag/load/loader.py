"""What all loaders are: async iterables of documents, and of what had to be skipped, in an order that stays the same.

async for item in load.directory("docs"):
    print(item.source)                                  # Document | Skipped
"""

import asyncio
import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from flowkit.core.threads import run_in_thread
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.parsing import Item, Parsing, parsed
from flowkit.rag.load.skipped import Skipped

__all__ = ["Loader"]

_JOB_ITEMS = 16
_JOB_BYTES = 262_144


class Loader(ABC):
    """Finds items one after another, parses some of them at once, and gives them in the order of finding.

    Only a few items are in memory at a time, however many there are.
    """

    _at_once: int | None = None
    """How many are parsed at the same time; None: one for each core."""
    _together: int = _JOB_ITEMS
    """How many small ones are parsed in one go."""

    def __init__(self, parser: Parser | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        self._parsing = Parsing.of(parser, metadata)
        self.pending = False
        """True while items that were read are still to be handed out: the next one is not read anew."""

    @property
    def scope(self) -> str | None:
        """What the sources of all its items begin with, when it finds all there are; else None."""
        return None

    async def count(self) -> int | None:
        """How many items there are, where that is cheap to know."""
        return None

    @abstractmethod
    def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        """The items, in order, unread where that is possible."""

    async def __aiter__(self) -> AsyncGenerator[Item, None]:
        async with aclosing(self._jobs()) as groups:
            async for group in groups:
                tasks = [asyncio.ensure_future(self._parsed(job)) for job in group]
                try:
                    for at, task in enumerate(tasks, 1):
                        items = await task
                        for number, item in enumerate(items, 1):
                            self.pending = at < len(tasks) or number < len(items)
                            yield item
                finally:
                    self.pending = False
                    for task in tasks:
                        task.cancel()
                    await asyncio.wait(tasks)

    async def _parsed(self, job: list[Found | Skipped]) -> list[Item]:
        made = await run_in_thread(self._parse, (job,))
        items: list[Item] = []
        try:
            for each in made:
                item = await each if inspect.isawaitable(each) else each
                if item is not None:
                    items.append(item)
        finally:
            for each in made:
                if inspect.iscoroutine(each):
                    each.close()  # those that were not awaited, when this is cancelled
        return items

    def _parse(self, job: list[Found | Skipped]) -> list[object]:
        return [each if isinstance(each, Skipped) else parsed(self._parsing, each) for each in job]

    async def _jobs(self) -> AsyncGenerator[list[list[Found | Skipped]], None]:
        """As many jobs as run at once; small items share one."""
        at_once = self._at_once or os.cpu_count() or 1
        group: list[list[Found | Skipped]] = []
        room = 0
        async with aclosing(self._found()) as found:
            async for each in found:
                size = each.size_bytes if isinstance(each, Found) else 0
                if not group or size > room or len(group[-1]) >= self._together:
                    if len(group) == at_once:
                        yield group
                        group = []
                    group.append([])
                    room = _JOB_BYTES
                group[-1].append(each)
                room -= size
                if len(group) == at_once and (room <= 0 or len(group[-1]) >= self._together):
                    yield group
                    group = []
        if group:
            yield group
