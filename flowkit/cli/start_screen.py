"""What `flowkit start` shows: one line for each thing that happens, and the address once.

screen = Screen(url, "app.py")
supervisor.subscribe(screen.show)
screen.tee(b"...")                       # what the app writes to stderr, as it is
"""

import asyncio
import logging
import sys
from collections.abc import Callable

from flowkit.cli.lines import Style, paint, say
from flowkit.server.start.supervise import Status

__all__ = ["Screen"]

_PATIENCE_SECONDS = 3.0  # after which the address is shown, whether the app is ready or not
_NAMED = 2  # changed files that are named

Mark = tuple[str, Style]
_GOOD: Mark = ("✓", "good")
_BAD: Mark = ("✗", "bad")
_AGAIN: Mark = ("↻", "accent")
_NOTE: Mark = ("!", "warn")
_WAIT: Mark = ("–", "dim")


class Screen(logging.Handler):
    """Everything goes to stderr. As a logging handler it shows warnings in the same form.

    Args:
        url: The address, with the token if there is one.
        open_browser: Called with the address once, when it is shown.
    """

    def __init__(self, url: str, app: str, *, open_browser: Callable[[str], object] = lambda url: None) -> None:
        super().__init__(logging.WARNING)
        self._url = url
        self._app = app
        self._open_browser = open_browser
        self._answers = False
        self._shown = False
        self._line_is_open = False
        self._last: Status | None = None

    def show(self, status: Status) -> None:
        """Show a new status, as far as it is news."""
        before, self._last = self._last, status
        if before is not None and before.state == status.state and before.silent == status.silent:
            return
        match status.state:
            case "starting" if status.silent:
                self._line(_NOTE, "no flows yet: the program runs, but has made no Flowkit in dev mode")
            case "starting" if status.changed:
                self._line(_AGAIN, _changed(status.changed))
            case "starting" if status.restarts:
                self._line(_AGAIN, "starting again")
            case "running":
                took = "" if status.ready_seconds is None else f" ready in {_seconds(status.ready_seconds)}"
                self._line(_GOOD, f"{self._app}{took}" if took else f"{self._app} is there again")
            case "failed":
                self._failed(status)
            case "ended":
                self._line(_WAIT, f"{self._app} has ended; waiting for a change")
        self._announce_if_due()

    def ready(self) -> None:
        """The address answers. It is shown with the app's first news, or when that takes too long."""
        self._answers = True
        self._announce_if_due()
        asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._announce)

    def tee(self, data: bytes) -> None:
        """Pass on what the app writes."""
        stream = sys.stderr
        if stream is None:
            return
        try:
            stream.buffer.write(data)
            stream.flush()
        except (OSError, ValueError):
            return
        self._line_is_open = not data.endswith(b"\n")

    def note(self, text: str) -> None:
        self._line(_NOTE, text)

    def emit(self, record: logging.LogRecord) -> None:
        self._line(_NOTE, record.getMessage())
        if record.exc_info:
            say(logging.Formatter().formatException(record.exc_info))

    def _failed(self, status: Status) -> None:
        error = status.error
        what = "it did not start"
        if error is not None:
            what = f"failed at {error.place}" if error.place else error.message
        then = "waiting for a change"
        if status.retry_seconds is not None:
            then = f"starting again in {_seconds(status.retry_seconds)}"
        self._line(_BAD, f"{what}; {then}")

    def _announce_if_due(self) -> None:
        if self._last is not None and self._last.state in ("running", "failed", "ended"):
            self._announce()

    def _announce(self) -> None:
        if self._shown or not self._answers:
            return
        self._shown = True
        if self._line_is_open:
            say("")
            self._line_is_open = False
        say(f"  {paint(self._url, 'strong', sys.stderr)}   {paint('Ctrl-C ends it', 'dim', sys.stderr)}")
        self._open_browser(self._url)

    def _line(self, mark: Mark, text: str) -> None:
        if self._line_is_open:
            say("")
            self._line_is_open = False
        say(f"{paint(mark[0], mark[1], sys.stderr)} {text}")


def _changed(files: tuple[str, ...]) -> str:
    named = ", ".join(files[:_NAMED])
    more = len(files) - _NAMED
    return f"{named} and {more} more changed" if more > 0 else f"{named} changed"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 or seconds == 0.5 else f"{seconds:.2f} s"
