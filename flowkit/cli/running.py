"""Running an app's work in this process: one event loop, Ctrl-C and SIGTERM as cancellation, everything closed after.

outcome = run_work(ai, lambda: action.run("soup"))
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from flowkit.app import Flowkit
from flowkit.cli.failures import describe
from flowkit.cli.lines import say
from flowkit.tracing.logs import keep_logs, stop_keeping
from flowkit.tracing.otlp import start_export
from flowkit.tracing.provider import install_if_unset, remove
from flowkit.tracing.recorder import Recorder, flush_all

__all__ = ["Outcome", "run_work"]

_CLOSE_SECONDS = 5.0
_PATIENCE_SECONDS = 1.0


@dataclass(slots=True)
class Outcome:
    """What came of it: a result, an error, or that a signal stopped it."""

    result: Any = None
    error: BaseException | None = None
    stopped_by: signal.Signals | None = None
    threads_left: bool = False
    """A thread of the app still runs, and Python would wait for it."""
    kept: bool = True
    """What the run left to be traced is on disk."""

    @property
    def exit_code(self) -> int:
        """0 fine, 1 failed, 130 interrupted, 143 terminated."""
        if self.stopped_by is not None:
            return 128 + self.stopped_by
        return 1 if self.error is not None else 0


def run_work(ai: Flowkit, work: Callable[[], Coroutine[Any, Any, Any]]) -> Outcome:
    """Run `work`, then close the app; its traces are on disk when this returns.

    Spans of instrumented libraries go into the trace too, unless the user has set a tracer provider.
    The first Ctrl-C cancels the work and lets its `finally` blocks run; the second ends the process at once.
    """
    outcome = Outcome()
    sink = ai.runtime.tracing.sink
    stop_export = start_export(ai.settings.otlp, sink)
    logs = keep_logs(sink.store, sink.redactor) if isinstance(sink, Recorder) else None
    provider = install_if_unset(sink) if sink is not None else None
    runner = asyncio.Runner()
    loop = runner.get_loop()
    task = loop.create_task(_work_then_close(ai, work))
    try:
        with _signals_cancel(task, outcome):
            outcome.result = loop.run_until_complete(task)
    except asyncio.CancelledError as error:
        outcome.error = error
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told to the user by the caller
        outcome.error = error
    else:
        outcome.stopped_by = None  # it was too late to stop it
    if provider is not None:
        remove(provider)
    if stop_export is not None:
        stop_export()
    if logs is not None:
        stop_keeping(logs)
    flush_all()
    outcome.kept = not isinstance(sink, Recorder) or sink.flush()
    outcome.threads_left = outcome.stopped_by is not None and _busy_threads()
    if not outcome.threads_left:
        runner.close()
    return outcome


async def _work_then_close(ai: Flowkit, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    try:
        return await work()
    finally:
        await _close(ai)


async def _close(ai: Flowkit) -> None:
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await ai.aclose()
    except TimeoutError:
        say(f"a plugin was not closed within {_CLOSE_SECONDS:.0f} seconds", "dim")
    except Exception as error:  # noqa: BLE001 - the run itself is over
        say(f"a plugin could not be closed: {describe(error)}", "dim")


@contextmanager
def _signals_cancel(task: "asyncio.Task[Any]", outcome: Outcome) -> Iterator[None]:
    """While this is open, SIGINT and SIGTERM cancel the task."""
    loop = task.get_loop()
    patience = threading.Timer(_PATIENCE_SECONDS, say, ("still stopping; Ctrl-C again ends it at once", "dim"))
    patience.daemon = True

    def stop(number: int, frame: FrameType | None) -> None:
        if outcome.stopped_by is not None:
            os._exit(128 + number)
        outcome.stopped_by = signal.Signals(number)
        patience.start()
        loop.call_soon_threadsafe(task.cancel)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        patience.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _busy_threads() -> bool:
    """True when a thread of the user's would keep the process from ending."""
    return any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate())
