"""How a store talks to Chroma: in this process, or with a server, on threads or on the event loop.

link = Server(address, transport="async")
await link.connect("menu", create=False)
await link.call("menu", "count")

Every failure leaves here as an error of ours.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, Protocol

from flowkit.errors import BackendError, FlowkitError, InvalidInputError, NotFoundError

__all__ = ["Link", "settings", "translated"]


def settings(*, verify: bool | None = None) -> Any:
    """Chroma's settings for a new client, which changes them.

    They are read from the environment once: looking at each of their hundred names takes longer than a request.
    """
    return _read_settings(verify).model_copy()


@cache
def _read_settings(verify: bool | None) -> Any:
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False, chroma_server_ssl_verify=verify)


class Link(Protocol):
    """One database. Collections are named, not held: their objects go with the client when that is made anew."""

    place: str
    """Where the data is, for messages."""

    titles: dict[str, str]
    """Collection → the index it belongs to, for messages."""

    async def connect(self, name: str, *, create: bool) -> bool:
        """Make the client, for a collection; False when there is no database, and `create` is False."""
        ...

    async def metadata(self, name: str) -> Mapping[str, Any] | None:
        """A collection's metadata, None when it is not there."""
        ...

    async def create(self, name: str, metadata: Mapping[str, Any]) -> None:
        """Make a collection unless it is there, compared by cosine."""
        ...

    async def call(self, name: str, method: str, **arguments: Any) -> Any:
        """Call a collection's method."""
        ...

    async def batch_size(self) -> int:
        """How many rows one call takes."""
        ...

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Be the only writer of this process; in a folder, the only one at all."""
        ...

    async def refresh(self, name: str) -> None:
        """Before reading a collection: see what other processes have written."""
        ...

    @property
    def version(self) -> object | None:
        """Changes with everything written, by whomever; None when that cannot be told without asking."""
        ...

    @property
    def epoch(self) -> object | None:
        """Changes when another process has written; None when that cannot be told without asking."""
        ...

    def size_bytes(self) -> int | None: ...

    async def aclose(self) -> None: ...


def translated(error: Exception, *, place: str, name: str, method: str, hint: str) -> FlowkitError:
    """An error of Chroma, or of the connection, as one of ours."""
    from chromadb.errors import InvalidArgumentError, InvalidDimensionException
    from chromadb.errors import NotFoundError as Missing

    if isinstance(error, FlowkitError):
        return error
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    what = f"chroma could not {_DOING.get(method, method)} index {name!r} ({place}): {text}"
    if any(sign in text.lower() for sign in _FULL):
        return BackendError(what, status="RESOURCE_EXHAUSTED", hint="free some space and do it again")
    if isinstance(error, Missing):
        return NotFoundError(what, hint="it was deleted by another program; open it again")
    if isinstance(error, InvalidDimensionException) or (
        isinstance(error, InvalidArgumentError) and "dimension" in str(error)
    ):
        return InvalidInputError(what, hint="use the embedder that the index was built with, or build a new index")
    return BackendError(what, hint=hint)


_FULL = ("disk is full", "no space left", "disk quota exceeded")
_DOING = {"get": "read", "query": "search", "upsert": "write to", "delete": "delete from", "count": "count",
          "modify": "change", "create": "make", "open": "open"}  # fmt: skip
