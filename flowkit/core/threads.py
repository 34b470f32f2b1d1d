"""Threads for sync functions: a pool that grows under nesting, so a sync flow that waits for another never starves it.

result = await run_in_thread(fn, args, kwargs)
"""

import asyncio
import contextvars
import functools
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
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
    context = contextvars.copy_context()
    waiter = Waiter()
    context.run(_waiter.set, waiter)
    future: Future[Any] = Future()

    def work() -> Callable[[], object]:
        if not future.set_running_or_notify_cancel():
            return lambda: None
        try:
            result = context.run(fn, *args, **(kwargs or {}))
        except StopIteration as error:  # a future cannot carry it
            return functools.partial(future.set_exception, _replaced(error))
        except BaseException as error:  # noqa: BLE001  it goes to whoever awaits, whatever it is
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            return functools.partial(future.set_exception, error)
        return functools.partial(future.set_result, result)

    def ended(awaited: "asyncio.Future[Any]") -> None:
        if awaited.cancelled():
            waiter.leave()

    _pool.submit(work)
    awaited = asyncio.wrap_future(future)
    awaited.add_done_callback(ended)
    return awaited


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
