"""An open index: its link, what is known of it, and the ways of reading that everything else is made of.

ids = await session.matching(F("price") < 10)
rows = await session.rows(ids, "metadatas", "documents")
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from flowkit import Filter
from flowkit.errors import FilterTypeError
from flowkit.plugin import compile, together
from flowkit_chroma.catalog import Catalog, Identity
from flowkit_chroma.links import Link
from flowkit_chroma.rows import decode_metadata
from flowkit_chroma.where import Plan, is_settled, plan

if TYPE_CHECKING:
    from flowkit_chroma.words import Words

__all__ = ["STEP", "Row", "Session"]

Result = TypeVar("Result")
STEP = 2_000
"""Rows that are read at a time."""
_ALL = Plan(True, True)


class Row(NamedTuple):
    """A record as Chroma gives it; None for what was not asked for."""

    id: str
    metadata: Mapping[str, Any] | None
    text: str | None
    vector: Any


@dataclass
class Session:
    link: Link
    collection: str
    identity: Identity
    catalog: Catalog
    words: "Words | None" = None
    listing: tuple[Filter | None, list[str]] | None = None
    """The ids of the last listing, in order, for its next pages."""

    async def call(self, method: str, **arguments: Any) -> Any:
        return await self.link.call(self.collection, method, **arguments)

    async def plan(self, where: Filter | None) -> Plan:
        """What to ask Chroma for.

        Raises:
            FilterTypeError: a value is of a type that its key has never had here.
        """
        if where is None:
            return _ALL
        await self.catalog.read()
        self.catalog.check(where)
        return plan(where, self.catalog.kinds)

    async def planned(self, where: Filter | None, work: Callable[[Plan], Awaitable[Result]]) -> Result:
        """Do the work with the plan for a filter.

        A server is asked for key types only where they could change the plan, and meanwhile, not before: they hardly
        ever change. When they have, the work is done again.
        """
        if where is None or self.link.epoch is not None or not self.catalog.kinds:
            return await work(await self.plan(where))
        guess = plan(where, self.catalog.kinds)
        if self._is_settled(where):
            return await work(guess)
        found, right = await together(work(guess), self.plan(where))
        return found if right == guess else await work(right)

    def _is_settled(self, where: Filter) -> bool:
        """Whether a filter is fine, and its plan right, whatever others have written by now: types are only added."""
        if not is_settled(where, self.catalog.kinds):
            return False
        try:
            self.catalog.check(where)
        except FilterTypeError:
            return False
        return True

    async def matching(self, where: Filter | None, planned: Plan | None = None) -> list[str]:
        """The ids of all rows that match, in no order."""
        planned = planned or await self.plan(where)
        if planned.where is False:
            return []
        condition = {} if planned.where is True else {"where": planned.where}
        if planned.exact or where is None:
            found = await self.call("get", include=[], **condition)
            return list(found["ids"])
        keep = compile(where)
        found = await self.call("get", include=["metadatas"], **condition)
        return [
            id
            for id, metadata in zip(found["ids"], found["metadatas"], strict=True)
            if keep(decode_metadata(id, metadata))
        ]

    async def rows(self, ids: Sequence[str], *include: str) -> dict[str, Row]:
        """The rows of these (distinct) ids that are there."""
        found: dict[str, Row] = {}
        async for rows in self.batches(ids, *include):
            found.update((row.id, row) for row in rows)
        return found

    async def batches(self, ids: Sequence[str], *include: str) -> AsyncIterator[list[Row]]:
        step = min(STEP, await self.link.batch_size())
        for at in range(0, len(ids), step):
            found = await self.call("get", ids=list(ids[at : at + step]), include=list(include))
            yield _rows(found)


def _rows(found: Mapping[str, Any]) -> list[Row]:
    ids = found["ids"]
    columns = [found[name] for name in ("metadatas", "documents", "embeddings")]
    return list(map(Row, ids, *([None] * len(ids) if column is None else column for column in columns)))
