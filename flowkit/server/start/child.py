"""The app's process, in the hands of its guardian.

child = await Child.start(["python", "app.py"], cwd=folder, env=env, on_error_output=tee)
code = await child.exited()                  # negative: a signal
await child.stop()                           # nothing of it is left
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flowkit.errors import ConfigError

__all__ = ["Child"]

_GUARDIAN = Path(__file__).with_name("guardian.py")
GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL. With it, Ctrl-C ends everything in less than three seconds."""
_REST_SECONDS = 0.2  # for output that is still in the pipe when all that could write is gone
_GUARDIAN_SECONDS = 1.5
_TAIL_BYTES = 65_536


class Child:
    """One run of a command. It stands in a process group and a session of its own."""

    pid: int | None = None
    """Of the command itself; None on Windows, where its guardian does not tell."""

    def __init__(self, guardian: asyncio.subprocess.Process, on_error_output: Callable[[bytes], None]) -> None:
        self._guardian = guardian
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_error_output = on_error_output
        self._tail = bytearray()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        on_error_output: Callable[[bytes], None],
    ) -> "Child":
        """Start a command. Its stdout is ours; what it writes to stderr comes to `on_error_output`.

        Raises:
            ConfigError: there is no such program.
        """
        reading, writing = (-1, -1) if sys.platform == "win32" else os.pipe()
        arguments = [sys.executable, "-I", "-S", str(_GUARDIAN), str(writing), str(GRACE_SECONDS), *command]
        pipe = asyncio.subprocess.PIPE
        more: dict[str, Any] = {}
        if sys.platform != "win32":
            more = {"pass_fds": (writing,), "start_new_session": True}
        try:
            guardian = await asyncio.create_subprocess_exec(
                *arguments, stdin=pipe, stderr=pipe, cwd=cwd, env=dict(env), **more
            )
        finally:
            if writing >= 0:
                os.close(writing)
        child = cls(guardian, on_error_output)
        child._tasks = [asyncio.create_task(child._tee()), asyncio.create_task(child._listen(reading))]
        try:
            await child._started
        except ConfigError:
            await child.stop()
            raise
        return child

    @property
    def error_output(self) -> str:
        """The last of what it wrote to stderr."""
        return self._tail.decode("utf-8", "replace")

    def owns(self, pid: int) -> bool:
        """True for the command's process and for those that it has started."""
        if sys.platform == "win32":
            return True
        try:
            return os.getsid(pid) == self._guardian.pid
        except (ProcessLookupError, PermissionError):
            return False

    async def exited(self) -> int:
        """The exit code of the command, negative when a signal ended it. What it has started may go on."""
        return await asyncio.shield(self._code)

    def hurry(self) -> None:
        """Do not wait any longer for an orderly end."""
        self._tell(b"k")

    async def stop(self) -> None:
        """End it, and all that it has started; at most a little more than two seconds."""
        self._tell(b"t")
        try:
            async with asyncio.timeout(GRACE_SECONDS + _GUARDIAN_SECONDS):
                await self._guardian.wait()
        except TimeoutError:
            self._end_by_force()
            await self._guardian.wait()
        _, waiting = await asyncio.wait(self._tasks, timeout=_REST_SECONDS)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self._code.done():
            self._code.set_result(-signal.SIGKILL)
        if self._guardian.stdin is not None:
            self._guardian.stdin.close()

    def _tell(self, word: bytes) -> None:
        if self._guardian.stdin is not None and not self._guardian.stdin.is_closing():
            self._guardian.stdin.write(word)

    def _end_by_force(self) -> None:
        for group in (self.pid, self._guardian.pid):
            if group is not None and sys.platform != "win32":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._guardian.kill()

    async def _tee(self) -> None:
        assert self._guardian.stderr is not None
        while data := await self._guardian.stderr.read(_TAIL_BYTES):
            self._tail += data
            del self._tail[:-_TAIL_BYTES]
            self._on_error_output(data)

    async def _listen(self, reading: int) -> None:
        """What the guardian reports; when it ends without a word it was killed itself."""
        if reading < 0:
            self._started.set_result(None)
            self._code.set_result(await self._guardian.wait())
            return
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", buffering=0)
        )
        try:
            while line := await reader.readline():
                self._take(json.loads(line))
        finally:
            transport.close()
        if not self._started.done():
            self._started.set_exception(ConfigError("the guardian process did not start"))
        if not self._code.done():
            self._end_by_force()
            self._code.set_result(-signal.SIGKILL)

    def _take(self, told: dict[str, Any]) -> None:
        if "failed" in told:
            error = ConfigError(f"the command cannot be started: {told['failed']}")
            self._started.set_exception(error)
            self._code.set_result(127)
        elif "pid" in told:
            self.pid = told["pid"]
            self._started.set_result(None)
        elif not self._code.done():
            self._code.set_result(told["exit"])
