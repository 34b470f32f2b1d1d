"""The process that reads and cuts documents for pages, as the dev server holds it: started when needed, one at a time.

preview = await workbench.do({"path": "/…/menu.pdf", "source": "menu.pdf", "splitter": "auto", "settings": {}})
"""

import asyncio
import contextlib
import json
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Mapping
from typing import Any

from flowkit.core.values import to_json
from flowkit.errors import BackendError
from flowkit.server.errors import told_error
from flowkit.server.preview.shapes import SECONDS

__all__ = ["Workbench"]

_IDLE_SECONDS = 120.0
_LINE_BYTES = 200_000_000


class Workbench:
    """All methods belong to the server's event loop. The process ends when it had nothing to do for two minutes."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    async def do(self, request: Mapping[str, Any]) -> Any:
        """The answer to a request of the worker.

        Raises:
            FlowkitError: what the worker says is wrong, or that it took too long.
        """
        async with self._turn:
            if self._idle is not None:
                self._idle.cancel()
            process = await self._running()
            began = time.monotonic()
            line = b""
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS + 2):
                        line = await _exchange(process, to_json(request) + b"\n")
            finally:
                if not line:
                    await self.aclose()  # it has ended, or what it is doing is wanted no longer
            if not line:
                late = time.monotonic() - began > SECONDS - 1
                raise BackendError(
                    f"this was not done within {SECONDS} seconds" if late else "this took too much memory",
                    hint="preview a shorter text, or a simpler regular expression",
                    status="DEADLINE_EXCEEDED" if late else "RESOURCE_EXHAUSTED",
                )
            self._idle = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._kill)
        answer = json.loads(line)
        if "error" in answer:
            raise told_error(answer["error"])
        return answer

    async def aclose(self) -> None:
        """End the process."""
        process = self._process
        self._kill()
        if process is not None:
            await process.wait()

    def _kill(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            self._process = None

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            # -P: the folder where the server was started is not where modules come from.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "flowkit.server.preview.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_LINE_BYTES,
                start_new_session=True,  # Ctrl-C in the terminal is not for it
            )
        return self._process


async def _exchange(process: Process, line: bytes) -> bytes:
    """One line there, one back; an empty one when it has ended."""
    if process.stdin is None or process.stdout is None:
        return b""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(line)
        await process.stdin.drain()
    return await process.stdout.readline()
