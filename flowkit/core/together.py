"""Awaiting several things at once, so that nothing goes on when one of them fails.

found, kinds = await together(search(), read_kinds())
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

__all__ = ["together"]


async def together(*awaited: Awaitable[Any]) -> list[Any]:
    """Their results, in order. The first failure, or a cancellation, cancels the others, and is raised when all have
    ended."""
    tasks = [asyncio.ensure_future(each) for each in awaited]
    try:
        return await asyncio.gather(*tasks)
    finally:
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.gather(*left, return_exceptions=True)
