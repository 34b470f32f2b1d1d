"""Running transformers over many documents: in order, some at a time, leaving out what they leave out.

kept = await transform_all(strip_footers, documents)
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from flowkit.core.threads import run_in_thread
from flowkit.core.together import together
from flowkit.errors import InvalidOutputError
from flowkit.schema.documents import Document

__all__ = ["Transform", "transform_all", "transformed"]

Transform = Callable[[Document], Document | Awaitable[Document | None] | None]
"""One document or chunk in; the same, another, or None out."""

T = TypeVar("T")

_CONCURRENT = 8  # calls of an async transformer, which mostly waits for a model


async def transform_all(
    transform: Callable[[Document], T | Awaitable[T | None] | None], documents: Iterable[Document]
) -> list[T]:
    """What the transformer makes of each document, in order, without Nones.

    A sync function runs in a thread, one document after the other; of an async one, eight calls run at a time, and the
    first failure cancels the others.
    """
    documents = list(documents)
    call = getattr(transform, "__call__", None)  # noqa: B004  of an object, its method is looked at
    if not (inspect.iscoroutinefunction(transform) or inspect.iscoroutinefunction(call)):
        made = await run_in_thread(lambda: [transform(document) for document in documents])
        if not any(inspect.isawaitable(each) for each in made):
            return [each for each in made if each is not None]
        return [each for each in await asyncio.gather(*made) if each is not None]  # lambdas that hand on a coroutine
    gate = asyncio.Semaphore(_CONCURRENT)

    async def one(document: Document) -> T | None:
        async with gate:
            found: T | None = await transform(document)  # type: ignore[misc]  # it is a coroutine function
            return found

    found = await together(*map(one, documents))
    return [each for each in found if each is not None]


async def transformed(transform: Transform | None, documents: list[Document], what: str) -> list[Document]:
    """`transform_all`, for a transformer that may be absent and must give documents.

    Raises:
        InvalidOutputError: it gave something else.
    """
    if transform is None:
        return documents
    found = await transform_all(transform, documents)
    wrong = next((each for each in found if not isinstance(each, Document)), None)
    if wrong is not None:
        raise InvalidOutputError(
            f"{what} gave a {type(wrong).__name__}", hint="return a Document, or None to leave it out"
        )
    return found
