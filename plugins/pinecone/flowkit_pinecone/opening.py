"""Finding an index in Pinecone, or making it.

session = await Opening(index="menu", …).open(link, create=True, dimension=384, embedder=None)
"""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flowkit.errors import BackendError, IdentityError, NotFoundError, StoreError
from flowkit_pinecone.catalog import Catalog, Identity
from flowkit_pinecone.link import Link, Place
from flowkit_pinecone.names import pinecone_name
from flowkit_pinecone.rows import Metric
from flowkit_pinecone.session import Session
from flowkit_pinecone.waiting import Waiting
from flowkit_pinecone.words import RULES

if TYPE_CHECKING:
    from pinecone.models.indexes.index import IndexModel

__all__ = ["Opening"]

_FIRST_WAIT = 0.05
_LONGEST_WAIT = 2.0
_COPY = "copy the index into a new one, which embeds nothing again: flowkit store:copy … --to hybrid=true"


@dataclass(frozen=True)
class Opening:
    """Which index and namespace, and how an index is made that is not there. With `hybrid` the metric is dotproduct."""

    index: str
    namespace: str
    metric: Metric
    hybrid: bool
    cloud: str
    region: str
    wait_seconds: float
    ready_seconds: float

    async def open(self, link: Link, *, create: bool, dimension: int | None, embedder: str | None) -> Session | None:
        """None when it is not there, and there is no dimension to make it with.

        Raises:
            NotFoundError: it is not there, and `create` is False.
        """
        name = pinecone_name(self.index)
        model = await link.describe(name, self._doing("open"))
        made = False
        if model is None or model.status.state == "Terminating":
            if not create:
                raise NotFoundError(f"there is no index {self.index!r} in Pinecone", hint="index documents first")
            if dimension is None:
                return None
            if model is not None:
                await self._gone(link, name, model)
            made = await self._create(link, name, dimension)
            model = None
        model = await self._ready(link, name, model)
        self._check(model)
        place = Place(self.index, name, model.host or "", self.namespace)
        waiting = Waiting(link, self.wait_seconds)
        catalog = Catalog(link, place, waiting)
        words = RULES if self.hybrid else None
        identity = Identity(self.index, None, model.dimension, words).joined(embedder=embedder, dimension=dimension)
        if made:
            await catalog.identify(identity)
        else:
            stored = await self._stored(catalog, model)
            if stored is None:
                if not create:
                    raise NotFoundError(f"there is no index {self.index!r} in Pinecone", hint="index documents first")
                await catalog.identify(identity)
            else:
                identity = stored
                identity.joined(embedder=embedder, dimension=dimension)
                self._check_words(identity)
        session = Session(link, place, self.metric, identity, waiting, catalog)
        await catalog.read()
        return session

    async def _create(self, link: Link, name: str, dimension: int) -> bool:
        spec = {"serverless": {"cloud": self.cloud, "region": self.region}}
        return await link.create(name, self._doing("make"), spec=spec, dimension=dimension, metric=self.metric)

    async def _gone(self, link: Link, name: str, model: "IndexModel | None") -> None:
        """Wait until an index that is being deleted is gone."""
        await self._polled(
            link,
            name,
            model,
            lambda found: found is None or found.status.state != "Terminating",
            "is still being deleted",
        )

    async def _ready(self, link: Link, name: str, model: "IndexModel | None") -> "IndexModel":
        found: IndexModel = await self._polled(
            link, name, model, lambda found: found is not None and found.status.ready and found.host, "is not ready"
        )
        return found

    async def _polled(self, link: Link, name: str, model: "IndexModel | None", done: Any, what: str) -> Any:
        began = time.monotonic()
        seconds = _FIRST_WAIT
        found = model if model is not None else await link.describe(name, self._doing("open"))
        while not done(found):
            if found is not None and found.status.state in ("InitializationFailed", "Disabled"):
                raise BackendError(
                    f"pinecone index {self.index!r} ({name!r} in Pinecone) is in state {found.status.state}",
                    hint="look at it in Pinecone's console",
                )
            if time.monotonic() - began > self.ready_seconds:
                raise BackendError(
                    f"pinecone index {self.index!r} ({name!r} in Pinecone) {what} after {self.ready_seconds:g} seconds",
                    status="DEADLINE_EXCEEDED",
                )
            await asyncio.sleep(seconds)
            seconds = min(seconds * 2, _LONGEST_WAIT)
            found = await link.describe(name, self._doing("open"))
        return found

    async def _stored(self, catalog: Catalog, model: "IndexModel") -> Identity | None:
        """The identity that is written down. Whoever makes an index writes it at once, so an empty index without one
        is new, and its maker gets a moment."""
        began = time.monotonic()
        seconds = _FIRST_WAIT
        while True:
            answer = await catalog.link.call(catalog.rows, "count", "describe_index_stats")
            metadata = await catalog.identity()  # after the count, as it is written before all else
            if metadata is not None:
                return Identity.read(self.index, metadata, model.dimension)
            if answer.value.total_vector_count:
                raise StoreError(
                    f"pinecone index {self.index!r} was not made by flowkit: it has records, but none of ours",
                    hint="take another name for the index; the records are left as they are",
                )
            if time.monotonic() - began > min(self.wait_seconds, 5.0):
                return None
            await asyncio.sleep(seconds)
            seconds = min(seconds * 2, _LONGEST_WAIT)

    def _check_words(self, identity: Identity) -> None:
        if self.hybrid and identity.words is None:
            raise IdentityError(
                f"pinecone index {self.index!r} was built without hybrid=True: its rows cannot be found by words",
                hint=f"leave out hybrid=True, or {_COPY}",
            )
        if identity.words is not None and not self.hybrid:
            raise IdentityError(
                f"pinecone index {self.index!r} was built with hybrid=True: its rows are found by words as well",
                hint=f"open it with Pinecone({self.index!r}, hybrid=True)",
            )

    def _check(self, model: "IndexModel") -> None:
        if model.vector_type != "dense" or model.dimension is None:
            raise StoreError(f"pinecone index {self.index!r} is of type {model.vector_type!r}, not 'dense'")
        if model.metric == self.metric:
            return
        if self.hybrid:
            raise IdentityError(
                f"pinecone index {self.index!r} was built with metric {model.metric!r}, and hybrid search needs "
                "'dotproduct'",
                hint=f"leave out hybrid=True, or {_COPY}",
            )
        or_hybrid = ", or hybrid=True if it was built with that" if model.metric == "dotproduct" else ""
        raise IdentityError(
            f"pinecone index {self.index!r} was built with metric {model.metric!r}, not {self.metric!r}",
            hint=f"use metric={model.metric!r}{or_hybrid}, or build a new index",
        )

    def _doing(self, what: str) -> str:
        name = pinecone_name(self.index)
        return f"{what} index {self.index!r}" + (f" ({name!r} in Pinecone)" if name != self.index else "")
