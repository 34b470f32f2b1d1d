"""A coroutine as the main program of an app in dev: it runs, then its loop stays for developer tools.

run_main(ai, main())
"""

import asyncio
import signal
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from flowkit.errors import StateError
from flowkit.server.reflection.host import current_host
from flowkit.server.reflection.offer import let_go
from flowkit.server.reflection.program import Program

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["run_main"]

T = TypeVar("T")


def run_main(ai: "Flowkit", main: Coroutine[Any, Any, T]) -> T:
    """Run `main`; when this process serves `ai`, keep its loop until Ctrl-C, SIGTERM or a tool's word.

    The app is closed when this returns.

    Raises:
        StateError: an event loop runs here.
    """
    if _a_loop_runs():
        main.close()
        raise StateError("run_main was called while an event loop runs", hint="await the coroutine instead")
    let_go()  # what follows may be the whole life of the program
    host = current_host()
    if host is None or ai not in host.apps:
        return asyncio.run(_run(ai, main))
    program = _Main(ai, host.program)
    try:
        return asyncio.run(program.run(main))
    except asyncio.CancelledError:
        if program.told:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise


def _a_loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _run(ai: "Flowkit", main: Coroutine[Any, Any, T]) -> T:
    async with ai:
        return await main


class _Main:
    """The coroutine, and what comes after it."""

    told = False
    """SIGTERM, or a tool, has said that it is to end."""

    def __init__(self, ai: "Flowkit", program: Program) -> None:
        self._ai = ai
        self._program = program

    async def run(self, main: Coroutine[Any, Any, T]) -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # it is asyncio.run's

        def end() -> None:
            self.told = True
            loop.call_soon_threadsafe(task.cancel)

        self._ai.attach()
        self._program.take_over(end)
        try:
            async with self._ai:
                result = await main
                self._program.say()
                try:
                    await loop.create_future()
                except asyncio.CancelledError:
                    task.uncancel()
                return result
        finally:
            self._program.finish()
