"""The main program of a process that is served: what its end means, and how SIGTERM ends it.

    program = Program(host)
    program.begin()             # in the constructor of the first Flowkit

A script that has run to its end stays for the developer's tools, until Ctrl-C, SIGTERM or a tool's word. It does not
stay when it crashed, when it is interactive, when it is a worker of a server, or when it took Ctrl-C into its own
hands, as uvicorn does: such a program is over when it says so.

Staying happens in the main thread, before Python begins to shut down. A thread that merely outlives the main program
would find that thread pools take no work any more, and with them `asyncio.to_thread` and name look-ups of sockets.
"""

import asyncio
import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from flowkit.server.reflection.role import is_worker

if TYPE_CHECKING:
    from flowkit.server.reflection.host import Host

__all__ = ["Program"]

# A wait without end cannot be interrupted by Ctrl-C on Windows.
_PATIENCE_SECONDS = 0.2 if sys.platform == "win32" else None
_PLAIN = (signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, None)


class Program:
    """One per host."""

    def __init__(self, host: "Host") -> None:
        self._host = host
        self._last_error = getattr(sys, "last_value", None)
        self._stays_now = False
        self._ends = False
        self._handles_interrupts = False
        self._runner: asyncio.Runner | None = None
        self._end_main: Callable[[], None] | None = None

    def begin(self) -> None:
        """Watch the program's end from now on."""
        global _current
        _current = self
        _watch_the_end()
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGTERM)
            if before is not None and before is not signal.SIG_IGN:
                signal.signal(signal.SIGTERM, _Terminate(before))

    def take_over(self, end: Callable[[], None]) -> None:
        """`end` stops the main program from now on; it is called in any thread, or by a signal."""
        self._end_main = end

    def finish(self) -> None:
        """The main program was stopped; what is left of it does not stay."""
        self._end_main = None
        self._ends = True

    def end(self) -> None:
        """End the process, as SIGTERM does."""
        self._ends = True
        if self._end_main is not None:
            self._end_main()
        elif self._stays_now:
            self._host.request_stop(close_apps=True)
        elif sys.platform == "win32":  # os.kill would end it without any cleaning up
            import _thread

            _thread.interrupt_main()
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    def terminate(self, before: Any, number: int, frame: FrameType | None) -> None:
        """On SIGTERM. `before` is who handled it before us."""
        self._ends = True
        self._host.withdraw()
        if self._end_main is not None or self._stays_now:
            self.end()
        elif callable(before):
            self._host.request_stop()
            before(number, frame)
        else:
            # Never wait in here: the app's loop may be what was interrupted. The last signal comes from the host.
            signal.signal(number, signal.SIG_DFL)
            self._host.request_stop(close_apps=True, then=lambda: os.kill(os.getpid(), number))

    def goes_on(self) -> bool:
        """Look at the program; False when it has ended and does not stay. Called now and then by the host."""
        handler = signal.getsignal(signal.SIGINT)
        if handler not in _PLAIN:
            owner = getattr(handler.func, "__self__", None) if isinstance(handler, functools.partial) else None
            if isinstance(owner, asyncio.Runner):  # asyncio.run, which only cancels its main task
                self._runner = owner
            else:
                self._handles_interrupts = True
        return threading.main_thread().is_alive() or self._stays()

    def main_ended(self) -> None:
        """In the main thread, after the program's last line."""
        if self._stays():
            self._stays_now = True
            self.say()
            with contextlib.suppress(KeyboardInterrupt):
                while not self._host.ended.wait(_PATIENCE_SECONDS):
                    continue
        self._host.request_stop(close_apps=True)
        try:
            self._host.join()
        except KeyboardInterrupt:  # a second Ctrl-C does not wait
            os._exit(128 + signal.SIGINT)

    def say(self) -> None:
        """Tell a person at the terminal why the prompt does not come back."""
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("flowkit: the program has ended and stays for developer tools; Ctrl-C ends it\n")

    def _stays(self) -> bool:
        crashed = getattr(sys, "last_value", None) is not self._last_error
        interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
        # Ctrl-C that the program has swallowed, when asyncio got it.
        interrupted = getattr(self._runner, "_interrupt_count", 0) > 0
        return not (crashed or interactive or interrupted or self._handles_interrupts or self._ends or is_worker())


class _Terminate:
    """A handler of SIGTERM. It knows who was there before it, since servers put handlers on top and take them off."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        program = _living()
        if program is not None:
            program.terminate(self._before, number, frame)
        elif callable(self._before):
            self._before(number, frame)
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


_current: Program | None = None
_watched = False


def _living() -> Program | None:
    """The program of this process, while its host serves; a forked child has none."""
    program = _current
    if program is None or program._host.pid != os.getpid() or program._host.ended.is_set():
        return None
    return program


def _watch_the_end() -> None:
    """Have `_at_end` called when the main program is over, before threads are joined and pools shut."""
    global _watched
    if _watched:
        return
    _watched = True
    # These register ends of their own when they are imported, and the last one registered is called first. Later on
    # they could not be imported at all.
    import concurrent.futures.process
    import concurrent.futures.thread  # noqa: F401

    register = getattr(threading, "_register_atexit", None)
    if register is not None:  # without it the host's thread alone keeps the process
        register(_at_end)


def _at_end() -> None:
    program = _living()
    if program is not None:
        program.main_ended()
