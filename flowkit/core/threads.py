"""Threads for sync functions: a pool that grows under nesting, so a sync flow that waits for another never starves it.

    result = await run_in_thread(fn, args, kwargs)
"""

import asyncio
import contextvars
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

__all__ = ["run_in_thread"]

_IDLE_SECONDS = 10.0


class _Pool:
    """Idle threads are reused, last used first; when all are busy a new one starts. Threads end after 10 idle seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Callable[[], None]]] = []

    def submit(self, work: Callable[[], None]) -> None:
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            # Daemon: a sync function that never returns must not keep the process alive.
            threading.Thread(target=self._serve, args=(inbox,), name="flowkit-sync", daemon=True).start()
        inbox.put(work)

    def _serve(self, inbox: "queue.SimpleQueue[Callable[[], None]]") -> None:
        while True:
            try:
                work = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue  # work was handed over in this very moment
            work()
            del work
            with self._lock:
                self._idle.append(inbox)


_pool = _Pool()


def _forked() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


async def run_in_thread(fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
    """Run a sync function in a thread with a copy of the caller's context variables.

    Cancelling the await drops the result; the thread itself cannot be stopped and runs to its end.
    """
    context = contextvars.copy_context()
    future: Future[Any] = Future()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = context.run(fn, *args, **(kwargs or {}))
        except BaseException as error:
            if isinstance(error, StopIteration):  # a future cannot carry it
                error = RuntimeError("the function raised StopIteration")
            future.set_exception(error)
        else:
            future.set_result(result)

    _pool.submit(work)
    return await asyncio.wrap_future(future)
