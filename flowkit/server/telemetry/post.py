"""One telemetry server: posts bodies to it, and knows when to leave it alone.

receiver = Receiver("http://localhost:4033", keep=False)
receiver.post(b'{"traceId": …}')
if receiver.lost: ...                       # nobody is there
"""

import logging
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

__all__ = ["Receiver"]

_log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 2.0
_REST_SECONDS = 5.0


class Receiver:
    """Posts in one thread. A server that fails rests for five seconds; spans of that time do not reach it."""

    def __init__(self, url: str, *, keep: bool) -> None:
        self.url = url
        self.keep = keep
        self.lost = False
        """Nobody answers, and it is not to be kept."""
        self._rests_until = 0.0
        self._connection: HTTPConnection | None = None

    def revive(self) -> None:
        """A tool has said that it is there."""
        self.lost, self._rests_until = False, 0.0

    def close(self) -> None:
        """Close the connection; the next post opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def post(self, body: bytes) -> None:
        """Send one TraceData. Whatever happens is not raised."""
        if self.lost or time.monotonic() < self._rests_until:
            return
        for attempt in (1, 2):
            fresh = self._connection is None
            try:
                self._send(body)
                return
            except (OSError, HTTPException, ValueError) as error:
                self.close()
                if not fresh and attempt == 1:  # a kept connection that the server has closed
                    continue
                self.lost = not self.keep
                self._rests_until = time.monotonic() + _REST_SECONDS
                _log.debug("%s does not take spans: %s", self.url, error)
                return

    def _send(self, body: bytes) -> None:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request("POST", f"{urlsplit(self.url).path}/api/traces", body, _HEADERS)
        response = self._connection.getresponse()
        response.read()
        if response.status >= 400:
            _log.debug("%s answered %d", self.url, response.status)

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self.url)
        # http.client asks no proxy: these servers are on this machine.
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        return kind(parts.hostname or "localhost", parts.port, timeout=_TIMEOUT_SECONDS)


_HEADERS = {"Content-Type": "application/json"}
