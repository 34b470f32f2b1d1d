"""The writer's lock of a folder: one process writes, and a second one is told who does.

lock = WriterLock(folder); lock.take("menu"); …; lock.release()
"""

import os
import sys
from pathlib import Path

from flowkit.errors import StateError

__all__ = ["WriterLock"]


class WriterLock:
    """A locked file, which the system unlocks when its process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "flowkit.lock"
        self._file: int | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def take(self, index: str) -> None:
        """Raises StateError when another process has it, and OSError when the file cannot be written."""
        if self._file is not None:
            return
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(file)
        except OSError:
            holder = os.pread(file, 20, 1).decode(errors="replace").strip() if hasattr(os, "pread") else ""
            os.close(file)
            who = f"process {holder}" if holder else "another process"
            raise StateError(
                f"chroma could not write to index {index!r}: {who} is writing to the folder {str(self._folder)!r}",
                hint="close the store or stop that process, or let both use a server: chroma run --path …",
            ) from None
        try:
            os.ftruncate(file, 0)
            os.write(file, f"#{os.getpid()}\n".encode())
        except OSError:  # the disk is full
            os.close(file)
            raise
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _lock(file: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
