"""Threads for sync functions: a pool that grows under nesting, so a sync flow that waits for another never starves it.

result = await run_in_thread(fn, args, kwargs)
"""

import asyncio
import contextlib
import contextvars
import functools
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

__all__ = ["Waiter", "current_waiter", "pump", "run_in_thread", "start_in_thread", "trim_threads"]

_IDLE_SECONDS = 10.0
_JOIN_SECONDS = 1.0

Work = Callable[[], Callable[[], object]]
"""Does the work, and returns what tells of its result."""
Inbox = queue.SimpleQueue[Work | None]


class Waiter:
    """Whoever waits for a function in a thread. When it leaves, what the function itself waits for is cancelled."""

    __slots__ = ("_lock", "_stops", "gone")

    def __init__(self) -> None:
        self.gone = False
        self._lock = threading.Lock()
        self._stops: list[Callable[[], object]] = []

    def leave(self) -> None:
        """The result is not wanted any more."""
        with self._lock:
            self.gone = True
            stops, self._stops = self._stops, []
        for stop in stops:
            stop()

    def on_leave(self, stop: Callable[[], object]) -> bool:
        """Call `stop` when the waiter leaves; False when it has left already."""
        with self._lock:
            if not self.gone:
                self._stops.append(stop)
            return not self.gone

    def forget(self, stop: Callable[[], object]) -> None:
        with self._lock:
            if stop in self._stops:
                self._stops.remove(stop)


_waiter: ContextVar[Waiter | None] = ContextVar("flowkit_waiter", default=None)


def current_waiter() -> Waiter | None:
    """Who waits for the function that runs in this thread; None outside such a thread."""
    return _waiter.get()


class _Pool:
    """Idle threads are reused, last used first; when all are busy a new one starts. They end after 10 idle seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Inbox] = []
        self._threads: dict[Inbox, threading.Thread] = {}

    def submit(self, work: Work) -> None:
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            # Daemon: a sync function that never returns must not keep the process alive.
            thread = threading.Thread(target=self._serve, args=(inbox,), name="flowkit-sync", daemon=True)
            thread.start()
            with self._lock:
                self._threads[inbox] = thread
        inbox.put(work)

    def trim(self) -> None:
        """End the threads that are idle now, and wait until they have."""
        with self._lock:
            inboxes, self._idle = self._idle, []
            threads = [self._threads.pop(inbox) for inbox in inboxes]
        for inbox in inboxes:
            inbox.put(None)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_JOIN_SECONDS)

    def _serve(self, inbox: Inbox) -> None:
        while True:
            try:
                work = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        del self._threads[inbox]
                        return
                continue  # work was handed over in this very moment
            if work is None:
                return
            tell = work()
            del work
            # First idle, then done: whoever hears of the result finds the thread free, or can end it.
            with self._lock:
                self._idle.append(inbox)
            tell()
            del tell


_pool = _Pool()


def _forked() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def trim_threads() -> None:
    """End idle threads now, not after 10 seconds. Threads at work end when they are done and idle."""
    _pool.trim()


async def run_in_thread(
    fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Run a sync function in a thread with a copy of the caller's context variables.

    Cancelling the await drops the result; the thread itself cannot be stopped and runs to its end. What it waits for
    through `run_sync` is cancelled.
    """
    return await start_in_thread(fn, args, kwargs)


def start_in_thread(
    fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> "asyncio.Future[Any]":
    """As `run_in_thread`, begun at once. An exception's traceback shows nothing of this module."""
    loop = asyncio.get_running_loop()
    context = contextvars.copy_context()
    waiter = Waiter()
    context.run(_waiter.set, waiter)
    awaited: asyncio.Future[Any] = loop.create_future()

    def ended(awaited: "asyncio.Future[Any]") -> None:
        if awaited.cancelled():
            waiter.leave()

    awaited.add_done_callback(ended)
    _pool.submit(functools.partial(_work, loop, awaited, functools.partial(context.run, fn, *args, **(kwargs or {}))))
    return awaited


def _work(
    loop: asyncio.AbstractEventLoop, awaited: "asyncio.Future[Any]", call: Callable[[], object]
) -> Callable[[], object]:
    result: object = None
    error: BaseException | None = None
    try:
        if awaited.cancelled():
            return _nothing
        try:
            result = call()
        except StopIteration as stop:  # a future cannot carry it
            error = _replaced(stop)
        except BaseException as raised:  # noqa: BLE001  it goes to whoever awaits, whatever it is
            error = raised
            if raised.__traceback__ is not None:
                raised.__traceback__ = raised.__traceback__.tb_next
        return functools.partial(_tell, loop, awaited, result, error)
    finally:
        # The error knows this frame, by that of the function: both would wait for the garbage collector.
        del awaited, result, error


def _tell(
    loop: asyncio.AbstractEventLoop, awaited: "asyncio.Future[Any]", result: object, error: BaseException | None
) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits
        loop.call_soon_threadsafe(_settle, awaited, result, error)


def _settle(awaited: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if awaited.done():  # cancelled
        return
    if error is None:
        awaited.set_result(result)
    else:
        awaited.set_exception(error)


def _nothing() -> None:
    """Nobody waits."""


def pump(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], take: Callable[[Any], None]) -> None:
    """In a thread: give each item of a generator to `take`, until nobody waits any more; then close the generator."""
    waiter = current_waiter()
    generator = fn(*args, **kwargs)
    try:
        for item in generator:
            take(item)
            if waiter is not None and waiter.gone:
                break
    finally:
        generator.close()


def _replaced(error: StopIteration) -> RuntimeError:
    replacement = RuntimeError("the function raised StopIteration")
    replacement.__cause__ = error
    return replacement
