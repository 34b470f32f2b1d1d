"""A web server for tests: what each path answers is a function, and what was asked is remembered.

with Pages({"/": text("Hello")}) as pages: pages.url("/")
"""

import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

__all__ = ["Answer", "Asked", "Pages", "moved", "page"]

Answer = Callable[[BaseHTTPRequestHandler], None]


class Asked(NamedTuple):
    path: str
    headers: dict[str, str]
    address: str
    """Of ours, that the connection was made to."""


class Pages:
    """Listens on all loopback addresses."""

    def __init__(self, answers: Mapping[str, Answer], *, tls: ssl.SSLContext | None = None) -> None:
        self.answers = dict(answers)
        self.asked: list[Asked] = []
        self._scheme = "https" if tls else "http"
        pages = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                name = str(self.connection.getsockname()[0])
                pages.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, name))
                answer = pages.answers.get(self.path.partition("?")[0], page("Not here", status=404))
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError):  # the client has seen enough
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"{self._scheme}://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def page(
    body: str | bytes,
    kind: str | None = "text/plain; charset=utf-8",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An answer of that body."""
    data = body.encode() if isinstance(body, str) else body

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        if kind is not None:
            request.send_header("Content-Type", kind)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)

    return answer


def moved(where: str, status: int = 302) -> Answer:
    """A redirect."""
    return page("", status=status, headers={"Location": where})
