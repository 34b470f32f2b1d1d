"""Sync functions in threads: what they leave behind."""

import asyncio
import gc
import weakref

import pytest

from flowkit.core.threads import run_in_thread


class Held:
    """Something big in a function's frame."""


class Failure(Exception):
    pass


async def test_what_a_failed_function_held_goes_with_its_error():
    held: list[weakref.ref[Held]] = []

    def fails() -> None:
        big = Held()
        held.append(weakref.ref(big))
        raise Failure

    gc.disable()  # who waits for the collector holds megabytes meanwhile
    try:
        for _ in range(3):
            with pytest.raises(Failure):
                await run_in_thread(fails)
        await asyncio.sleep(0.05)  # the thread has yet to forget the last one
        assert [ref() for ref in held] == [None] * 3
    finally:
        gc.enable()


async def test_a_result_goes_when_it_is_not_wanted_any_more():
    kept = await run_in_thread(Held)
    ref = weakref.ref(kept)
    await asyncio.sleep(0.05)
    gc.disable()
    try:
        del kept
        assert ref() is None
    finally:
        gc.enable()
