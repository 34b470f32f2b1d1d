"""An open index: where it is, what is known of it, and the ways of reading that everything else is made of.

async for rows in session.scan(await session.plan(where), where): …
rows = await session.rows(ids)
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote_plus

from flowkit import Filter
from flowkit.errors import BackendError, FilterTypeError, StoreError
from flowkit.plugin import check, compile, together
from flowkit.rag.stores.turns import Turns
from flowkit_pinecone.catalog import Catalog, Identity
from flowkit_pinecone.link import Answer, Link, Place
from flowkit_pinecone.names import CATALOG, DEFAULT, record_id, row_id
from flowkit_pinecone.rows import ODD, Metric, decode_metadata
from flowkit_pinecone.waiting import Waiting
from flowkit_pinecone.where import Plan, keys, plan
from flowkit_pinecone.words import RULES

__all__ = ["Row", "Session", "Walk"]

T = TypeVar("T")

_URL = 6_000
"""Bytes of ids in one address: ids to fetch are sent there, and servers cut long ones."""
_MOST_IDS = 1_000
_LISTED = 100
_MATCHED = 100
_ALL = Plan(True, True)
_PLANS = 256
"""Filters whose plan is kept."""


class Row(NamedTuple):
    """A record as Pinecone gives it, under the row's own id."""

    id: str
    metadata: Mapping[str, Any] | None
    vector: Any = None
    words: Any = None
    """Its sparse values, where it has some: `indices` and `values`."""


class Walk(NamedTuple):
    """Where a listing of all rows stands: ids that were read ahead, and the token of the next ones."""

    ids: list[str]
    token: str | None


@dataclass
class Session:
    link: Link
    place: Place
    metric: Metric
    identity: Identity
    waiting: Waiting
    catalog: Catalog
    turns: Turns = field(default_factory=Turns)
    listing: tuple[Filter | None, list[str]] | None = None
    """The ids of the last filtered listing, in order, for its next pages."""
    walks: dict[str, Walk] = field(default_factory=dict)
    _plans: dict[Filter, Plan] = field(default_factory=dict)
    _planned_for: object = None
    """The types by which the plans were made."""

    @property
    def dimension(self) -> int:
        return self.identity.dimension or 0

    def check_words(self) -> None:
        """Before texts are written or searched by words.

        Raises:
            StoreError: the index has texts, but by the rules of another version.
        """
        if self.identity.words not in (None, RULES):
            raise StoreError(
                f"the texts of pinecone index {self.identity.index!r} were made searchable by rules "
                f"{self.identity.words}, this version has {RULES}",
                hint="copy the index into a new one (flowkit.rag.copy_index), or use the version that built it",
            )

    async def call(self, doing: str, method: str, **arguments: Any) -> Answer:
        return await self.link.call(self.place, doing, method, **arguments)

    async def fresh(self) -> None:
        """Before reading: wait until this store's own writes can be read."""
        await self.waiting.until_visible(self.place, self.dimension)

    async def plan(self, where: Filter | None) -> Plan:
        """What to ask Pinecone for.

        Raises:
            FilterTypeError: a value is of a type that its key has never had here.
        """
        if where is None:
            return _ALL
        await self.catalog.read()
        return self._plan(where)

    async def planned(self, where: Filter | None, find: Callable[[Plan], Awaitable[T]]) -> T:
        """What `find` gives by the plan, for a search. A type that a key has got from somebody else may be missed for a
        second. After that the search is tried by the types that are known, while they are read again, as reading them
        first would take as long as it does; when they have changed, it is tried again.

        Raises:
            FilterTypeError: as `plan` does.
        """
        if where is None:
            return await find(_ALL)
        if not keys(where) <= self.catalog.kinds.keys():
            return await find(await self.plan(where))
        try:
            before = self._plan(where)
        except FilterTypeError:
            return await find(await self.plan(where))
        if self.catalog.is_recent:
            return await find(before)
        found, now = await together(find(before), self.plan(where))
        return found if now == before else await find(now)

    def _plan(self, where: Filter) -> Plan:
        kinds = self.catalog.kinds
        if self._planned_for is not kinds or len(self._plans) >= _PLANS:
            self._planned_for, self._plans = kinds, {}
        found = self._plans.get(where)
        if found is None:
            check(where, {key: types - {ODD} for key, types in kinds.items()})
            found = self._plans[where] = plan(where, kinds)
        return found

    async def scan(self, planned: Plan, where: Filter | None) -> AsyncIterator[list[Row]]:
        """All rows that match, in no order."""
        if planned.where is False:
            return
        pages = self._everything() if planned.where is True else self._matching(planned.where)
        keep = None if planned.exact or where is None else compile(where)
        async for rows in pages:
            yield [row for row in rows if keep(decode_metadata(row.id, row.metadata))] if keep else rows

    async def rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows of these (distinct) ids that are there."""
        found: dict[str, Row] = {}
        for some in _addressed(ids):
            found.update((row.id, row) for row in await self._fetch(some))
        return found

    async def ids(self, token: str | None, prefix: str = "") -> Walk:
        """Some ids, in order, and the token for those after them."""
        begin = {"prefix": record_id(prefix)} if prefix else {}
        answer = await self.call("list", "list_paginated", limit=_LISTED, pagination_token=token, **begin)
        listed = [row_id(item.id) for item in answer.value.vectors]
        return Walk(listed, answer.value.pagination.next if answer.value.pagination else None)

    async def _everything(self) -> AsyncIterator[list[Row]]:
        token: str | None = None
        while True:
            walk = await self.ids(token)
            for some in _addressed(walk.ids):
                yield await self._fetch(some)
            token = walk.token
            if not token:
                return

    async def _matching(self, condition: Mapping[str, Any] | bool) -> AsyncIterator[list[Row]]:
        token: str | None = None
        limit = _MATCHED
        while True:
            try:
                answer = await self.call(
                    "search", "fetch_by_metadata", filter=condition, limit=limit, pagination_token=token
                )
            except BackendError as error:
                if error.status != "INVALID_ARGUMENT" or limit == 1:
                    raise
                limit //= 2  # big rows, of which not so many fit one answer
                continue
            yield _rows(answer)
            token = answer.value.pagination.next if answer.value.pagination else None
            if not token:
                return

    async def _fetch(self, ids: Sequence[str]) -> list[Row]:
        try:
            answer = await self.call("read", "fetch", ids=[record_id(id) for id in ids])
        except BackendError as error:
            if error.status != "INVALID_ARGUMENT" or len(ids) == 1:
                raise
            half = len(ids) // 2  # big rows, of which not so many fit one answer
            return [*await self._fetch(ids[:half]), *await self._fetch(ids[half:])]
        return _rows(answer)

    async def count(self) -> int:
        """How many rows Pinecone counts; it may be some seconds behind."""
        answer = await self.call("count", "describe_index_stats")
        names = (self.place.namespace,) if self.place.namespace else ("", "__default__")
        found = answer.value.namespaces
        return sum(found[name].vector_count for name in names if name in found)

    async def namespaces(self) -> dict[str, int]:
        """How many rows Pinecone counts in each namespace."""
        answer = await self.call("count", "describe_index_stats")
        found = {
            "" if name == DEFAULT else row_id(name): held.vector_count for name, held in answer.value.namespaces.items()
        }
        return {name: found[name] for name in sorted(found) if name != CATALOG}


def _rows(answer: Answer) -> list[Row]:
    return [
        Row(row_id(id), record.metadata, record.values, record.sparse_values)
        for id, record in answer.value.vectors.items()
    ]


def _addressed(ids: Sequence[str]) -> list[list[str]]:
    """The ids that have a record, in groups that fit one address."""
    groups: list[list[str]] = []
    left = 0
    for id in ids:
        size = len(quote_plus(id)) * 3 + len("ids=&")  # 3: each letter that we escape becomes three
        if not groups or size > left or len(groups[-1]) == _MOST_IDS:
            groups.append([])
            left = _URL
        groups[-1].append(id)
        left -= size
    return groups
