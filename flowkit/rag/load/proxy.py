"""A proxy on this machine that a browser is told to use: it connects to allowed addresses only, and counts.

async with Proxy(limits) as proxy: proxy.url, proxy.refused, proxy.size_bytes

The browser looks nothing up by itself. Whatever a page asks for (frames, scripts, redirects, WebSockets) comes by here,
is looked up once, checked, and connected to what was checked. What is encrypted stays so.
"""

import asyncio
import contextlib
import logging
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from flowkit.errors import FlowkitError, InvalidInputError
from flowkit.rag.load.addresses import allowed_addresses
from flowkit.rag.load.fetch import Limits

__all__ = ["Proxy"]

_log = logging.getLogger("flowkit.load")

_HEAD_BYTES = 65_536
_PIECE_BYTES = 65_536
_OURS = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:")


class Proxy:
    """Serves as long as it is open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()
        self.url = ""
        self.refused: list[str] = []
        """Which hosts were not connected to, as they are in no public network."""
        self.size_bytes = 0
        """What came from all hosts since `reset`."""
        self.full = asyncio.Event()
        """Set when a page has taken all that it may."""

    def reset(self) -> None:
        """Before the next page."""
        self.refused.clear()
        self.size_bytes = 0
        self.full.clear()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            await self._one(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # one of the two has left, or we close
        except Exception:  # noqa: BLE001  one connection that fails is for the browser to tell
            _log.debug("a connection of the browser failed", exc_info=True)
        finally:
            self._running.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        try:
            method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            tunnel = method == "CONNECT"
            parts = urlsplit(f"//{target}" if tunnel else target)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            writer.write(_answer("400 Bad Request"))
            return
        if not host or (not tunnel and parts.scheme != "http"):
            writer.write(_answer("400 Bad Request"))
            return
        try:
            if self.full.is_set():
                raise OSError("the page has taken all that it may")
            far = await self._connect(host, port)
        except InvalidInputError as error:
            self.refused.append(error.message)
            writer.write(_answer("403 Forbidden"))
            return
        except (FlowkitError, OSError):
            writer.write(_answer("502 Bad Gateway"))
            return
        far_reader, far_writer = far
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = target.split("/", 3)[3] if target.count("/") > 2 else ""
                far_writer.write(_forwarded(method, f"/{path}", head))
            there = asyncio.ensure_future(_pipe(reader, far_writer))
            try:
                await self._count(far_reader, writer)
            finally:
                there.cancel()
                await asyncio.wait([there])
        finally:
            far_writer.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        addresses = await allowed_addresses(host, port, allow_private=self._limits.allow_private)
        for address in addresses[:-1]:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(address, port)
        return await asyncio.open_connection(addresses[-1], port)

    async def _count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE_BYTES):
            self.size_bytes += len(piece)
            if self.size_bytes > self._limits.max_size_bytes:
                self.full.set()
                return
            writer.write(piece)
            await writer.drain()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()


def _forwarded(method: str, path: str, head: bytes) -> bytes:
    """The request as the server wants it; one for each connection, as the next one may be for another host."""
    lines = [line for line in head.split(b"\r\n")[1:] if line and not line.lower().startswith(_OURS)]
    return b"\r\n".join((f"{method} {path} HTTP/1.1".encode(), *lines, b"Connection: close", b"", b""))


def _answer(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
