"""Source files that change, come and go.

    before = scan([root], SUFFIXES)
    async for paths in changes(before, [root], SUFFIXES): ...

Hints come from the system's file events; what has changed is found by looking, so that nothing is missed between two
events, and nothing is reported that did not change. Only folders that are looked at are watched: a virtual environment
or node_modules would take tens of thousands of watches.
"""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from flowkit.config import watches_by_polling

__all__ = ["SUFFIXES", "Seen", "changes", "scan"]

_log = logging.getLogger("flowkit.start")

SUFFIXES = frozenset({".prompt", ".py", ".yaml", ".yml"})
_NAMES = frozenset({"pyproject.toml"})
_IGNORED = frozenset({"__pycache__", "node_modules", "site-packages"})
_QUIET_MS, _PATIENCE_MS = 60, 400  # editors write several times, a checkout writes many files
_POLL_SECONDS = 1.0

Seen = tuple[dict[str, tuple[int, int, int]], set[str]]


def scan(folders: Iterable[Path], suffixes: Collection[str]) -> Seen:
    """Every source file with time, size and inode; and the folders that were looked at.

    Hidden folders (.git, .venv, .flowkit, .genkit), virtual environments of any name and caches are left out.
    """
    files: dict[str, tuple[int, int, int]] = {}
    looked: set[str] = set()
    waiting = [str(folder) for folder in folders]
    while waiting:
        folder = waiting.pop()
        if folder in looked:
            continue
        try:
            entries = list(os.scandir(folder))
        except OSError:  # gone meanwhile, or not ours to read
            continue
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        looked.add(folder)
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _IGNORED:
                        waiting.append(entry.path)
                elif _counts(entry.name, suffixes):
                    about = entry.stat()
                    files[entry.path] = (about.st_mtime_ns, about.st_size, about.st_ino)
            except OSError:
                continue
    return files, looked


async def changes(
    before: Seen, folders: Collection[Path], suffixes: Collection[str], *, tell: Callable[[str], object] = _log.warning
) -> AsyncIterator[frozenset[Path]]:
    """What has changed since `before`, then since the last time, as soon as it is quiet again for a moment.

    It never ends by itself.
    """
    known, looked = before
    while True:
        events = _Events(looked, suffixes)
        try:
            why = await events.open()
            if why is not None:
                tell(f"files are looked at once a second, since the system does not tell when they change: {why}")
            while True:
                # After the watch has begun: what happened meanwhile is found, too.
                now, seen = await asyncio.to_thread(scan, folders, suffixes)
                changed = {path for path in known.keys() | now.keys() if known.get(path) != now.get(path)}
                known = now
                if changed:
                    yield frozenset(map(Path, changed))
                if seen != looked and why is None:
                    looked = seen
                    break
                await events.wait()
        finally:
            events.close()


class _Events:
    """The system's file events of some folders; a clock where it has none."""

    def __init__(self, folders: Collection[str], suffixes: Collection[str]) -> None:
        self._folders = folders
        self._suffixes = suffixes
        self._notify: Any = None
        self._stop = threading.Event()

    async def open(self) -> str | None:
        """Begin; gives the reason when it cannot."""
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        for _ in range(3):
            try:
                self._notify = await asyncio.to_thread(
                    lambda: RustNotify(
                        [folder for folder in self._folders if Path(folder).is_dir()],
                        debug=False,
                        force_polling=watches_by_polling(),
                        poll_delay_ms=300,
                        recursive=False,
                        ignore_permission_denied=True,
                    )
                )
            except FileNotFoundError:  # one of them went this moment
                continue
            except (OSError, WatchfilesRustInternalError) as error:
                return str(error)
            return None
        return "the folders change too quickly"

    async def wait(self) -> None:
        """Return when something may have changed."""
        while self._notify is not None:
            seen = await asyncio.to_thread(self._notify.watch, _PATIENCE_MS, _QUIET_MS, 60_000, self._stop)
            if not isinstance(seen, set) or any(self._counts(path) for _, path in seen):
                return
        await asyncio.sleep(_POLL_SECONDS)

    def close(self) -> None:
        self._stop.set()

    def _counts(self, path: str) -> bool:
        """Folders that appear or go count, too."""
        return _counts(Path(path).name, self._suffixes) or path in self._folders or Path(path).is_dir()


def _counts(name: str, suffixes: Collection[str]) -> bool:
    return name in _NAMES or (name.endswith(tuple(suffixes)) and not name.startswith("."))
