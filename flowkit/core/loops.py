"""Event loops: one private loop thread for sync callers, and values cached per loop.

    run_sync(lambda: flow("soup"))         # from a script, a notebook, another thread, a sync flow
    clients = PerLoop(make_client)         # an async client bound to the loop that uses it
"""

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from flowkit.errors import StateError

__all__ = ["PerLoop", "private_loop", "run_on", "run_sync"]

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def private_loop() -> asyncio.AbstractEventLoop:
    """The loop that serves sync callers; its daemon thread starts at the first use."""
    global _loop, _thread
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            started = threading.Event()

            def serve(loop: asyncio.AbstractEventLoop) -> None:
                asyncio.set_event_loop(loop)
                loop.call_soon(started.set)
                loop.run_forever()

            _thread = threading.Thread(target=serve, args=(_loop,), name="flowkit-loop", daemon=True)
            _thread.start()
            started.wait()
        return _loop


def _forked() -> None:
    global _loop, _thread, _lock
    _loop = _thread = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def run_on(loop: asyncio.AbstractEventLoop, start: Callable[[], Coroutine[Any, Any, T]]) -> "Future[T]":
    """Start a coroutine on a loop of another thread, with a copy of this thread's context variables.

    Cancelling the returned future cancels the coroutine.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def begin() -> None:
        if not future.set_running_or_notify_cancel():
            return
        task = loop.create_task(start(), context=context)
        stoppable[0] = task
        task.add_done_callback(finish)

    def finish(task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            future.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())

    stoppable: list[asyncio.Task[T] | None] = [None]
    future.stop = lambda: loop.call_soon_threadsafe(  # type: ignore[attr-defined]
        lambda: stoppable[0].cancel() if stoppable[0] else future.cancel()
    )
    loop.call_soon_threadsafe(begin)
    return future


def run_sync(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on the private loop and wait for it.

    Works in scripts, notebooks, threads, sync flows, and under a running loop of the caller (which is blocked meanwhile).
    Ctrl-C cancels the coroutine.

    Raises:
        StateError: called by code that runs on the private loop itself; it would wait for itself.
    """
    loop = private_loop()
    if threading.current_thread() is _thread:
        raise StateError("run_sync was called on flowkit's own loop", hint="await the action instead")
    future = run_on(loop, start)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.stop()  # type: ignore[attr-defined]
        raise


class PerLoop(Generic[T]):
    """A value per running loop, made at first use and dropped with its loop: for async clients that belong to one."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> T:
        """The running loop's value."""
        loop = asyncio.get_running_loop()
        with self._lock:
            value = self._values.get(loop)
            if value is None:
                value = self._values[loop] = self._make()
            return value

    def drain(self) -> list[tuple[asyncio.AbstractEventLoop, T]]:
        """Take all values out, for closing."""
        with self._lock:
            items = list(self._values.items())
            self._values.clear()
            return items
