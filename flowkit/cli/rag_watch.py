"""Changes below a folder, a burst of them at a time, none lost while the last ones are worked on.

async with watching(load.directory("docs")) as changes:
    async for _ in changes: ...
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from flowkit.rag.load import Files

__all__ = ["watching"]

_QUIET_MS = 200  # a burst is over when nothing has changed for so long
_LONGEST_MS = 2000  # or when it has lasted so long


@asynccontextmanager
async def watching(files: Files) -> AsyncIterator[AsyncIterator[None]]:
    """Watch from now on: what changes before the first is asked for counts, too."""
    from watchfiles import awatch

    bursts = awatch(
        files.path,
        watch_filter=lambda _, path: files.includes(Path(path)),
        debounce=_LONGEST_MS,
        step=_QUIET_MS,
        ignore_permission_denied=True,
    )
    # The system is asked to watch when the first burst is waited for.
    coming = asyncio.ensure_future(anext(bursts))

    async def changes() -> AsyncGenerator[None, None]:
        nonlocal coming
        while True:
            await asyncio.shield(coming)
            coming = asyncio.ensure_future(anext(bursts))
            yield

    told = changes()
    try:
        yield told
    finally:
        await told.aclose()
        coming.cancel()
        await asyncio.wait([coming])
        await bursts.aclose()
