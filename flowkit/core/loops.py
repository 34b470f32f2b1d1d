"""Event loops: one private loop thread for sync callers, and work on the loops of other threads.

run_sync(lambda: flow("soup"))         # from a script, a notebook, another thread, a sync flow
run = run_on(loop, lambda: flow("soup"))
"""

import asyncio
import concurrent.futures
import contextvars
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakSet

from flowkit.core.threads import current_waiter
from flowkit.errors import StateError

__all__ = ["LoopRun", "is_held_up", "is_private", "private_loop", "release_loop", "run_on", "run_sync"]

T = TypeVar("T")

# A wait without end cannot be interrupted by Ctrl-C on Windows.
_PATIENCE_SECONDS = 0.2 if sys.platform == "win32" else None
_JOIN_SECONDS = 1.0


class LoopRun(Future[T]):
    """A coroutine on the loop of another thread. `cancel` cancels it there; it is done when the coroutine is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._task: asyncio.Task[T] | None = None

    def cancel(self) -> bool:
        if self.done():
            return False
        try:
            self._loop.call_soon_threadsafe(self._cancel)
        except RuntimeError:  # the loop is closed, so nothing runs any more
            self._end_cancelled()
        return True

    def begin(self, start: Callable[[], Coroutine[Any, Any, T]]) -> None:
        """Start the coroutine, with a copy of this thread's context variables.

        Raises:
            StateError: the loop is closed.
        """
        try:
            self._loop.call_soon_threadsafe(self._start, start, contextvars.copy_context())
        except RuntimeError as error:
            raise StateError("the event loop is closed", hint="start the app again") from error

    def _start(self, start: Callable[[], Coroutine[Any, Any, T]], context: contextvars.Context) -> None:
        if not self.done():
            self._task = self._loop.create_task(start(), context=context)
            self._task.add_done_callback(self._finish)

    def _cancel(self) -> None:
        if self._task is None:
            self._end_cancelled()
        else:
            self._task.cancel()

    def _finish(self, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            self._end_cancelled()
        elif (error := task.exception()) is not None:
            self.set_exception(error)
        else:
            self.set_result(task.result())

    def _end_cancelled(self) -> None:
        if super().cancel():
            self.set_running_or_notify_cancel()  # without this, `concurrent.futures.wait` never hears of it


def run_on(loop: asyncio.AbstractEventLoop, start: Callable[[], Coroutine[Any, Any, T]]) -> LoopRun[T]:
    """Start a coroutine on a loop of another thread, with a copy of this thread's context variables.

    Raises:
        StateError: the loop is closed.
    """
    run: LoopRun[T] = LoopRun(loop)
    run.begin(start)
    return run


class _Private:
    """The loop that serves sync callers. Its daemon thread starts at the first use, and ends with its users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: WeakSet[object] = WeakSet()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None
        self.running = 0
        self.ended: threading.Thread | None = None

    def get(self, user: object) -> asyncio.AbstractEventLoop:
        with self.lock:
            self.users.add(user)
            return self._started()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            started = threading.Event()
            self.loop.call_soon(started.set)
            self.thread = threading.Thread(target=_serve, args=(self.loop,), name="flowkit-loop", daemon=True)
            self.thread.start()
            started.wait()
        return self.loop

    def enter(self, user: object) -> asyncio.AbstractEventLoop:
        """The loop, which stays until `leave`."""
        with self.lock:
            self.users.add(user)
            self.running += 1
            return self._started()

    def leave(self) -> None:
        """A run has ended, or its caller does not wait any longer."""
        with self.lock:
            self.running -= 1
            self._stop_if_idle()
        self.join()

    def release(self, user: object) -> None:
        with self.lock:
            self.users.discard(user)
            self._stop_if_idle()
        self.join()

    def _stop_if_idle(self) -> None:
        if self.loop is not None and not self.running and not self.users:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.ended = self.thread
            self.loop = self.thread = None

    def join(self) -> None:
        """Wait for a thread that has been told to end."""
        ended = self.ended
        if ended is not None and ended is not threading.current_thread():
            ended.join(_JOIN_SECONDS)
            self.ended = None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            continue  # raised by a run: its caller gets it
        break
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    loop.close()


_private = _Private()


def _forked() -> None:
    global _private
    _private = _Private()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def private_loop(user: object) -> asyncio.AbstractEventLoop:
    """The loop that serves sync callers; `user` (an app's runtime) keeps it until `release_loop`."""
    return _private.get(user)


def is_private(loop: asyncio.AbstractEventLoop) -> bool:
    return loop is _private.loop


def release_loop(user: object) -> None:
    """`user` does without the private loop now; with its last user gone and nothing running, its thread ends."""
    _private.release(user)


def is_held_up(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether its thread waits in `run_sync`, so that nothing runs on it until that is done."""
    return loop in _held_up


_held_up: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


@contextmanager
def _holding_up() -> Iterator[None]:
    """The loop that this thread runs, if it runs one, does not go on in this block."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        yield
        return
    _held_up.add(loop)
    try:
        yield
    finally:
        _held_up.discard(loop)


def run_sync(start: Callable[[], Coroutine[Any, Any, T]], *, user: object) -> T:
    """Run a coroutine on the private loop and wait for it.

    Works in scripts, notebooks, threads, sync flows, and under a running loop of the caller (blocked meanwhile). Ctrl-C
    cancels the coroutine and waits for its `finally` blocks; a second Ctrl-C does not wait.

    Raises:
        StateError: called by code that runs on the private loop itself; it would wait for itself.
        asyncio.CancelledError: the run was cancelled, or nobody waits any more for the sync function that calls this.
    """
    if threading.current_thread() is _private.thread:
        raise StateError("run_sync was called on flowkit's own loop", hint="await the action instead")
    waiter = current_waiter()
    if waiter is not None and waiter.gone:
        raise asyncio.CancelledError
    run: LoopRun[T] = LoopRun(_private.enter(user))
    try:
        try:
            run.begin(start)
            if waiter is not None and not waiter.on_leave(run.cancel):
                run.cancel()
            with _holding_up():
                while not run.done():
                    concurrent.futures.wait([run], timeout=_PATIENCE_SECONDS)
            return run.result()
        finally:
            if run.cancel():  # it is not done: Ctrl-C, at any moment from the start on
                concurrent.futures.wait([run])
    except concurrent.futures.CancelledError:
        if run.cancelled():
            raise asyncio.CancelledError from None
        raise
    finally:
        if waiter is not None:
            waiter.forget(run.cancel)
        _private.leave()
